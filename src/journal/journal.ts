/**
 * The append-only record of everything that happened. Log, expectations, inspector and reports only read it.
 * Bounded: the oldest entries leave first, and it says so.
 */
import { elapsedMs } from '../runtime/clock.ts'
import { isoMicros } from '../runtime/stamps.ts'
import type { Entry, EntryContent, EntryKind } from './entry.ts'
import { createRing } from './ring.ts'
import { createWaiters, type WaitOptions } from './waiters.ts'

export interface JournalQuery {
  /** Only entries with a greater seq. */
  readonly after?: number
  readonly kind?: EntryKind
  readonly chatId?: string
  readonly limit?: number
}

export interface Journal {
  append(content: EntryContent, cause: number | null): Entry
  /** The seq the next entry gets. */
  readonly nextSeq: number
  /** The oldest seq still kept; greater than 1 once entries were evicted. */
  readonly firstSeq: number
  query(query?: JournalQuery): Entry[]
  find(seq: number): Entry | undefined
  subscribe(listener: (entry: Entry) => void): () => void
  waitFor(match: (entry: Entry) => boolean, options?: WaitOptions): Promise<Entry>
  /** Forgets everything and rejects whoever waits. Subscribers stay. */
  reset(): void
}

export function createJournal(options: { limit: number; stamp: () => number }): Journal {
  const ring = createRing<Entry>(options.limit)
  const listeners = new Set<(entry: Entry) => void>()
  const waiters = createWaiters(after => ring.since(after))
  const madeAt = elapsedMs()
  const atMs = () => Math.round((elapsedMs() - madeAt) * 1000) / 1000

  function write(content: EntryContent, cause: number | null): Entry {
    const entry = { ...content, v: 1, seq: ring.next, time: isoMicros(options.stamp()), cause, at_ms: atMs() } as Entry
    ring.push(entry)
    waiters.offer(entry)
    for (const listener of listeners) tell(listener, entry)
    return entry
  }

  /** A reader that throws is dropped and named: it must not break what it only watches. */
  function tell(listener: (entry: Entry) => void, entry: Entry): void {
    try {
      listener(entry)
    } catch (error) {
      listeners.delete(listener)
      write({ kind: 'note', note: 'subscriber_failed', message: String(error) }, entry.seq)
    }
  }

  /** Said once, with the first loss; the journal answers later queries with how many are gone. */
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
    get firstSeq() {
      return ring.first
    },
    query: ({ after = 0, kind, chatId, limit = Number.POSITIVE_INFINITY } = {}) => {
      const found: Entry[] = []
      for (const entry of ring.since(after)) {
        if (found.length >= limit) break
        if ((kind ?? entry.kind) === entry.kind && (chatId ?? entry.chat_id) === entry.chat_id) found.push(entry)
      }
      return found
    },
    find: seq => ring.at(seq),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    waitFor: waiters.waitFor,
    reset() {
      ring.clear()
      waiters.abandon()
    },
  }
}
