/** Finds the rates that are too high: for an intermediary, by its thresholds, and for this process, by the work of its event loop. */
import { elapsedMs } from '../../base/runtime/clock.ts'
import { cpuTimeMs } from '../../base/runtime/process-load.ts'
import type { Plan, PlannedItem } from '../../evaluation/scenario/plan.ts'
import { isTooBusy, type LoadPoint, type LoadResult, type LoadRunOptions, runLoad } from './load.ts'
import type { Runs } from './runs.ts'

export interface LimitStep {
  readonly rate: number
  readonly isMet: boolean
}

export interface Limit {
  readonly steps: readonly LimitStep[]
  /** Of the highest rate that met the thresholds, or of the only one. */
  readonly result: LoadResult
}

const MAX_DOUBLINGS = 12
/** The result is exact to an eighth of the rate. */
const HALVINGS = 3

/** Doubles the rate until a threshold is crossed or this process is too busy, then halves the distance. */
export async function findLimit(options: LoadRunOptions, firstRate: number): Promise<Limit> {
  const steps: LimitStep[] = []
  let best: LoadResult | null = null
  let last: LoadResult | null = null
  const isMetAt = async (rate: number): Promise<boolean> => {
    // Other seeds, because an intermediary remembers the chats of the step before.
    const seed = options.seed + steps.length
    last = await runLoad({ ...options, seed, arrivals: [{ from: rate, to: rate, ms: null }] })
    const isMet = !last.isBottleneck && !last.isStopped && last.thresholds.every(threshold => threshold.isMet)
    if (!last.isStopped) steps.push({ rate, isMet })
    if (isMet) best = last
    return isMet
  }
  let met = 0
  let rate = firstRate
  for (let step = 0; step < MAX_DOUBLINGS && !options.signal.aborted && (await isMetAt(rate)); step++) {
    met = rate
    rate *= 2
  }
  let crossed = rate
  for (let step = 0; step < HALVINGS && met > 0 && !options.signal.aborted; step++) {
    const middle = Math.round(((met + crossed) / 2) * 10) / 10
    if (await isMetAt(middle)) met = middle
    else crossed = middle
  }
  return { steps, result: best ?? last ?? (await runLoad(options)) }
}

/** A process is slow until its code is compiled. */
const WARM_UP_MS = 2_000
const MEASURED_MS = 3_000
/** Enough to measure what one costs. */
const AT_ONCE = 16

/**
 * Runs the scenarios without their waits against an intermediary that is fast, and resolves with the conversations a second
 * for which one core is enough, however many other programs want it meanwhile; null when none passed.
 */
export async function measureOwnLimit(
  plans: readonly Plan[],
  runs: Runs,
  seed: number,
  signal: AbortSignal,
): Promise<number | null> {
  const quick = plans.map(plan => ({ ...plan, steps: withoutWaits(plan.steps) }))
  let begun = 0
  /** Resolves when those that began in this time have ended, with how many of them passed. */
  const passedIn = async (durationMs: number): Promise<number> => {
    let passed = 0
    const untilMs = elapsedMs() + durationMs
    const runOneByOne = async () => {
      while (elapsedMs() < untilMs && !signal.aborted) {
        const plan = quick[begun % quick.length]
        if (plan === undefined) return
        const result = await runs.run({ plan, instance: ++begun }, { seed, signal, awaitsLateCalls: false })
        if (result.outcome === 'pass') passed++
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, runOneByOne))
    return passed
  }
  await passedIn(WARM_UP_MS)
  const beforeMs = cpuTimeMs()
  const passed = await passedIn(MEASURED_MS)
  return passed === 0 || signal.aborted ? null : (passed * 1000) / (cpuTimeMs() - beforeMs)
}

/** What was measured, or the highest rate of the load at which this process still acted in time, which shows more. */
export function ownLimitAfter(measured: number | null, points: readonly LoadPoint[]): number | null {
  if (measured === null) return null
  const rates = points.filter(({ late, process }) => late === 0 && !isTooBusy(process)).map(({ rate }) => rate)
  return Math.max(measured, ...rates)
}

const withoutWaits = (items: readonly PlannedItem[]): PlannedItem[] =>
  items.map(item => {
    if (item.kind === 'parallel') return { ...item, branches: item.branches.map(withoutWaits) }
    return item.action.verb === 'wait' ? { ...item, action: { verb: 'wait', ms: 0 } } : item
  })
