/** Indexes the journal: entries by seq, by chat and by cause, and the rows of the sequence diagram. */

import { problemIn } from '../../../evaluation/timeline/problems.ts'
import { Timeline, type TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { type AgentQueue, createAgentQueue } from './agent-queue.ts'

/**
 * The journal after a batch of entries. The next batch has another object, but appends to the same lists, because
 * copies of 50,000 entries would be slow. `entries` is another list only when the journal begins again.
 */
export interface JournalLog {
  /** Oldest first; their seqs grow, with gaps where entries were dropped. */
  readonly entries: readonly Entry[]
  /** Those that are problems. */
  readonly problems: readonly Entry[]
  /** The rows of the sequence diagram. */
  readonly rows: readonly TimelineRow[]
  /** Chats in the order of their first entry, each with its entries. */
  readonly chats: ReadonlyMap<string, readonly Entry[]>
  /** The last entry that was dropped to bound the memory; 0 before that. */
  readonly droppedUntil: number
  /** Of the chats, those of the dropped entries too. */
  queue(): AgentQueue
  /** Returns the journal with these entries too. */
  add(added: readonly Entry[]): JournalLog
  entry(seq: number): Entry | undefined
  /** The row that shows the entry. */
  row(seq: number): TimelineRow | undefined
  /** The seqs of the entries that this one caused. */
  effects(seq: number): readonly number[]
  /** All attempts of a delivery. */
  attempts(deliveryId: string): readonly Delivery[]
}

type Delivery = EntryOf<'delivery'>

/** With more entries than these, the oldest tenth is dropped. */
const MOST_ENTRIES = 100_000

/** `chatName` gives the short name of a chat for the diagram. */
export function createJournalLog(chatName: (chatId: string) => string | null, most = MOST_ENTRIES): JournalLog {
  const entries: Entry[] = []
  const problems: Entry[] = []
  const chats = new Map<string, Entry[]>()
  const effects = new Map<number, number[]>()
  const deliveries = new Map<string, Delivery[]>()
  const shownBy = new Map<number, TimelineRow>()
  const queue = createAgentQueue()
  const timeline = new Timeline(chatName)

  /** Returns the seq of the last entry that was dropped. */
  function dropOldest(count: number): number {
    const dropped = entries.splice(0, count)
    const last = dropped.at(-1)?.seq ?? 0
    for (const entry of dropped) {
      const { seq, chat_id } = entry
      if (entry.kind === 'delivery') deliveries.delete(entry.delivery_id)
      effects.delete(seq)
      shownBy.delete(seq)
      const ofChat = chats.get(chat_id ?? '')
      if (ofChat?.[0] !== undefined && ofChat[0].seq <= last) ofChat.splice(0, countUntil(ofChat, last))
    }
    problems.splice(0, countUntil(problems, last))
    timeline.dropUntil(last)
    return last
  }

  return {
    entries,
    problems,
    rows: timeline.rows,
    chats,
    droppedUntil: 0,
    queue: queue.view,
    add(added) {
      let { droppedUntil } = this
      for (const entry of added) {
        entries.push(entry)
        queue.add(entry)
        if (problemIn(entry) !== null) problems.push(entry)
        if (entry.chat_id !== undefined) append(chats, entry.chat_id, entry)
        if (entry.cause !== null) append(effects, entry.cause, entry.seq)
        if (entry.kind === 'delivery') append(deliveries, entry.delivery_id, entry)
        const row = timeline.add(entry)
        if (row !== null) shownBy.set(entry.seq, row)
        if (entries.length > most) droppedUntil = dropOldest(Math.ceil(most / 10))
      }
      return { ...this, droppedUntil }
    },
    entry: seq => entries[indexOf(entries, seq)],
    row: seq => shownBy.get(seq),
    effects: seq => effects.get(seq) ?? [],
    attempts: id => deliveries.get(id) ?? [],
  }
}

/** Adds a value to the list of a key. */
function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** The index of the entry with this seq, by binary search; -1 when there is none. */
export function indexOf(entries: readonly { readonly seq: number }[], seq: number): number {
  const index = countUntil(entries, seq) - 1
  return entries[index]?.seq === seq ? index : -1
}

/** How many entries have at most this seq. They are in the order of their seqs. */
export function countUntil(entries: readonly { readonly seq: number }[], seq: number): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entries[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
