/** Describes a load with what it was made with, in the words that all its reports share. */
import { keysOf } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs } from '../../base/text/terminal-text.ts'
import type { LimitStep } from './limits.ts'
import type { LoadResult } from './load.ts'
import type { GroupResult, TimesResult } from './statistics.ts'
import { TIMING_TEXTS } from './timings.ts'

/** A load with what it was made with. */
export interface LoadReport extends LoadResult {
  readonly version: string
  readonly target: string
  readonly seed: number
  readonly exitCode: number
  /** The arrivals as the flags write them. */
  readonly arrivals: string
  readonly users: number
  readonly scenarios: readonly string[]
  /** How many conversations a second this machine can run, measured with the reference intermediary; null when it was not. */
  readonly ownLimit: number | null
  /** The rates that `--find-limit` tried. */
  readonly steps: readonly LimitStep[]
}

/** `Passed: 120 conversations, no threshold was crossed`. */
export function loadHeading({ exitCode, isStopped, isBottleneck, thresholds, all }: LoadReport): string {
  const unmet = thresholds.filter(({ isMet }) => !isMet)
  if (isStopped) return 'Stopped early: partial results'
  if (exitCode === 1) return `Failed: ${unmet.map(({ text }) => text).join(', ')}`
  if (exitCode === 3)
    return `Not judged: ${counted(all.verdicts.error, 'conversation')} had an error of the environment`
  if (all.conversations === 0) return 'Inconclusive: no conversation ended after the warm-up'
  if (exitCode === 4 && isBottleneck) return 'Inconclusive: this machine was too busy to measure the intermediary'
  return `Passed: ${counted(all.conversations, 'conversation')}, no threshold was crossed`
}

export const TIME_HEADS = ['time', 'count', 'p50', 'p90', 'p99', 'max'] as const

export const shownMs = (ms: number): string => (ms < 10 ? `${Math.round(ms * 10) / 10} ms` : formatMs(Math.round(ms)))

const timesRow = (name: string, times: TimesResult): string[] => [
  name,
  String(times.count),
  ...(['p50', 'p90', 'p99', 'max'] as const).map(statistic => shownMs(times[statistic])),
]

export function timeRows({ timings }: GroupResult): string[][] {
  return keysOf(TIMING_TEXTS).flatMap(timing => {
    const times = timings[timing]
    return times === null ? [] : [timesRow(TIMING_TEXTS[timing], times)]
  })
}

/** The highest rate that `--find-limit` tried with success. */
export function limitText({ steps }: Pick<LoadReport, 'steps'>): string {
  const rates = steps.filter(({ isMet }) => isMet).map(({ rate }) => rate)
  const failed = steps.filter(({ isMet }) => !isMet).map(({ rate }) => rate)
  const most = rates.length === 0 ? null : Math.max(...rates)
  if (most === null) return `Limit: not even ${Math.min(...failed)} conversations a second met the thresholds.`
  return `Limit: ${most} conversations a second met the thresholds${failed.length === 0 ? '; no higher rate was tried' : `, ${Math.min(...failed)} did not`}.`
}
