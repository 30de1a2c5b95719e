/** Defines and checks the flags of `run`, and writes the command that runs one scenario again. */
import { type Command, Option } from 'commander'
import type { SettingFlags } from '../config/settings.ts'
import type { Selection } from '../runner/schedule.ts'
import type { Plan } from '../scenario/plan.ts'
import { parseDuration } from '../text/quantities.ts'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import { addSettingFlags, collect } from './shared-flags.ts'

export interface RunFlags extends SettingFlags {
  readonly target?: string
  readonly agentDriver?: string
  readonly only?: readonly string[]
  readonly tag?: readonly string[]
  readonly shard?: string
  readonly repeat?: string
  readonly jobs?: string
  readonly strict?: boolean
  readonly report?: readonly string[]
  readonly waitForTarget?: string
  readonly dryRun?: boolean
  readonly selfTest?: boolean
  readonly allowRemote?: boolean
}

export interface RunOptions extends Selection {
  readonly jobs: number
  readonly waitMs: number
}

export function defineRun(command: Command): void {
  command
    .argument('[files...]', 'scenario files, folders or globs (default: scenarios)')
    .option('--target <url>', 'the webhook of the intermediary (default: webhook.url of the config file)')
    .option('--agent-driver <file>', 'agent driver file')
    .option('--only <name>', 'scenarios whose name contains this; may be repeated', collect)
    .option('--tag <tag>', 'scenarios with this tag; may be repeated', collect)
    .option('--shard <n/of>', 'one share of the scenarios, such as 1/4')
    .option('--repeat <times>', 'play each this often, with fresh chats (default: 1)')
    .option('--jobs <number>', 'how many are played at once (default: 4)')
    .option('--strict', 'treat warnings as failures, and inconclusive results as exit code 4')
    .option('--report <reports>', 'pretty, tap, github, json=F, junit=F, html=F, journal=F; with commas', collect)
    .option('--wait-for-target <duration>', 'how long to wait for the intermediary (default: 0s; 30s under CI)')
    .option('--dry-run', 'print what would be played')
    .option('--self-test', 'play against the built-in reference intermediary')
    .option('--allow-remote', 'the target may be on another machine')
  addSettingFlags(command)
  hide(command, '--webhook-url')
  const seed = command.options.find(one => one.long === '--seed')
  if (seed !== undefined)
    seed.description = 'same seed: same ids, names and texts (default: a fresh one, named in the report)'
}

/** Hides an alias of `--target` from the help. */
function hide(command: Command, long: string): void {
  const option = command.options.find(one => one.long === long)
  if (option instanceof Option) option.hideHelp()
}

export function parseRunFlags(flags: RunFlags, { env }: Context): RunOptions {
  return {
    only: flags.only ?? [],
    tags: flags.tag ?? [],
    shard: shardFrom(flags.shard),
    repeat: countFrom('--repeat', flags.repeat, 1),
    jobs: countFrom('--jobs', flags.jobs, 4),
    waitMs: waitFrom(flags.waitForTarget, env.CI !== undefined && env.CI !== '' && env.CI !== 'false'),
  }
}

const MOST = 100_000

function countFrom(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MOST) return count
  throw new UsageError(`${flag} must be a whole number from 1 to ${MOST}, got ${JSON.stringify(text)}.`)
}

function shardFrom(text: string | undefined): Selection['shard'] {
  if (text === undefined) return null
  const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (index >= 1 && index <= of) return { index, of }
  throw new UsageError(`--shard must be written n/of, such as 1/4, with n from 1 to of, got ${JSON.stringify(text)}.`)
}

function waitFrom(text: string | undefined, ci: boolean): number {
  if (text === undefined) return ci ? 30_000 : 0
  const ms = parseDuration(text)
  if (ms !== null) return ms
  throw new UsageError(`--wait-for-target must be a duration with a unit such as 30s, got ${JSON.stringify(text)}.`)
}

/** Throws when a flag of the user's own intermediary is given together with `--self-test`. */
export function checkSelfTest(flags: RunFlags): void {
  if (!flags.selfTest) return
  const other = flags.target !== undefined ? '--target' : flags.agentDriver !== undefined ? '--agent-driver' : null
  if (other !== null) throw new UsageError(`--self-test plays against the built-in intermediary: leave out ${other}.`)
}

export const rerunCommand =
  (flags: RunFlags) =>
  (plan: Plan, seed: number, instance = 1): string => {
    const words = [
      'npx handover-sim run',
      quoted(plan.file),
      `--only ${quoted(plan.name)}`,
      `--seed ${seed}`,
      // The ids of a repetition are its own: it comes with those before it.
      ...(instance === 1 ? [] : [`--repeat ${instance}`]),
      ...(flags.selfTest ? ['--self-test'] : []),
      ...(flags.target === undefined ? [] : [`--target ${quoted(flags.target)}`]),
      ...(flags.agentDriver === undefined ? [] : [`--agent-driver ${quoted(flags.agentDriver)}`]),
      ...(flags.port === undefined ? [] : [`--port ${quoted(flags.port)}`]),
      ...(flags.host === undefined ? [] : [`--host ${quoted(flags.host)}`]),
      ...(flags.baseUrl === undefined ? [] : [`--base-url ${quoted(flags.baseUrl)}`]),
      ...(flags.clock === undefined ? [] : [`--clock ${quoted(flags.clock)}`]),
      // Reports show no keys: who pastes the command puts his own in.
      ...(flags.apiKey === undefined ? [] : ['--api-key KEY']),
      ...(flags.botApiKey === undefined ? [] : ['--bot-api-key KEY']),
      ...(flags.allowRemote ? ['--allow-remote'] : []),
      ...(flags.strict ? ['--strict'] : []),
      ...(flags.config === undefined ? [] : [`--config ${quoted(flags.config)}`]),
      ...(flags.set ?? []).map(assignment => `--set ${quoted(assignment)}`),
    ]
    return words.join(' ')
  }

/** Quotes text for a POSIX shell, where it needs quotes. */
const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
