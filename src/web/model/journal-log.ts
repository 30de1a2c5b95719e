/** Keeps the journal as it arrives: entries by seq, by chat and by cause, and the rows of the sequence diagram. */
import type { Entry } from '../../journal/entry.ts'
import type { TimelineRow } from '../../timeline/rows.ts'
import { createLiveTimeline } from '../../timeline/timeline.ts'

export interface JournalLog {
  /** Oldest first; their seqs grow, with gaps where entries were dropped. */
  readonly entries: readonly Entry[]
  /** The rows of the sequence diagram. */
  readonly rows: readonly TimelineRow[]
  /** Chats in the order of their first entry, each with its entries. */
  readonly chats: ReadonlyMap<string, readonly Entry[]>
  add(entry: Entry): void
  entry(seq: number): Entry | undefined
  /** The seqs of the entries that this one caused. */
  effects(seq: number): readonly number[]
}

/** `chatName` gives the short name of a chat for the diagram. */
export function createJournalLog(chatName: (chatId: string) => string | null): JournalLog {
  const entries: Entry[] = []
  const chats = new Map<string, Entry[]>()
  const effects = new Map<number, number[]>()
  const timeline = createLiveTimeline(chatName)
  return {
    entries,
    rows: timeline.rows,
    chats,
    add(entry) {
      entries.push(entry)
      if (entry.chat_id !== undefined) append(chats, entry.chat_id, entry)
      if (entry.cause !== null) append(effects, entry.cause, entry.seq)
      timeline.add(entry)
    },
    entry: seq => entries[indexOf(entries, seq)],
    effects: seq => effects.get(seq) ?? [],
  }
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** The index of the entry with this seq, by binary search; -1 when there is none. */
function indexOf(entries: readonly { readonly seq: number }[], seq: number): number {
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
