/** Journals entries with their effects, and hands webhook events to the dispatcher. */
import type { ApiContent, FaultContent, UserContent } from '../journal/entry.ts'
import type { PlatformContext } from '../platform/context.ts'
import { fireDue } from '../platform/platform.ts'
import { createTransaction, type Effect } from '../platform/transaction.ts'
import type { Clock, ClockTimer } from '../runtime/clock.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import type { Components } from './components.ts'

export interface Committer {
  /** Appends an entry from outside, the faults applied to it, and its effects. */
  commit(entry: ApiContent | UserContent, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Appends effects that follow no entry from outside. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** `seq` of the latest webhook event, by chat id. */
  readonly lastEvent: Map<string, number>
  /** The timer of the nearest deadline; the effects of deadlines are journaled too. */
  readonly deadlineTimer: DeadlineTimer
}

export function createCommitter({ journal, platform, clock }: Components, dispatcher: Dispatcher): Committer {
  const lastEvent = new Map<string, number>()
  const deadlineTimer = createDeadlineTimer(platform, clock, effects => commitEffects(effects, null))

  function commitEffects(effects: readonly Effect[], cause: number | null): void {
    for (const effect of effects) {
      const entry = journal.append(effect, cause)
      if (entry.kind !== 'event') continue
      lastEvent.set(entry.chat_id, entry.seq)
      dispatcher.enqueue(entry)
    }
    deadlineTimer.set()
  }

  return {
    commit(content, effects, faults = []) {
      const entry = journal.append(content, null)
      for (const fault of faults) journal.append(fault, entry.seq)
      commitEffects(effects, entry.seq)
    },
    commitEffects,
    lastEvent,
    deadlineTimer,
  }
}

export interface DeadlineTimer {
  /** Call it after every change that may have moved the deadlines. */
  set(): void
  cancel(): void
  /** The order of its timer; null while no timer is armed. */
  readonly order: number | null
}

/** `commit` receives the effects of the deadlines that fell due. */
function createDeadlineTimer(
  platform: PlatformContext,
  clock: Clock,
  commit: (effects: readonly Effect[]) => void,
): DeadlineTimer {
  let armed: { at: number; timer: ClockTimer } | null = null

  function cancel(): void {
    armed?.timer.cancel()
    armed = null
  }

  function ring(): void {
    armed = null
    const transaction = createTransaction()
    while (fireDue(platform, transaction));
    commit(transaction.effects)
  }

  return {
    set() {
      const at = platform.state.deadlines.nextMs()
      if (at === (armed?.at ?? null)) return
      cancel()
      if (at !== null) armed = { at, timer: clock.after(at - clock.now(), ring) }
    },
    cancel,
    get order() {
      return armed?.timer.order ?? null
    },
  }
}
