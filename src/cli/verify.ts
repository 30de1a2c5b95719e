/** Checks a signature and names the mistake when it is wrong (`handover-sim verify`). */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { resolveSettings } from '../config/resolve.ts'
import { defaultKnobs } from '../contract/knobs.ts'
import { type Explanation, explain } from '../signature/index.ts'
import { messageOf } from '../text/error-text.ts'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import { collect, configSources } from './shared-flags.ts'

interface VerifyFlags {
  readonly body: string
  readonly signature: string
  readonly key?: string
  readonly keyEnv?: string
  readonly candidateKeyEnv?: readonly string[]
  readonly algorithmHeader?: string
  readonly webhookUrl?: string
  readonly config?: string
  readonly showSignature?: boolean
  readonly json?: boolean
}

export function define(command: Command): void {
  command
    .requiredOption('--body <file>', 'the raw body as it arrived; - for stdin')
    .requiredOption('--signature <text>', 'the value of the Kindly-HMAC header')
    .option('--key <key>', 'the API key; other users of this machine may see it, so better:')
    .option('--key-env <name>', 'the variable with the API key (default: the key `start` would use)')
    .option(
      '--candidate-key-env <name>',
      'a variable with a key that may have been used instead; may be repeated',
      collect,
    )
    .option('--algorithm-header <text>', 'the value of the Kindly-HMAC-algorithm header')
    .option('--webhook-url <url>', 'where it was sent, to tell a signature over URL and body')
    .option('--config <file>', 'config file that has the key')
    .option('--show-signature', 'show the right signature')
    .option('--json', 'one line of JSON: { v, type, ok, mistake, also, message, fix }')
}

export async function run(context: Context, flags: VerifyFlags): Promise<number> {
  const key = await keyFor(context, flags)
  const body = await bodyFor(context, flags.body)
  const explanation = await explain(body, flags.signature, key, {
    otherKeys: otherKeys(context, flags),
    reveal: flags.showSignature === true,
    ...(flags.algorithmHeader === undefined ? {} : { algorithm: flags.algorithmHeader }),
    ...(flags.webhookUrl === undefined ? {} : { url: flags.webhookUrl }),
  })
  context.io.stdout.write(flags.json ? inJson(explanation) : inWords(explanation))
  return explanation.ok ? 0 : 1
}

async function keyFor(context: Context, { key, keyEnv, config }: VerifyFlags): Promise<string> {
  if (key !== undefined && keyEnv !== undefined) throw new UsageError('--key and --key-env: give one of them.')
  if (key === '') throw new UsageError('--key: must not be empty.')
  if (key !== undefined) return key
  if (keyEnv !== undefined) return variable(context, '--key-env', keyEnv)
  const { values, sources } = await resolveSettings(config === undefined ? {} : { config }, configSources(context))
  const from = sources['keys.handover']
  const which = from === 'default' ? "the simulator's default" : `from ${from}`
  context.io.stderr.write(`The key is ${which}; --key-env names another.\n`)
  return String(values['keys.handover'])
}

function variable({ env }: Context, flag: string, name: string): string {
  const value = env[name]
  if (value) return value
  throw new UsageError(`${flag}: the variable ${name} is ${value === '' ? 'empty' : 'not set'}.`)
}

/** Keys that may have been used by mistake, by names that may be printed. */
function otherKeys(context: Context, flags: VerifyFlags): Record<string, string> {
  const defaults = defaultKnobs()
  const variables = ['HANDOVER_SIM_API_KEY', 'HANDOVER_SIM_BOT_API_KEY'].flatMap(name => {
    const value = context.env[name]
    return value ? [[name, value]] : []
  })
  const named = (flags.candidateKeyEnv ?? []).map(name => [name, variable(context, '--candidate-key-env', name)])
  return {
    'the default handover API key of the simulator': defaults['keys.handover'],
    'the default bot API key of the simulator': defaults['keys.bot'],
    ...Object.fromEntries(variables),
    ...Object.fromEntries(named),
  }
}

async function bodyFor({ io }: Context, file: string): Promise<Uint8Array> {
  if (file === '-') return io.readStdinBytes()
  try {
    return readFileSync(resolve(io.cwd, file))
  } catch (error) {
    throw new UsageError(`--body: ${file} cannot be read: ${messageOf(error)}.`)
  }
}

const inJson = (explanation: Explanation) => `${JSON.stringify({ v: 1, type: 'verify', ...explanation })}\n`

const inWords = ({ ok, mistake, also, message, fix }: Explanation) =>
  ok ? `right: ${message}\n` : `wrong (${[mistake, ...also].join(', ')}): ${message}\n${fix}\n`
