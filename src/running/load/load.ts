/**
 * Puts an intermediary under load: conversations begin at the times that the arrivals say, whatever those before them do, so
 * that an intermediary that gets slow does not slow the arrivals down. Each conversation is judged as a run of its scenario is.
 */
import { buildRecord } from '../../base/objects.ts'
import { elapsedMs, wallDelay, wallTime } from '../../base/runtime/clock.ts'
import { type ProcessLoad, watchProcessLoad } from '../../base/runtime/process-load.ts'
import { createRandom, type Random } from '../../base/runtime/random.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import { isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { nameOf } from '../runner/run-context.ts'
import { type ArrivalStage, arrivalTimes, rateAt } from './arrivals.ts'
import type { Runs } from './runs.ts'
import { type EndedConversation, type GroupResult, GroupStatistics, type Outage, OutageLog } from './statistics.ts'
import { type EvaluatedThreshold, evaluateThreshold, type Threshold } from './thresholds.ts'
import { TIMINGS, type Timing, timingsIn } from './timings.ts'

export interface LoadRunOptions {
  readonly runs: Runs
  /** The scenarios with the share that each has. */
  readonly mix: readonly { readonly plan: Plan; readonly share: number }[]
  readonly arrivals: readonly ArrivalStage[]
  /** How many conversations may be active; further ones wait, and are late. */
  readonly users: number
  readonly durationMs: number
  /** Conversations that begin earlier are not counted. */
  readonly warmUpMs: number
  readonly thresholds: readonly Threshold[]
  /** Whether this process is watched, so that it is not taken for the intermediary when it is slow. */
  readonly isWatched: boolean
  readonly seed: number
  /** Begins no further conversation when it aborts, and ends those that run. */
  readonly signal: AbortSignal
  /** The command that runs one such conversation. */
  rerun(plan: Plan): string
  readonly onProgress: (progress: LoadProgress) => void
}

/** One point of the curves: what ended since the point before it. */
export interface LoadPoint {
  /** Seconds since the load began. */
  readonly at_s: number
  /** Conversations a second that should begin then. */
  readonly rate: number
  readonly active: number
  readonly ended: number
  readonly failed: number
  readonly refused: number
  readonly late: number
  /** Milliseconds; null where nothing was measured. */
  readonly p50: Readonly<Record<Timing, number | null>>
  readonly p99: Readonly<Record<Timing, number | null>>
  readonly process: ProcessLoad
}

/** Why conversations failed, the most frequent first. */
export interface LoadCause {
  /** The code of what happened. */
  readonly code: string
  readonly count: number
}

/** What happened until now. */
export interface LoadProgress {
  readonly atMs: number
  readonly durationMs: number
  readonly rate: number
  readonly active: number
  readonly started: number
  /** Counts only conversations after the warm-up. */
  readonly all: GroupStatistics
}

export interface LoadResult {
  readonly startedAt: string
  readonly durationMs: number
  readonly started: number
  /** The most conversations that were active at once. */
  readonly mostActive: number
  /** Conversations of the warm-up, which are counted nowhere else. */
  readonly leftOut: number
  readonly all: GroupResult
  /** Of those conversations, the ones in which a fault of their scenario was hit; null when there were none. */
  readonly withFaults: GroupResult | null
  readonly causes: readonly LoadCause[]
  /** The first ones, in full. */
  readonly failed: readonly FailedRun[]
  readonly points: readonly LoadPoint[]
  readonly outages: readonly Outage[]
  readonly thresholds: readonly EvaluatedThreshold[]
  /** Whether this process was too busy to act in time. */
  readonly isBottleneck: boolean
  /** A signal ended it. */
  readonly isStopped: boolean
}

/** A text that came to another chat than that in which it was written. */
export interface MisroutedText {
  readonly text: string
  readonly from: string
  readonly to: string
}

export interface FailedRun {
  readonly result: ScenarioResult
  /** Texts of this conversation that came to another one, and the other way round. */
  readonly misrouted: readonly MisroutedText[]
}

const MAX_FAILED = 3
const POINTS = 100
const MIN_POINT_MS = 1_000
const TICK_MS = 100
/** A busier process acts later than its conversations say. */
const BUSY: ProcessLoad = { busyShare: 0.95, loopDelayMs: 100 }
const BUSY_SHARE = 0.2

