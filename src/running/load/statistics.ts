/** Counts what the conversations of a load came to: verdicts, times as histograms, and outages. */
import { build, type Histogram } from 'hdr-histogram-js'
import { buildRecord } from '../../base/objects.ts'
import type { Outcome, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { type Metric, STATISTICS, type Statistic, type Threshold } from './thresholds.ts'
import { TIMINGS, type Timing, type Timings } from './timings.ts'

/** Times in milliseconds. */
export interface TimesResult extends Readonly<Record<Statistic, number>> {
  readonly count: number
}

/** What some conversations came to. */
export interface GroupResult {
  readonly conversations: number
  readonly verdicts: Readonly<Record<Outcome, number>>
  readonly calls: number
  /** How many calls were answered with 4xx or 5xx. */
  readonly refused: number
  /** How many conversations had to begin later than intended. */
  readonly late: number
  readonly timings: Readonly<Record<Timing, TimesResult | null>>
}

export interface EndedConversation {
  readonly result: ScenarioResult
  readonly timings: Timings
  /** How long after its intended time it began. */
  readonly lateMs: number
}

const MAX_US = 3_600_000_000
/** A start that is later than this counts as late. */
const LATE_MS = 50

/** Counts microseconds, up to an hour. Three digits need 95 kB, two 14 kB. */
const createHistogram = (numberOfSignificantValueDigits: 2 | 3): Histogram =>
  build({ lowestDiscernibleValue: 1, highestTrackableValue: MAX_US, numberOfSignificantValueDigits })

const inMs = (microseconds: number): number => Math.round(microseconds) / 1000

const STATISTIC_OF: Readonly<Record<Statistic, (histogram: Histogram) => number>> = {
  min: histogram => histogram.minNonZeroValue,
  mean: histogram => histogram.mean,
  p50: histogram => histogram.getValueAtPercentile(50),
  p75: histogram => histogram.getValueAtPercentile(75),
  p90: histogram => histogram.getValueAtPercentile(90),
  p95: histogram => histogram.getValueAtPercentile(95),
  p99: histogram => histogram.getValueAtPercentile(99),
  p999: histogram => histogram.getValueAtPercentile(99.9),
  max: histogram => histogram.maxValue,
}

/** Adds up conversations. */
export class GroupStatistics {
  #conversations = 0
  #calls = 0
  #refused = 0
  #late = 0
  readonly #verdicts = { pass: 0, fail: 0, error: 0, inconclusive: 0, skipped: 0 }
  readonly #histograms = new Map<Timing, Histogram>()
  readonly #digits: 2 | 3

  constructor(digits: 2 | 3 = 3) {
    this.#digits = digits
  }

  add({ result, timings, lateMs }: EndedConversation): void {
    this.#conversations++
    this.#verdicts[result.outcome]++
    if (lateMs > LATE_MS) this.#late++
    for (const entry of result.journal) {
      if (entry.kind !== 'api') continue
      this.#calls++
      if (entry.status >= 400) this.#refused++
    }
    for (const timing of TIMINGS)
      for (const [index, ms] of timings[timing].entries()) {
        // The first one of each kind counts from the time at which the conversation should have begun.
        const us = Math.round((index === 0 ? ms + lateMs : ms) * 1000)
        this.#histogramOf(timing).recordValue(Math.min(MAX_US, Math.max(1, us)))
      }
  }

  /** Null when nothing was measured. */
  measure(metric: Metric, unit: Threshold['unit']): number | null {
    if ('timing' in metric) {
      const histogram = this.#histograms.get(metric.timing)
      return histogram === undefined ? null : inMs(STATISTIC_OF[metric.statistic](histogram))
    }
    const counts = { ...this.#verdicts, late: this.#late, refused: this.#refused }
    const count = counts[metric.count]
    if (unit === 'count') return count
    const total = metric.count === 'refused' ? this.#calls : this.#conversations
    return total === 0 ? null : (100 * count) / total
  }

  result(): GroupResult {
    return {
      ...{ conversations: this.#conversations, verdicts: { ...this.#verdicts } },
      ...{ calls: this.#calls, refused: this.#refused, late: this.#late },
      timings: buildRecord(TIMINGS, timing => this.#timesOf(timing)),
    }
  }

  #timesOf(timing: Timing): TimesResult | null {
    const histogram = this.#histograms.get(timing)
    if (histogram === undefined) return null
    // A percentile is the end of its interval, which may be above the highest value.
    const { maxValue } = histogram
    const statistics = buildRecord(STATISTICS, name => inMs(Math.min(maxValue, STATISTIC_OF[name](histogram))))
    return { count: histogram.totalCount, ...statistics }
  }

  #histogramOf(timing: Timing): Histogram {
    const histogram = this.#histograms.get(timing) ?? createHistogram(this.#digits)
    this.#histograms.set(timing, histogram)
    return histogram
  }
}

/** A time in which no event reached the webhook. */
export interface Outage {
  /** The time of the first event that did not reach the webhook. */
  readonly from: string
  /** The seconds until the first event that did. */
  readonly seconds: number
}

const CANNOT_REACH = /^(connection_refused|connection_reset|connection_closed|connect_timeout|no_route)$/

/** Events that are sent in the same time are one slice. */
const SLICE_MS = 100

export class OutageLog {
  /** By the number of the slice: whether an event was answered in it. Slices without an event are not here. */
  readonly #slices = new Map<number, boolean>()

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind !== 'delivery' || entry.outcome === 'skipped') continue
      const isReached = !CANNOT_REACH.test(entry.failure?.code ?? '')
      const slice = Math.floor(Date.parse(entry.time) / SLICE_MS)
      this.#slices.set(slice, isReached || this.#slices.get(slice) === true)
    }
  }

  list(): Outage[] {
    const outages: Outage[] = []
    let first: number | null = null
    const slices = [...this.#slices].sort(([a], [b]) => a - b)
    const end = (until: number) => {
      if (first !== null)
        outages.push({ from: new Date(first * SLICE_MS).toISOString(), seconds: ((until - first) * SLICE_MS) / 1000 })
      first = null
    }
    for (const [slice, isReached] of slices) {
      if (isReached) end(slice)
      else first ??= slice
    }
    end((slices.at(-1)?.[0] ?? 0) + 1)
    return outages
  }
}
