/** Collects the secrets of a command, and writes none of them to its streams. */
import type { Redacted, Redactor } from '../base/text/redactor.ts'
import { isSecretName } from '../base/text/secret-positions.ts'
import type { RunResult } from '../evaluation/evaluator/verdict.ts'
import type { Failure } from '../evaluation/finding.ts'
import { addSecretVariables } from '../evaluation/scenario/interpolation.ts'
import type { Plan } from '../evaluation/scenario/plan.ts'
import { addSecretsOf, createSecrets } from '../platform/journal/mask.ts'
import type { DriverSpec } from '../running/agent-driver/driver.ts'
import type { Context, Io, Output } from './io.ts'

const KEY_FLAGS: readonly string[] = ['--api-key', '--bot-api-key', '--key', '--token']
const KEY_VARIABLES: readonly string[] = [
  'HANDOVER_SIM_API_KEY',
  'HANDOVER_SIM_BOT_API_KEY',
  'HANDOVER_SIM_TOKEN',
  'HANDOVER_SIM_WEBHOOK_SECRET',
]
/** Also of a misspelt name; `keys.shared` and `keys.graceful` have no key. */
const KEY_SETTING = /^(?!keys\.(?:shared|graceful)=)[^=]*key[^=]*=(.*)$/is

/** The context of a command: its output shows no secret, also when it fails before it has read its arguments. */
export function contextWithSecrets(argv: readonly string[], env: Context['env'], io: Io): Context {
  const secrets = createSecrets()
  for (const [at, argument] of argv.entries()) {
    if (argument.includes('://')) secrets.addUrl(/[a-z][\w+.-]*:\/\/.*$/is.exec(argument)?.[0])
    // The values of flags for keys, and of `--set keys.NAME=VALUE`.
    const [, flag = argument, given] = /^(--[\w-]+)=(.*)$/s.exec(argument) ?? []
    const value = given ?? argv[at + 1] ?? ''
    if (KEY_FLAGS.includes(flag)) secrets.add(value)
    const [, keys] = (flag === '--set' ? KEY_SETTING.exec(value) : null) ?? []
    if (keys === undefined) continue
    // `keys.more` is a list of keys, each with the id of a bot.
    secrets.add(keys)
    for (const pair of keys.replace(/^\[|\]$/g, '').split(',')) secrets.add(pair.trim().replace(/:\d+$/, ''))
  }
  for (const name of KEY_VARIABLES) secrets.add(env[name])
  for (const [name, value] of Object.entries(env)) if (name.startsWith('HANDOVER_SIM_')) secrets.addUrl(value)
  // Inherits the rest, because reading the working directory may fail.
  const redacted: Pick<Io, 'stdout' | 'stderr' | 'ask'> = {
    stdout: redactedOutput(io.stdout, secrets),
    stderr: redactedOutput(io.stderr, secrets),
    ask: (question, signal) => io.ask(secrets.redact(question), signal),
  }
  return { argv, env, io: Object.assign(Object.create(io), redacted), unredacted: io, secrets }
}

const redactedOutput = (output: Output, secrets: Redactor): Output => ({
  write: text => output.write(secrets.redact(text)),
  isTTY: output.isTTY,
  get columns() {
    return output.columns
  },
})

/** Adds the secrets that scenarios read with `$(env.X)`, and the keys that they set. */
export function addSecretsOfPlans(plans: readonly Plan[], { env, secrets }: Context): void {
  for (const plan of plans) {
    addSecretVariables(secrets, plan.env, env, plan)
    addSecretsOf(secrets, plan.config)
  }
}

/** Adds the secrets that a driver reads with `$(env.X)`, and what it writes under the name of a secret. */
export function addSecretsOfDriver({ variables, verbs, target }: DriverSpec, { env, secrets }: Context): void {
  addSecretVariables(
    secrets,
    variables.map(({ name }) => name),
    env,
    [verbs, target],
  )
  const values = Object.entries(target?.env ?? {})
  for (const verb of Object.values(verbs)) {
    if (verb.kind !== 'http') continue
    secrets.addUrl(verb.base + verb.path)
    values.push(...Object.entries(verb.headers))
  }
  // Of `Bearer KEY` also the key alone.
  for (const [name, value] of values)
    if (isSecretName(name) && !value.includes('$(')) secrets.add(value, value.replace(/^\w+ +/, ''))
}

/** Marks scenarios whose journal lost values, because they cannot be evaluated again in every case. */
export function redactRun(result: RunResult, secrets: Redactor): Redacted<RunResult> {
  const redacted = secrets.redactDeep(result)
  if (redacted === result) return redacted
  const scenarios = result.scenarios.map((scenario, index) => {
    const shown = redacted.scenarios[index] ?? scenario
    if (shown.journal === scenario.journal) return shown
    const { outcome, failures, warnings } = scenario
    // `--strict` turns warnings into failures; the outcome is that from before.
    const isWarning = (failure: Failure) =>
      failure.kind === 'lint' || warnings.some(warning => 'failure' in warning && warning.failure === failure)
    const isStrict = outcome === 'fail' && failures.every(isWarning)
    return { ...shown, redacted: scenario.redacted ?? (isStrict ? 'pass' : outcome) }
  })
  return { ...redacted, scenarios }
}
