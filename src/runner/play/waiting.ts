/** Waiting within a play. A virtual clock is moved only for deliveries that are due later: retries and delays. */
import type { Core } from '../../simulator/core.ts'
import { advanceVirtual } from '../../simulator/time.ts'
import type { RunContext } from './run-context.ts'

/** All that waiting needs of a stage. */
export type Waiting = Pick<RunContext, 'core' | 'journalWaiter'>

/** The play is over before its time: by its bound, a signal, or the end of the run. */
export class Cut extends Error {
  override readonly name = 'Cut'
}

/** As long as the play goes on; what was begun goes on alone. */
export function orCut<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Cut())
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
    if (signal.aborted) throw new Cut()
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
