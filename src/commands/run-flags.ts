/** Defines and checks the flags of `run`. */

import { parseDuration } from '../base/text/quantities.ts'
import type { Selection } from '../running/runner/schedule.ts'
import { type FlagsOf, REPORT_FLAG, SETTING_FLAGS } from './command.ts'
import { type Context, UsageError } from './io.ts'

export const RUN_FLAGS = {
  '--builtin': 'the shipped scenarios, with the files named or alone',
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--only <name>': { description: 'scenarios whose name contains this; may be repeated', repeatable: true },
  '--skip <name>': { description: 'leave out scenarios whose name contains this; may be repeated', repeatable: true },
  '--tag <tag>': { description: 'scenarios with this tag; may be repeated', repeatable: true },
  '--not-tag <tag>': { description: 'leave out scenarios with this tag; may be repeated', repeatable: true },
  '--shard <n/of>': 'one share of the scenarios, such as 1/4',
  '--repeat <times>': 'play each this often, with fresh chats (default: 1)',
  '--jobs <number>': 'how many are played at once (default: 4)',
  '--bail <number>': 'start no further scenario after so many have failed',
  '--timeout <duration>': 'stop the run after this long, such as 10m; what was not played is in the reports',
  '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
  ...REPORT_FLAG,
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--list': 'print the scenarios: what each checks and needs; plays nothing',
  '--json': 'with --list: one line of JSON for each scenario',
  '--dry-run': 'print what would be played',
  '--ui': 'serve a page in which scenarios are played and watched, until stopped',
  '--open': 'with --ui: open the page in a browser',
  '--self-test': 'play against the built-in reference intermediary; without scenarios here, the shipped ones',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, names and texts (default: a fresh one, named in the report)',
} as const

export type RunFlags = FlagsOf<typeof RUN_FLAGS>

export interface RunOptions extends Selection {
  readonly jobs: number
  readonly waitMs: number
  readonly bail: number | null
  /** Of the whole run. */
  readonly timeoutMs: number | null
}

export function parseRunFlags(flags: RunFlags, { env }: Context): RunOptions {
  return {
    only: flags.only ?? [],
    skip: flags.skip ?? [],
    tags: flags.tag ?? [],
    notTags: flags.notTag ?? [],
    shard: shardFrom(flags.shard),
    repeat: countFrom('--repeat', flags.repeat, 1),
    jobs: countFrom('--jobs', flags.jobs, 4),
    bail: flags.bail === undefined ? null : countFrom('--bail', flags.bail, 1),
    timeoutMs: timeLimitFrom(flags.timeout),
    waitMs: waitFrom(flags.waitForTarget, env.CI !== undefined && env.CI !== '' && env.CI !== 'false'),
  }
}

const MOST = 100_000

export function countFrom(flag: string, text: string | undefined, otherwise: number): number {
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

export function waitFrom(text: string | undefined, ci: boolean): number {
  if (text === undefined) return ci ? 30_000 : 0
  const ms = parseDuration(text)
  if (ms !== null) return ms
  throw new UsageError(`--wait-for-target must be a duration with a unit such as 30s, got ${JSON.stringify(text)}.`)
}

export function timeLimitFrom(text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = parseDuration(text)
  if (ms !== null && ms > 0) return ms
  throw new UsageError(`--timeout must be a duration with a unit such as 10m, got ${JSON.stringify(text)}.`)
}

/** Throws when a flag needs another one, or excludes it. */
export function checkCombinations(flags: RunFlags): void {
  if (flags.json && !flags.list) throw new UsageError('--json belongs to --list. A report as JSON: --report json.')
  if (flags.ui) checkUiMode(flags)
  else if (flags.open) throw new UsageError('--open belongs to --ui: it opens the page in a browser.')
  if (!flags.selfTest) return
  const other = flags.target !== undefined ? '--target' : flags.agentDriver !== undefined ? '--agent-driver' : null
  if (other !== null) throw new UsageError(`--self-test plays against the built-in intermediary: leave out ${other}.`)
}

function checkUiMode({ list, dryRun, report, inspector }: RunFlags): void {
  const other = list ? '--list' : dryRun ? '--dry-run' : report === undefined ? null : '--report'
  if (other !== null) throw new UsageError(`--ui shows scenarios and results in a page: leave out ${other}.`)
  if (inspector === false) throw new UsageError('--ui needs the page: leave out --no-inspector.')
}
