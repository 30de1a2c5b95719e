/** Waits for journal entries, for answers of the webhook, for the next delivery of a virtual clock, and for the end of all traffic. */

import { onAbort } from '../../base/runtime/activity.ts'
import { wallTimer } from '../../base/runtime/clock.ts'
import { type Plan, type PlannedStep, stepsOf } from '../../evaluation/scenario/plan.ts'
import type { RunEventOf } from '../../evaluation/scenario/run-events.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { Journal } from '../../platform/journal/journal.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { advancePaused, type Core } from '../../platform/simulator/core.ts'
import { earlyEndText } from '../../platform/wording/failures.ts'

export interface WaitContext {
  readonly core: Core
  readonly journalWaiter: JournalWaiter
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
  context: WaitContext,
  status: () => Pending | null,
  signal: AbortSignal,
): Promise<void> {
  for (let pending = status(); pending !== null; pending = status()) {
    if (signal.aborted) throw new InterruptedError()
    await nextChange(context, pending.untilMs, signal)
  }
}

/** A virtual clock moves only to a delivery that is due later: a retry, or a delayed event. */
async function nextChange({ core, journalWaiter }: WaitContext, untilMs: number, signal: AbortSignal): Promise<void> {
  if (core.clock.mode === 'real' || core.dispatcher.nextDue() === null) return journalWaiter.next(untilMs, signal)
  if (core.activity.isBusy()) return idleOr(core, next => journalWaiter.next(untilMs, AbortSignal.any([signal, next])))
  const due = core.dispatcher.nextDue()
  if (due !== null) await advancePaused(core, Math.max(0, due - core.clock.now()))
}

/** Resolves with the first of both, and cancels the timer of `other`. */
async function idleOr({ activity }: Core, other: (enough: AbortSignal) => Promise<void>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([activity.idle(), other(enough.signal)])
  enough.abort()
}

export interface JournalWaiter {
  /** Resolves at the next entry, at `untilMs` on the clock of `at_ms`, or when the signal aborts. */
  next(untilMs: number, signal: AbortSignal): Promise<void>
  stop(): void
}

/** Resolves waits by a subscription to the journal, without polling. */
export function createJournalWaiter(journal: Journal): JournalWaiter {
  const waiting = new Set<() => void>()
  const stop = journal.subscribe(() => {
    for (const wake of [...waiting]) wake()
  })
  return {
    next: (untilMs, signal) =>
      new Promise(resolve => {
        const wake = () => {
          waiting.delete(wake)
          timer.cancel()
          stopFollowing()
          resolve()
        }
        const timer = wallTimer(Math.max(0, untilMs - journal.atMs), wake)
        const stopFollowing = onAbort(signal, wake)
        waiting.add(wake)
        if (signal.aborted) wake()
      }),
    stop,
  }
}

/** The maximum when the traffic does not end. */
const MAX_SETTLE_MS = 2_000

export interface SettleOptions {
  readonly quietMs: number
  /** Waits for a call, because a late call may explain why an expectation failed. */
  readonly awaitCall: boolean
  readonly signal: AbortSignal
}

/** Resolves when there was no call and no delivery for `quietMs`. */
export async function settle(context: WaitContext, { quietMs, awaitCall, signal }: SettleOptions): Promise<void> {
  const { journal, activity } = context.core
  const begun = journal.atMs
  const until = begun + Math.max(MAX_SETTLE_MS, quietMs)
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
    const quietAt = hadCall ? lastMs + quietMs : until
    const isQuiet = atMs >= quietAt
    if ((isQuiet && !activity.isBusy()) || atMs >= until) return null
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
  let answered = false
  const status = () => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (isAttempt(entry, deliveryId)) answered = entry.retry_in_ms === undefined
    }
    sentMs = Math.max(sentMs, sentAt(core, deliveryId))
    return answered || journal.atMs >= sentMs + timeLimit ? null : { untilMs: sentMs + timeLimit }
  }
  await waitUntil(context, status, signal)
}

const isAttempt = (entry: Entry, deliveryId: string): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && entry.delivery_id === deliveryId && entry.duplicate !== true

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

/** Waits for the answers to `async` steps, except of events that a fault holds. Rejects with `InterruptedError`. */
export async function awaitPendingAcks({ context, signal }: Omit<AckContext, 'startSeq'>): Promise<void> {
  const { plan, core } = context
  for (const { number } of [...stepsOf([...plan.steps, ...plan.finally])].filter(isAsync)) {
    const started = stepEvent(core.journal, 'step_started', number)
    const ended = stepEvent(core.journal, 'step_ended', number)
    const id = ended?.delivery_id
    if (!started || !id || core.dispatcher.find(id)?.phase.kind === 'held') continue
    await awaitAck({ context, signal, startSeq: started.seq }, id, ended.at_ms)
  }
}

const isAsync = ({ action }: PlannedStep) => 'async' in action && action.async && action.ack !== null

/** The run event that a step has started, or ended; undefined before it. */
export const stepEvent = <Note extends 'step_started' | 'step_ended'>(
  journal: Journal,
  note: Note,
  step: number | undefined,
): RunEventOf<Note> | undefined =>
  journal.query({ kind: 'note' }).findLast(entry => entry.note === note && entry.step === step) as
    | RunEventOf<Note>
    | undefined