export const isTooBusy = ({ busyShare, loopDelayMs }: ProcessLoad): boolean =>
  busyShare > BUSY.busyShare || loopDelayMs > BUSY.loopDelayMs

export async function runLoad(options: LoadRunOptions): Promise<LoadResult> {
  const { arrivals, users, durationMs, signal, thresholds } = options
  const load = new Load(options)
  const ticking = new AbortController()
  const ticks = load.tickUntil(ticking.signal)
  for (const atMs of arrivalTimes(arrivals, durationMs)) {
    if (atMs > load.nowMs()) await wallDelay(atMs - load.nowMs(), signal)
    while (load.active >= users && !signal.aborted) await load.oneEnded()
    if (signal.aborted) break
    load.begin(atMs)
  }
  if (durationMs > load.nowMs()) await wallDelay(durationMs - load.nowMs(), signal)
  const lengthMs = load.nowMs()
  await load.ended()
  ticking.abort()
  await ticks
  const all = load.all.result()
  return {
    ...{ startedAt: load.startedAt, durationMs: lengthMs, started: load.started, mostActive: load.mostActive },
    ...{ leftOut: load.leftOut, all, withFaults: load.withFaults?.result() ?? null, causes: load.causes() },
    ...{ failed: load.failed, points: load.points, outages: load.outages.list() },
    thresholds: thresholds.map(threshold =>
      evaluateThreshold(threshold, (metric, unit) => load.all.measure(metric, unit)),
    ),
    isBottleneck: load.isBottleneck(),
    isStopped: signal.aborted,
  }
}

/** A load while it runs. */
class Load {
  readonly startedAt = wallTime()
  readonly all = new GroupStatistics()
  withFaults: GroupStatistics | null = null
  readonly failed: FailedRun[] = []
  readonly points: LoadPoint[] = []
  readonly outages = new OutageLog()
  active = 0
  started = 0
  mostActive = 0
  leftOut = 0
  readonly #options: LoadRunOptions
  readonly #startMs = elapsedMs()
  readonly #random: Random
  readonly #running = new Set<Promise<void>>()
  readonly #causes = new Map<string, number>()
  #point = new GroupStatistics(2)
  #wake = () => {}

  constructor(options: LoadRunOptions) {
    this.#options = options
    this.#random = createRandom(options.seed, 'mix of a load')
    options.signal.addEventListener('abort', () => this.#wake())
  }

  nowMs(): number {
    return elapsedMs() - this.#startMs
  }

  /** Begins a conversation, which should have begun at `intendedMs`. */
  begin(intendedMs: number): void {
    const conversation = this.#converse(this.#nextPlan(), ++this.started, intendedMs).finally(() =>
      this.#running.delete(conversation),
    )
    this.#running.add(conversation)
  }

  /** Resolves when a conversation has ended, or the signal has aborted. */
  oneEnded(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  /** Resolves when all conversations have ended. Each has the time limit of its scenario. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  causes(): LoadCause[] {
    return [...this.#causes].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count)
  }

  isBottleneck(): boolean {
    const busy = this.points.filter(({ process }) => isTooBusy(process))
    return this.#options.isWatched && busy.length > this.points.length * BUSY_SHARE
  }

  /** Reports progress, and adds points to the curves. */
  async tickUntil(signal: AbortSignal): Promise<void> {
    const { arrivals, durationMs, onProgress } = this.#options
    const watch = watchProcessLoad()
    const pointMs = Math.max(MIN_POINT_MS, durationMs / POINTS)
    let pointAtMs = pointMs
    while (!signal.aborted) {
      await wallDelay(TICK_MS, signal)
      const atMs = this.nowMs()
      const rate = rateAt(arrivals, atMs)
      onProgress({ atMs, durationMs, rate, active: this.active, started: this.started, all: this.all })
      if (atMs < pointAtMs) continue
      this.#addPoint(atMs, rate, watch.read())
      pointAtMs += pointMs
    }
    watch.close()
  }

  #addPoint(atMs: number, rate: number, process: ProcessLoad): void {
    const point = this.#point
    this.#point = new GroupStatistics(2)
    const { conversations: ended, verdicts, refused, late } = point.result()
    const percentiles = (statistic: 'p50' | 'p99') =>
      buildRecord(TIMINGS, timing => point.measure({ timing, statistic }, 'ms'))
    this.points.push({
      ...{ at_s: Math.round(atMs / 100) / 10, rate, active: this.active, ended, refused, late, process },
      ...{ failed: verdicts.fail + verdicts.error, p50: percentiles('p50'), p99: percentiles('p99') },
    })
  }

