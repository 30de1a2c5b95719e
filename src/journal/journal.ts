/**
 * Records everything that happens, append-only. Log, control API, expectations and reports only read it.
 * It is bounded: it drops the oldest entries first and appends a note when that begins.
 */
import { elapsedMs } from '../runtime/clock.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import type { Entry, EntryContent, EntryKind, EntryOf } from './entry.ts'
import { createRing } from './ring.ts'
import { createWaiters, type JournalWaitOptions } from './waiters.ts'

/** Selects entries of the journal. */
export interface JournalQuery<Kind extends EntryKind = EntryKind> {
  /** Selects entries with a greater `seq`. */
  readonly after?: number
  readonly kind?: Kind
  readonly chatId?: string
  /** The maximum number of entries, the oldest first. */
  readonly limit?: number
}

/** The append-only record of a simulator. Its entries are wire-shaped (snake_case). */
export interface Journal {
  append(content: EntryContent, cause: number | null): Entry
  /** The `seq` of the next entry. */
  readonly nextSeq: number
  /** Wall-clock milliseconds since the journal was created: `at_ms` of an entry appended now. */
  readonly atMs: number
  /** The oldest `seq` in the journal; greater than 1 after entries were evicted. */
  readonly firstSeq: number
  query<Kind extends EntryKind = EntryKind>(query?: JournalQuery<Kind>): EntryOf<Kind>[]
  find(seq: number): Entry | undefined
  /** Calls `onReset` when all entries are removed, or replaced by those of a snapshot. */
  subscribe(listener: (entry: Entry) => void, onReset?: () => void): () => void
  waitFor<Match extends Entry>(match: (entry: Entry) => entry is Match, options?: JournalWaitOptions): Promise<Match>
  waitFor(match: (entry: Entry) => boolean, options?: JournalWaitOptions): Promise<Entry>
  /** Removes all entries and rejects pending waits. Subscribers stay. */
  reset(): void
  /** As `reset`, and continues from a snapshot. */
  restore(captured: CapturedJournal): void
}

export interface CapturedJournal {
  readonly nextSeq: number
  readonly atMs: number
  /** The latest before `nextSeq`, without gaps; empty when the snapshot has none. */
  readonly entries: readonly Entry[]
}

export function createJournal(options: { limit: number; stamp: () => number }): Journal {
  const ring = createRing<Entry>(options.limit)
  const listeners = new Map<(entry: Entry) => void, (() => void) | undefined>()
  const waiters = createWaiters(after => ring.since(after))
  let madeAt = elapsedMs()
  const atMs = () => Math.round((elapsedMs() - madeAt) * 1000) / 1000

  function write(content: EntryContent, cause: number | null): Entry {
    const entry = { ...content, v: 1, seq: ring.next, time: isoMicros(options.stamp()), cause, at_ms: atMs() } as Entry
    ring.push(entry)
    waiters.offer(entry)
    for (const listener of listeners.keys()) tell(listener, entry)
    return entry
  }

  /** Removes a subscriber that throws and journals its error, so that it cannot break the simulator. */
  function tell(listener: (entry: Entry) => void, entry: Entry): void {
    try {
      listener(entry)
    } catch (error) {
      listeners.delete(listener)
      write({ kind: 'note', note: 'subscriber_failed', message: String(error) }, entry.seq)
    }
  }

  function startOver(): void {
    waiters.abandon()
    for (const onReset of listeners.values()) onReset?.()
  }

  /** Appends a note once, before the first entry is dropped; `firstSeq` shows later losses. */
  function announceEviction(): void {
    const message = `The journal keeps ${options.limit} entries; older ones are being dropped.`
    write({ kind: 'note', note: 'evicted', message }, null)
  }

  return {
    append(content, cause) {
      if (ring.next === options.limit + 1) announceEviction()
      return write(content, cause)
    },
    get nextSeq() {
      return ring.next
    },
    get atMs() {
      return atMs()
    },
    get firstSeq() {
      return ring.first
    },
    query<Kind extends EntryKind>({
      after = 0,
      kind,
      chatId,
      limit = Number.POSITIVE_INFINITY,
    }: JournalQuery<Kind> = {}) {
      const isMatch = (entry: Entry): entry is EntryOf<Kind> =>
        (kind ?? entry.kind) === entry.kind && (chatId ?? entry.chat_id) === entry.chat_id
      const found: EntryOf<Kind>[] = []
      for (const entry of ring.since(after)) {
        if (found.length >= limit) break
        if (isMatch(entry)) found.push(entry)
      }
      return found
    },
    find: seq => ring.at(seq),
    subscribe(listener, onReset) {
      listeners.set(listener, onReset)
      return () => void listeners.delete(listener)
    },
    waitFor: waiters.waitFor,
    reset() {
      ring.clear()
      startOver()
    },
    restore({ nextSeq, atMs, entries }) {
      ring.refill(entries.slice(-options.limit), nextSeq)
      madeAt = elapsedMs() - atMs
      startOver()
    },
  }
}
