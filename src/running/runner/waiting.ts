/** Waits for journal entries, for answers of the webhook, for the next delivery of a virtual clock, for the pace of people, and for the end of all traffic. */

import { wallDelay } from '../../base/runtime/clock.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { advancePaused, type Core } from '../../platform/simulator/core.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'

export interface WaitContext {
  readonly core: Core
}

/** The time limit of the scenario or the end of the run interrupts a wait. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly end: EarlyEnd

  constructor(end: EarlyEnd = { code: 'interrupted' }) {
    super(earlyEndText(end))
    this.end = end
  }
}

/** Why the run ends, once its signal has aborted. */
export const earlyEndOf = ({ reason }: AbortSignal): EarlyEnd =>
  reason instanceof InterruptedError ? reason.end : { code: 'interrupted' }

/** Rejects with `InterruptedError` when the signal aborts. Does not stop `work`. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new InterruptedError())
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    if (signal.aborted) stop()
  })
}

export interface Pending {
  /** When it is decided at the latest, on the clock of `at_ms`. */
  readonly untilMs: number
}

/** Calls `status` after every journal entry and at `untilMs`, until it returns null. Rejects with `InterruptedError`. */
export async function waitUntil(
  { core }: WaitContext,
  status: () => Pending | null,
  signal: AbortSignal,
): Promise<void> {
  const { clock, dispatcher, work } = core
  for (let pending = status(); pending !== null; pending = status()) {
    if (signal.aborted) throw new InterruptedError()
    const { untilMs } = pending
    if (clock.mode === 'real' || dispatcher.nextDue() === null) {
      await nextEntry(core, untilMs, signal)
    } else if (work.activity.isBusy()) {
      const enough = new AbortController()
      await Promise.race([work.activity.idle(), nextEntry(core, untilMs, AbortSignal.any([signal, enough.signal]))])
      enough.abort()
    } else {
      // A virtual clock moves only to a delivery that is due later: a retry, or a delayed event.
      await advancePaused(core, Math.max(0, (dispatcher.nextDue() ?? 0) - clock.now()))
    }
  }
}

/** Resolves at the next entry, at `untilMs` on the clock of `at_ms`, or when the signal aborts. */
async function nextEntry({ journal }: Core, untilMs: number, signal: AbortSignal): Promise<void> {
  const withinMs = Math.max(0, untilMs - journal.atMs)
  await journal.waitFor(() => true, { after: journal.nextSeq - 1, withinMs, signal }).catch(() => {})
}

/**
 * Between what happens in a chat and the next act of a person, who cannot react faster. An intermediary may need this
 * time to store what it has answered, or what it was answered.
 */
const PACE_MS = 150
/** A pause consists of several timers: on a busy machine each of them is late, as the work of the intermediary is. */
const TIMERS = 10

/** Their answers change nothing that a later act depends on. */
const STATELESS_CALLS: readonly unknown[] = ['message', 'transcript', 'summarize', 'chat']

/** Waits on the wall as a person does: longer on a busy machine, where the intermediary takes longer as well. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  for (let timer = 0; timer < TIMERS && !signal.aborted; timer++) await wallDelay(Math.ceil(ms / TIMERS), signal)
}

/** What the person who acts could have seen. */
interface Sight {
  /** Null: all chats. */
  readonly chatId: string | null
  /** Up to this entry, the effect of each event and of each act of the agent was observed; default: of none. */
  readonly observedSeq?: number
}

/** Waits on the wall, also with a virtual clock, unless the intermediary is a function that has no time of its own. */
export async function awaitPace(
  { journal, clock, hasConnection }: Core,
  { chatId, observedSeq = 0 }: Sight,
  signal: AbortSignal,
): Promise<void> {
  if (!hasConnection && clock.mode === 'virtual') return
  const isSeen = (entry: Entry): boolean => {
    if (chatId !== null && entry.chat_id !== undefined && entry.chat_id !== chatId) return false
    if (entry.kind === 'api') return !STATELESS_CALLS.includes(entry.endpoint)
    const isAct = entry.kind === 'delivery' || (entry.kind === 'driver' && entry.verb !== 'inbox')
    return isAct && entry.seq > observedSeq
  }
  // Only the latest entries are young.
  for (let seq = journal.nextSeq - 1; seq >= journal.firstSeq; seq--) {
    const entry = journal.find(seq)
    const leftMs = entry === undefined ? 0 : entry.at_ms + PACE_MS - journal.atMs
    if (entry === undefined || leftMs <= 0) return
    if (!isSeen(entry)) continue
    return pause(leftMs, signal)
  }
}

