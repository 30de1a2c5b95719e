/** Writes down what happened and what it led to, and sends events on their way. */
import type { ApiContent, EntryOf, FaultContent, UserContent } from '../journal/entry.ts'
import type { Effect } from '../platform/tx.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import type { Parts } from './parts.ts'

export interface Commits {
  /** Appends an entry from outside, the faults that struck it, and what it caused. */
  commit(entry: ApiContent | UserContent, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Appends consequences that have no entry of their own to follow. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** By chat: seq of the latest webhook event. */
  readonly lastEvent: Map<string, number>
  /** For the nearest deadline; what falls due is written down too. */
  readonly alarm: Alarm
}

export function createCommits({ journal, room, clock }: Parts, dispatcher: Dispatcher): Commits {
  const lastEvent = new Map<string, number>()
  const alarm = createAlarm(room, clock, effects => commitEffects(effects, null))

  function commitEffects(effects: readonly Effect[], cause: number | null): void {
    for (const effect of effects) {
      const entry = journal.append(effect, cause)
      if (entry.kind !== 'event') continue
      lastEvent.set(entry.chat_id, entry.seq)
      dispatcher.enqueue(entry as EntryOf<'event'>)
    }
    alarm.set()
  }

  return {
    commit(content, effects, faults = []) {
      const entry = journal.append(content, null)
      for (const fault of faults) journal.append(fault, entry.seq)
      commitEffects(effects, entry.seq)
    },
    commitEffects,
    lastEvent,
    alarm,
  }
}
