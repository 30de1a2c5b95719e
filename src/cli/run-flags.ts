/** Defines and checks the flags of `run`, selects the scenarios they name, and writes the command that runs one again. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { keysOf } from '../contract/objects.ts'
import { type SelectedScenario, type Selection, select } from '../runner/schedule.ts'
import { compile } from '../scenario/compile/compile.ts'
import type { Hint } from '../scenario/format/scenario.ts'
import { loadScenarios } from '../scenario/load/load.ts'
import { type Plan, placeText, stepsOf } from '../scenario/plan.ts'
import { counted, parseDuration } from '../text/quantities.ts'
import { visible } from '../text/terminal-text.ts'
import { type FlagsOf, REPORT_FLAG, SETTING_FLAGS } from './command.ts'
import { type Context, UsageError } from './io.ts'

export const RUN_FLAGS = {
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--only <name>': { description: 'scenarios whose name contains this; may be repeated', repeatable: true },
  '--tag <tag>': { description: 'scenarios with this tag; may be repeated', repeatable: true },
  '--shard <n/of>': 'one share of the scenarios, such as 1/4',
  '--repeat <times>': 'play each this often, with fresh chats (default: 1)',
  '--jobs <number>': 'how many are played at once (default: 4)',
  '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
  ...REPORT_FLAG,
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--dry-run': 'print what would be played',
  '--self-test': 'play against the built-in reference intermediary',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, names and texts (default: a fresh one, named in the report)',
} as const

export type RunFlags = FlagsOf<typeof RUN_FLAGS>

export interface RunOptions extends Selection {
  readonly jobs: number
  readonly waitMs: number
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

/** Flags with a value that the command to run a scenario again repeats. */
const REPEATED_FLAGS = {
  target: '--target',
  agentDriver: '--agent-driver',
  port: '--port',
  host: '--host',
  baseUrl: '--base-url',
  clock: '--clock',
} as const satisfies Partial<Record<keyof RunFlags, string>>

/** The command that runs one scenario again. It has placeholders for keys, because reports show no keys. */
export const rerunCommand =
  (flags: RunFlags) =>
  (plan: Plan, seed: number, instance = 1): string => {
    const words = [
      'npx handover-sim run',
      quoted(plan.file),
      `--only ${quoted(plan.name)}`,
      `--seed ${seed}`,
      // The ids of a repetition follow from those before it.
      ...(instance === 1 ? [] : [`--repeat ${instance}`]),
      ...(flags.selfTest ? ['--self-test'] : []),
      ...keysOf(REPEATED_FLAGS).flatMap(name => withValue(REPEATED_FLAGS[name], flags[name])),
      ...(flags.apiKey === undefined ? [] : ['--api-key KEY']),
      ...(flags.botApiKey === undefined ? [] : ['--bot-api-key KEY']),
      ...(flags.allowRemote ? ['--allow-remote'] : []),
      ...(flags.strict ? ['--strict'] : []),
      ...withValue('--config', flags.config),
      ...(flags.set ?? []).map(assignment => `--set ${quoted(assignment.replace(KEY_VALUE, '$1KEY'))}`),
    ]
    return words.join(' ')
  }

const KEY_VALUE = /^(keys\.(?:handover|bot|more)=).*$/s

const withValue = (flag: string, value: string | undefined) => (value === undefined ? [] : [`${flag} ${quoted(value)}`])

/** Quotes text for a POSIX shell, where it needs quotes. */
const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

const DEFAULT_FOLDER = 'scenarios'
const NO_FOLDER =
  'There is no folder scenarios here: name the files or folders to play, such as handover-sim run happy.yaml.'

/** Throws `ConfigError` with every problem of every file. */
export async function selectScenarios(
  files: readonly string[],
  options: RunOptions,
  { io }: Context,
): Promise<SelectedScenario[]> {
  if (files.length === 0 && !existsSync(resolve(io.cwd, DEFAULT_FOLDER))) throw new UsageError(NO_FOLDER)
  const patterns = files.length === 0 ? [DEFAULT_FOLDER] : files
  const loaded = await loadScenarios(patterns, { cwd: io.cwd, nodeVersion: io.nodeVersion })
  for (const { warnings } of loaded) for (const warning of warnings) io.stderr.write(`${warningText(warning)}\n`)
  return select(compile(loaded), options)
}

const warningText = ({ place, message }: Hint): string =>
  `${place === null ? '' : `${placeText(place)}: `}warning: ${message}`

export function nothingSelected(files: readonly string[], { only, tags, shard }: RunOptions): string {
  const filters = [
    ...only.map(name => `--only ${JSON.stringify(name)}`),
    ...tags.map(tag => `--tag ${tag}`),
    ...(shard === null ? [] : [`--shard ${shard.index}/${shard.of}`]),
  ]
  const where = files.length === 0 ? DEFAULT_FOLDER : files.join(' ')
  return filters.length === 0
    ? `There is no scenario in ${where}.`
    : `No scenario in ${where} matches ${filters.join(' ')}.`
}

/** One line for each scenario, in order: place, name, steps, needs. */
export function dryRun(wanted: readonly SelectedScenario[]): string {
  const lines = wanted.map(({ plan, instance }) => {
    const repetition = instance === 1 ? '' : ` (${instance})`
    const needs = plan.needs.length === 0 ? '' : `, needs ${plan.needs.join(', ')}`
    const alone = plan.exclusive === null ? '' : `, alone: ${plan.exclusive}`
    return `${visible(placeOf(plan))}  ${visible(plan.name)}${repetition}  ${counted(countOf(plan), 'step')}${needs}${alone}\n`
  })
  return `${lines.join('')}${wanted.length} to play\n`
}

const placeOf = ({ file, place }: Plan): string => (place === null ? file : `${place.file}:${place.line}`)
const countOf = ({ steps, finally: last }: Plan): number => [...stepsOf([...steps, ...last])].length
