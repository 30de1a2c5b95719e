/** Checks a signature and names the mistake when it is wrong (`handover-sim verify`). */

import { defaultKnobs } from '../platform/contract/knobs.ts'
import { explain } from '../platform/signature/index.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand, type FlagsOf, readBody } from './command.ts'
import { type Context, UsageError } from './io.ts'

const FLAGS = {
  '--body <file>': { description: 'the raw body as it arrived; - for stdin', required: true },
  '--signature <text>': { description: 'the value of the Kindly-HMAC header', required: true },
  '--key <key>': 'the API key; other users of this machine may see it, so better:',
  '--key-env <name>': 'the variable with the API key (default: the key `start` would use)',
  '--candidate-key-env <name>': {
    description: 'a variable with a key that may have been used instead; may be repeated',
    repeatable: true,
  },
  '--algorithm-header <text>': 'the value of the Kindly-HMAC-algorithm header',
  '--webhook-url <url>': 'where it was sent, to tell a signature over URL and body',
  '--config <file>': 'config file that has the key',
  '--show-signature': 'show the right signature',
  '--json': 'one line of JSON: { v, type, ok, mistake, also, message, fix }',
} as const

type VerifyFlags = FlagsOf<typeof FLAGS>

export const verifyCommand = defineCommand({
  flags: FLAGS,
  examples: {
    'verify --body body.json --signature uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q= --key examplekey':
      'is this signature right?',
  },
  async run(context, flags) {
    const { io } = context
    const key = await keyFor(context, flags)
    const body = await readBody(flags.body, io)
    // Keys that may have been used by mistake, by names that may be printed.
    const defaults = defaultKnobs()
    const otherKeys: Record<string, string> = {
      'the default handover API key of the simulator': defaults['keys.handover'],
      'the default bot API key of the simulator': defaults['keys.bot'],
    }
    for (const name of ['HANDOVER_SIM_API_KEY', 'HANDOVER_SIM_BOT_API_KEY']) {
      const value = context.env[name]
      if (value) otherKeys[name] = value
    }
    for (const name of flags.candidateKeyEnv ?? []) otherKeys[name] = variable(context, '--candidate-key-env', name)

    const explanation = await explain(body, flags.signature, key, {
      otherKeys,
      reveal: flags.showSignature === true,
      ...(flags.algorithmHeader === undefined ? {} : { algorithm: flags.algorithmHeader }),
      ...(flags.webhookUrl === undefined ? {} : { url: flags.webhookUrl }),
    })
    let text = `right: ${explanation.message}\n`
    if (!explanation.ok) {
      const mistakes = [explanation.mistake, ...explanation.also].join(', ')
      text = `wrong (${mistakes}): ${explanation.message}\n${explanation.fix}\n`
    }
    io.stdout.write(flags.json ? `${JSON.stringify({ v: 1, type: 'verify', ...explanation })}\n` : text)
    return explanation.ok ? 0 : 1
  },
})

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

function variable({ env, secrets }: Context, flag: string, name: string): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  secrets.add(value)
  if (value) return value
  throw new UsageError(`${flag}: the variable ${name} is ${value === '' ? 'empty' : 'not set'}.`)
}
