/** Merges the results of several simulators that made one load together: one verdict, and the percentiles of all their times. */
import { fileProblem } from '../../base/files/errors.ts'
import { buildRecord } from '../../base/objects.ts'
import { messageOf } from '../../base/text/error-text.ts'
import type { LoadPoint } from './load.ts'
import type { LoadReport } from './report.ts'
import { type GroupResult, GroupStatistics, type Outage } from './statistics.ts'
import { evaluateThreshold, parseThresholds } from './thresholds.ts'
import { TIMINGS } from './timings.ts'

/** What `load --report json` writes and merging needs; docs/how-to/load.md describes it. */
interface SavedLoad {
  readonly type: 'load'
  readonly v: 1
  readonly version: string
  readonly started_at: string
  readonly duration_ms: number
  readonly target: string
  readonly seed: number
  readonly is_stopped: boolean
  readonly is_bottleneck: boolean
  readonly own_limit: number | null
  readonly arrivals: string
  readonly users: number
  readonly scenarios: readonly string[]
  readonly started: number
  readonly left_out: number
  readonly most_active: number
  readonly all: GroupResult
  readonly with_faults: GroupResult | null
  readonly thresholds: readonly { readonly text: string }[]
  readonly steps: readonly unknown[]
  readonly causes: LoadReport['causes']
  readonly outages: readonly Outage[]
  readonly points: readonly (Omit<LoadPoint, 'process'> & {
    readonly busy_share: number
    readonly loop_delay_ms: number
  })[]
}

/** `texts`: by the name of the file, at least one. The first conversations that failed stay in their files. Throws `ConfigError`. */
export function mergeLoads(texts: ReadonlyMap<string, string>): LoadReport {
  const loads: SavedLoad[] = []
  const all = new GroupStatistics()
  const withFaults = new GroupStatistics()
  for (const [name, text] of texts) {
    try {
      const saved: SavedLoad = JSON.parse(text)
      if (saved?.type !== 'load' || saved.v !== 1) throw new Error('it has no "type": "load" with "v": 1')
      if (saved.steps.length > 0) throw new Error('it is the result of --find-limit, which makes a load alone')
      all.merge(saved.all)
      if (saved.with_faults !== null) withFaults.merge(saved.with_faults)
      loads.push(saved)
    } catch (error) {
      throw fileProblem(name, `is no result of load that can be merged: ${messageOf(error)}.`)
    }
  }
  const [first] = loads
  if (first === undefined) throw new Error('Failed to merge loads: there is none.')
  const sum = (of: (load: SavedLoad) => number) => loads.reduce((total, load) => total + of(load), 0)
  const causes = new Map<string, number>()
  for (const { code, count } of loads.flatMap(load => load.causes)) causes.set(code, (causes.get(code) ?? 0) + count)
  const thresholds = parseThresholds(first.thresholds.map(({ text }) => text).join(','))
  return {
    ...{ version: first.version, seed: first.seed, arrivals: loads.map(({ arrivals }) => arrivals).join(' + ') },
    target: [...new Set(loads.map(({ target }) => target))].join(', '),
    scenarios: [...new Set(loads.flatMap(({ scenarios }) => scenarios))],
    startedAt: loads.map(load => load.started_at).sort()[0] ?? first.started_at,
    durationMs: Math.max(...loads.map(load => load.duration_ms)),
    ...{ users: sum(load => load.users), started: sum(load => load.started), leftOut: sum(load => load.left_out) },
    // The replicas need not have been busiest at the same time.
    mostActive: sum(load => load.most_active),
    all: all.result(),
    withFaults: loads.some(load => load.with_faults !== null) ? withFaults.result() : null,
    causes: [...causes].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
    ...{ failed: [], points: mergedPoints(loads), outages: loads.flatMap(({ outages }) => outages), steps: [] },
    thresholds: thresholds.map(threshold => evaluateThreshold(threshold, (metric, unit) => all.measure(metric, unit))),
    ownLimit: loads.some(load => load.own_limit === null) ? null : sum(load => load.own_limit ?? 0),
    isBottleneck: loads.some(load => load.is_bottleneck),
    isStopped: loads.some(load => load.is_stopped),
    exitCode: 0,
  }
}

/** The points with the same number as one. Of the times, that of the slowest. */
function mergedPoints(loads: readonly SavedLoad[]): LoadPoint[] {
  const [first] = loads
  return (first?.points ?? []).map(({ at_s }, index) => {
    const some = loads.flatMap(({ points }) => points[index] ?? [])
    const sum = (of: (point: (typeof some)[number]) => number) => some.reduce((total, point) => total + of(point), 0)
    const slowest = (name: 'p50' | 'p99') =>
      buildRecord(TIMINGS, timing => {
        const values = some.flatMap(point => point[name][timing] ?? [])
        return values.length === 0 ? null : Math.max(...values)
      })
    return {
      ...{ at_s, rate: sum(({ rate }) => rate), active: sum(({ active }) => active), ended: sum(({ ended }) => ended) },
      ...{ failed: sum(({ failed }) => failed), refused: sum(({ refused }) => refused), late: sum(({ late }) => late) },
      ...{ p50: slowest('p50'), p99: slowest('p99') },
      process: {
        busyShare: Math.max(...some.map(point => point.busy_share)),
        loopDelayMs: Math.max(...some.map(point => point.loop_delay_ms)),
      },
    }
  })
}
