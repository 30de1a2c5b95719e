/** Journals entries with their effects, and hands webhook events to the dispatcher. */
import type { ApiContent, FaultContent, UserContent } from '../journal/entry.ts'
import type { Effect } from '../platform/transaction.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import { createDeadlineTimer, type DeadlineTimer } from './deadline-timer.ts'
import type { Parts } from './parts.ts'

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

export function createCommitter({ journal, platform, clock }: Parts, dispatcher: Dispatcher): Committer {
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
