/** Parses and evaluates the thresholds of a load: `user_to_agent.p99 > 2s` fails it. */
import { keysOf } from '../../base/objects.ts'
import { nearest } from '../../base/text/error-text.ts'
import { formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { TIMINGS, type Timing } from './timings.ts'

const COMPARISONS = {
  '>=': (a: number, b: number) => a >= b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '<': (a: number, b: number) => a < b,
} as const

export const STATISTICS = ['min', 'mean', 'p50', 'p75', 'p90', 'p95', 'p99', 'p999', 'max'] as const
export type Statistic = (typeof STATISTICS)[number]

/** Conversations, or refused calls; in percent, of those that ended, or of all calls. */
const COUNTS = ['pass', 'fail', 'error', 'inconclusive', 'late', 'refused'] as const

export type Metric =
  | { readonly timing: Timing; readonly statistic: Statistic }
  | { readonly count: (typeof COUNTS)[number] }

/** As they are written: `user_to_agent.p99`, `verdict.fail`, `late`. */
const METRICS: ReadonlyMap<string, Metric> = new Map<string, Metric>([
  ...TIMINGS.flatMap(timing =>
    STATISTICS.map((statistic): [string, Metric] => [`${timing}.${statistic}`, { timing, statistic }]),
  ),
  ...COUNTS.map((count): [string, Metric] => [/late|refused/.test(count) ? count : `verdict.${count}`, { count }]),
])

export interface Threshold {
  /** As it was written. */
  readonly text: string
  readonly metric: Metric
  readonly comparison: keyof typeof COMPARISONS
  readonly unit: 'ms' | 'percent' | 'count'
  readonly value: number
}

export interface EvaluatedThreshold {
  readonly text: string
  /** What was measured; null when nothing was. */
  readonly measured: number | null
  readonly unit: Threshold['unit']
  /** A threshold says what fails the load. */
  readonly isMet: boolean
}

/** Several with commas. Throws with what is wrong. */
export function parseThresholds(text: string): readonly Threshold[] {
  return text.split(',').map(part => {
    const written = part.trim()
    const [, name = '', sign, value = ''] = /^([\w.]+)\s*(>=|<=|>|<)\s*(\S+)$/.exec(written) ?? []
    const comparison = keysOf(COMPARISONS).find(operator => operator === sign)
    const wrong = (why: string) => new Error(`${why}, got ${JSON.stringify(written)}.`)
    if (comparison === undefined)
      throw wrong('must be a metric, a comparison and a value, such as user_to_agent.p99 > 2s')
    const metric = METRICS.get(name)
    if (metric === undefined) {
      const similar = nearest(name, [...METRICS.keys()]) || `: one of ${[...METRICS.keys()].join(', ')}`
      throw wrong(`there is no metric ${name}${similar.replace('?', '')}`)
    }
    const isTime = 'timing' in metric
    const [, count, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(value) ?? []
    const parsed = isTime ? parseDuration(value) : count === undefined ? null : Number(count)
    if (parsed === null)
      throw wrong(isTime ? `${name} takes a time such as 2s` : `${name} takes a number, or percent such as 1%`)
    const unit = isTime ? 'ms' : percent === undefined ? 'count' : 'percent'
    return { text: written, metric, comparison, unit, value: parsed }
  })
}

/** `measure`: what was measured; null when nothing was, which meets every threshold. */
export function evaluateThreshold(
  { text, metric, comparison, unit, value }: Threshold,
  measure: (metric: Metric, unit: Threshold['unit']) => number | null,
): EvaluatedThreshold {
  const measured = measure(metric, unit)
  return { text, measured, unit, isMet: measured === null || !COMPARISONS[comparison](measured, value) }
}

export function measuredText({ measured, unit }: EvaluatedThreshold): string {
  if (measured === null) return 'nothing was measured'
  if (unit === 'ms') return formatDuration(Math.round(measured))
  return unit === 'percent' ? `${Math.round(measured * 100) / 100} %` : String(measured)
}