  #nextPlan(): Plan {
    const { mix } = this.#options
    let at = this.#random.next() * mix.reduce((sum, { share }) => sum + share, 0)
    const chosen = mix.find(({ share }) => {
      at -= share
      return at < 0
    })
    if (chosen === undefined) throw new Error('A load needs a scenario with a share above 0.')
    return chosen.plan
  }

  async #converse(plan: Plan, instance: number, intendedMs: number): Promise<void> {
    const { runs, seed, signal, warmUpMs, rerun } = this.#options
    const lateMs = this.nowMs() - intendedMs
    let isActive = true
    const onQuiet = () => {
      if (isActive) this.active--
      isActive = false
      this.#wake()
    }
    this.mostActive = Math.max(this.mostActive, ++this.active)
    const options = { seed, signal, awaitsLateCalls: true, rerunCommand: rerun(plan), onQuiet }
    const result = await runs.run({ plan, instance }, options).finally(onQuiet)
    this.outages.add(result.journal)
    if (intendedMs < warmUpMs) {
      this.leftOut++
      return
    }
    const ended: EndedConversation = { result, timings: timingsIn(result.journal), lateMs }
    this.all.add(ended)
    this.#point.add(ended)
    if (result.journal.some(({ kind }) => kind === 'fault')) {
      this.withFaults ??= new GroupStatistics()
      this.withFaults.add(ended)
    }
    const [failure] = result.failures
    if ((result.outcome !== 'fail' && result.outcome !== 'error') || failure === undefined) return
    const { code } = failure
    this.#causes.set(code, (this.#causes.get(code) ?? 0) + 1)
    if (this.failed.length < MAX_FAILED)
      this.failed.push({
        result: { ...result, name: nameOf({ plan, instance }) },
        misrouted: misroutedIn(result, runs),
      })
  }
}

/** Texts of this conversation that came to another one, and the other way round. */
function misroutedIn({ journal, conversations }: ScenarioResult, { simulators }: Runs): MisroutedText[] {
  const conversationTexts = textsIn(journal)
  const chats = new Set(Object.values(conversations))
  const misrouted = new Map<string, MisroutedText>()
  const compare = (from: Texts, to: Texts) => {
    for (const [text, chatId] of from.written)
      if (to.reached.has(text) && !to.written.has(text))
        misrouted.set(text, { text, from: chatId, to: to.reached.get(text) ?? '' })
  }
  for (const sim of simulators) {
    if (sim.chats().some(({ chatId }) => chats.has(chatId))) continue
    const texts = textsIn(sim.journal.query())
    compare(conversationTexts, texts)
    compare(texts, conversationTexts)
    if (misrouted.size >= MAX_MISROUTED) break
  }
  return [...misrouted.values()]
}

const MAX_MISROUTED = 3

/** The chat of each text. */
interface Texts {
  readonly written: ReadonlyMap<string, string>
  readonly reached: ReadonlyMap<string, string>
}

function textsIn(entries: readonly Entry[]): Texts {
  const written = new Map<string, string>()
  const reached = new Map<string, string>()
  for (const entry of entries) {
    const { chat_id: chatId = '' } = entry
    if (entry.kind === 'user' && entry.text) written.set(entry.text, chatId)
    else if (entry.kind === 'api' && entry.endpoint === 'message')
      reached.set(String(Object(entry.request.body).message), chatId)
    else if (isDriverCall(entry)) {
      if (entry.verb === 'says' && entry.text) written.set(entry.text, chatId)
      for (const { text } of entry.items ?? []) if (text) reached.set(text, chatId)
    }
  }
  return { written, reached }
}