/** The maximum when the traffic does not end. */
const MAX_SETTLE_MS = 2_000
/** How long a late call is awaited, as a multiple of the quiet time. */
const LATE_CALL = 7

export interface SettleOptions {
  readonly quietMs: number
  /** Waits for a call, because a late call may explain why an expectation failed. */
  readonly awaitCall: boolean
  readonly signal: AbortSignal
}

/** Resolves when there was no call and no delivery for `quietMs`. */
export async function settle(context: WaitContext, { quietMs, awaitCall, signal }: SettleOptions): Promise<void> {
  const { journal, work } = context.core
  const begun = journal.atMs
  const until = begun + Math.max(MAX_SETTLE_MS, quietMs)
  const lateUntil = begun + Math.max(quietMs, Math.min(MAX_SETTLE_MS, LATE_CALL * quietMs))
  let lastMs = begun
  let lastSeq = journal.nextSeq - 1
  let hadCall = !awaitCall
  const status = (): Pending | null => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (!(entry.kind === 'api' || entry.kind === 'delivery' || entry.kind === 'event')) continue
      lastMs = entry.at_ms
      hadCall ||= entry.kind === 'api'
    }
    // Read once: it may pass `quietAt` between two readings.
    const { atMs } = journal
    const quietAt = hadCall ? lastMs + quietMs : lateUntil
    const isQuiet = atMs >= quietAt
    if ((isQuiet && !work.activity.isBusy()) || atMs >= until) return null
    return { untilMs: isQuiet ? until : Math.min(quietAt, until) }
  }
  if (!signal.aborted) await waitUntil(context, status, signal).catch(() => {})
}

/** The transport may have the same time limit; it has this long to report its failure. */
const GRACE_MS = 250

interface AckContext {
  readonly context: WaitContext & { readonly plan: Plan }
  readonly signal: AbortSignal
  readonly startSeq: number
}

/**
 * Waits for the last answer of the webhook to an event: the one after which no retry follows. Resolves also at the time
 * limit, because the evaluator reports a missing answer. `sinceMs`: when the event was sent.
 */
export async function awaitAck(
  { context, startSeq, signal }: AckContext,
  deliveryId: string,
  sinceMs = context.core.journal.atMs,
): Promise<void> {
  const { core, plan } = context
  const { journal } = core
  // How long a fault takes to send the body.
  const { dispatcher } = core
  const timeLimit = plan.timeouts.ackMs + GRACE_MS + (dispatcher.find(deliveryId)?.faults?.form.wire?.dripMs ?? 0)
  let lastSeq = startSeq
  let sentMs = sinceMs
  let hasEnded = false
  const status = () => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (entry.kind !== 'delivery' || entry.delivery_id !== deliveryId || entry.duplicate === true) continue
      hasEnded = entry.retry_in_ms === undefined
    }
    sentMs = Math.max(sentMs, sentAt(core, deliveryId))
    return hasEnded || journal.atMs >= sentMs + timeLimit ? null : { untilMs: sentMs + timeLimit }
  }
  await waitUntil(context, status, signal)
}

/**
 * When the next attempt is sent: later than now for an event that waits in its queue, for its delay, or for its retry.
 * A virtual clock jumps to that moment; with a real clock it takes time.
 */
function sentAt({ clock, dispatcher, journal }: Core, deliveryId: string): number {
  const job = dispatcher.find(deliveryId)
  if (job === null || job.phase.kind === 'sending' || job.phase.kind === 'held') return Number.NEGATIVE_INFINITY
  const dueMs = job.phase.kind === 'scheduled' && clock.mode === 'real' ? job.phase.atMs - clock.now() : 0
  return journal.atMs + Math.max(0, dueMs)
}
