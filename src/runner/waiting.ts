/** Waiting within a play. A virtual clock is moved only for deliveries that are due later: retries and delays. */

import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { EarlyEnd } from '../journal/run-failures.ts'
import { wallTimer } from '../runtime/clock.ts'
import type { Core } from '../simulator/core.ts'
import { advanceVirtual } from '../simulator/time.ts'
import { earlyEndText } from '../wording/run-failures.ts'
import type { RunContext } from './run-context.ts'

/** All that waiting needs of a stage. */
export type Waiting = Pick<RunContext, 'core' | 'journalWaiter'>

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

/** As long as the play goes on; what was begun goes on alone. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new InterruptedError())
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    if (signal.aborted) stop()
  })
}

export interface Open {
  /** On the clock of `at_ms`. */
  readonly untilMs: number
}

/** `look` answers null when it is decided. It is asked again with every entry and at `untilMs`. */
export async function waitUntil(context: Waiting, look: () => Open | null, signal: AbortSignal): Promise<void> {
  for (let open = look(); open !== null; open = look()) {
    if (signal.aborted) throw new InterruptedError()
    await oneStep(context, open.untilMs, signal)
  }
}

async function oneStep({ core, journalWaiter }: Waiting, untilMs: number, signal: AbortSignal): Promise<void> {
  if (core.clock.mode === 'real' || core.nextDeliveryDue() === null) return journalWaiter.next(untilMs, signal)
  if (core.activity.busy) return idleOr(core, next => journalWaiter.next(untilMs, AbortSignal.any([signal, next])))
  await advanceToNextDelivery(core)
}

/** Whichever is first; the other one leaves no timer behind. */
async function idleOr({ activity }: Core, other: (enough: AbortSignal) => Promise<void>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([activity.idle(), other(enough.signal)])
  enough.abort()
}

async function advanceToNextDelivery(core: Core): Promise<void> {
  const due = core.nextDeliveryDue()
  if (due !== null) await advanceVirtual(core, Math.max(0, due - core.clock.now()))
}

export interface JournalWaiter {
  /** Resolves with the next entry, at `untilMs` on the clock of `at_ms`, or when aborted: whichever is first. */
  next(untilMs: number, signal: AbortSignal): Promise<void>
  stop(): void
}

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
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const timer = wallTimer(Math.max(0, untilMs - journal.atMs), wake)
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
        if (signal.aborted) wake()
      }),
    stop,
  }
}

/** However busy it stays. */
const LONGEST_MS = 2_000

/** Ends when nothing was called or delivered for `timeouts.settle`. `lingering`: a late call may explain a failure. */
export async function settle(
  context: RunContext,
  { lingering, signal }: { readonly lingering: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { journal, activity } = context.core
  const quietMs = context.plan.timeouts.settleMs
  const begun = journal.atMs
  const until = begun + Math.max(LONGEST_MS, quietMs)
  let lastMs = begun
  let lastSeq = journal.nextSeq - 1
  let hadCall = !lingering
  const look = (): Open | null => {
    for (const entry of journal.query({ after: lastSeq })) {
      lastSeq = entry.seq
      if (!isTraffic(entry)) continue
      lastMs = entry.at_ms
      hadCall ||= entry.kind === 'api'
    }
    const quietAt = hadCall ? lastMs + quietMs : until
    const over = (journal.atMs >= quietAt && !activity.busy) || journal.atMs >= until
    return over ? null : { untilMs: Math.min(journal.atMs >= quietAt ? until : quietAt, until) }
  }
  if (!signal.aborted) await waitUntil(context, look, signal).catch(() => {})
}

const isTraffic = ({ kind }: Entry): boolean => kind === 'api' || kind === 'delivery' || kind === 'event'
