/**
 * The append-only record of everything that happened. Log, control API, expectations and reports only read it.
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
  /** At most so many, the oldest first. */
  readonly limit?: number
}

export interface Journal {
  append(content: EntryContent, cause: number | null): Entry
  /** The seq the next entry gets. */
  readonly nextSeq: number
  /** Milliseconds on the wall since it began: `at_ms` of an entry appended now. */
  readonly atMs: number
  /** The oldest seq still kept; greater than 1 once entries were evicted. */
  readonly firstSeq: number
  query(query?: JournalQuery): Entry[]
  find(seq: number): Entry | undefined
  /** `onReset` hears that everything before is forgotten, or replaced by what a snapshot held. */
  subscribe(listener: (entry: Entry) => void, onReset?: () => void): () => void
  waitFor(match: (entry: Entry) => boolean, options?: WaitOptions): Promise<Entry>
  /** Forgets everything and rejects whoever waits. Subscribers stay. */
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

  /** A reader that throws is dropped and named: it must not break what it only watches. */
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
    get atMs() {
      return atMs()
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
