/**
 * Records everything that happens, append-only. Log, control API, expectations and reports only read it.
 * It is bounded: it drops the oldest entries first and appends a note when that begins.
 */
import { elapsedMs, roundMs } from '../runtime/clock.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import { defineTexts } from '../text/texts.ts'
import type { Entry, EntryContent, EntryFrame, EntryKind, EntryOf } from './entry.ts'
import { sizeOfEntry } from './long-bodies.ts'
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
  /**
   * Completes `content` to an entry: the same object, which belongs to the journal from then on. `bodySize` is
   * the memory of its bodies in bytes, where the caller knows it; otherwise it is estimated.
   */
  append<Content extends EntryContent>(content: Content, cause: number | null, bodySize?: number): Content & EntryFrame
  /** The `seq` of the next entry. */
  readonly nextSeq: number
  /** Wall-clock milliseconds since the journal was created: `at_ms` of an entry appended now. */
  readonly atMs: number
  /** The oldest `seq` in the journal; greater than 1 after entries were evicted. */
  readonly firstSeq: number
  query<Kind extends EntryKind = EntryKind>(query?: JournalQuery<Kind>): EntryOf<Kind>[]
  find(seq: number): Entry | undefined
  /** The estimated memory of an entry in bytes; 0 when it is not in the journal. */
  sizeOf(seq: number): number
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

export interface JournalOptions {
  /** The maximum number of entries. */
  readonly limit: number
  /** The maximum of the estimated memory of all entries, in bytes. */
  readonly memoryLimit: number
  readonly stamp: () => number
}

export function createJournal({ limit, memoryLimit, stamp }: JournalOptions): Journal {
  const ring = createRing<Entry>(limit, memoryLimit)
  const waiters = createWaiters(after => ring.since(after))
  const subscribers = createSubscribers((error, { seq }) =>
    write({ kind: 'note', note: 'subscriber_failed', message: String(error) }, seq),
  )
  let createdAt = elapsedMs()
  let isAnnounced = false
  const atMs = () => roundMs(elapsedMs() - createdAt)

  function write<Content extends EntryContent>(
    content: Content,
    cause: number | null,
    size = sizeOfEntry(content),
  ): Content & EntryFrame {
    if (!isAnnounced && ring.wouldExceed(size) !== null) announce(ring.wouldExceed(size))
    const frame = { v: 1, seq: ring.next, time: isoMicros(stamp()), cause, at_ms: atMs() } as const
    // Node 20 needs more than ten microseconds to spread an object of this size, on every call.
    const entry = Object.assign(content, frame)
    ring.push(entry, size)
    waiters.offer(entry)
    subscribers.publish(entry)
    return entry
  }

  /** Announces the eviction once, before the first entry is evicted; `firstSeq` shows later ones. */
  function announce(bound: RingBound | null): void {
    isAnnounced = true
    const message = bound === 'count' ? TEXTS.tooMany(limit) : TEXTS.tooLarge(memoryLimit)
    const setting = bound === 'count' ? 'journalLimit' : 'memoryLimit'
    write({ kind: 'note', note: 'evicted', setting, message }, null)
  }

  function endWaits(): void {
    waiters.abandon()
    subscribers.reset()
  }

  return {
    append: (content, cause, bodySize) =>
      write(content, cause, bodySize === undefined ? undefined : sizeOfEntry(content, bodySize)),
    get nextSeq() {
      return ring.next
    },
    get atMs() {
      return atMs()
    },
    get firstSeq() {
      return ring.first
    },
    query: (query = {}) => select(ring.since(query.after ?? 0), query),
    find: seq => ring.at(seq),
    sizeOf: seq => ring.sizeOf(seq),
    subscribe: subscribers.add,
    waitFor: waiters.waitFor,
    reset() {
      ring.clear()
      isAnnounced = false
      endWaits()
    },
    restore({ nextSeq, atMs, entries }) {
      const latest = entries.slice(-limit)
      ring.clear(nextSeq - latest.length)
      for (const entry of latest) ring.push(entry, sizeOfEntry(entry))
      isAnnounced = entries.length > 0 && ring.first > 1
      createdAt = elapsedMs() - atMs
      endWaits()
    },
  }
}

const TEXTS = defineTexts({
  tooMany: (limit: number) => `The journal keeps ${limit} entries (journalLimit); older ones are being dropped.`,
  tooLarge: (limit: number) => `The journal keeps ${limit} bytes (memoryLimit); its oldest entries are being dropped.`,
})

function select<Kind extends EntryKind>(entries: Iterable<Entry>, query: JournalQuery<Kind>): EntryOf<Kind>[] {
  const { kind, chatId, limit = Number.POSITIVE_INFINITY } = query
  const isMatch = (entry: Entry): entry is EntryOf<Kind> =>
    (kind ?? entry.kind) === entry.kind && (chatId ?? entry.chat_id) === entry.chat_id
  const found: EntryOf<Kind>[] = []
  for (const entry of entries) {
    if (found.length >= limit) break
    if (isMatch(entry)) found.push(entry)
  }
  return found
}

type Subscriber = (entry: Entry) => void

/** Removes a subscriber that throws, and calls `onFailure`, so that it cannot break the simulator. */
function createSubscribers(onFailure: (error: unknown, entry: Entry) => void) {
  const subscribers = new Map<Subscriber, (() => void) | undefined>()
  return {
    add(subscriber: Subscriber, onReset?: () => void): () => void {
      subscribers.set(subscriber, onReset)
      return () => void subscribers.delete(subscriber)
    },
    publish(entry: Entry): void {
      for (const subscriber of subscribers.keys()) {
        try {
          subscriber(entry)
        } catch (error) {
          subscribers.delete(subscriber)
          onFailure(error, entry)
        }
      }
    },
    reset(): void {
      for (const onReset of subscribers.values()) onReset?.()
    },
  }
}

type RingBound = 'count' | 'size'

/** Stores a sequence numbered from 1, bounded by the number of items and by the sum of their sizes. */
export interface Ring<T> {
  readonly first: number
  readonly next: number
  /** The bound that evicts an item when one more of this size is pushed. */
  wouldExceed(size: number): RingBound | null
  /** Drops the oldest items that exceed a bound; the newest item always stays. */
  push(item: T, size?: number): void
  at(seq: number): T | undefined
  sizeOf(seq: number): number
  since(after: number): Iterable<T>
  /** Removes all items; the next one gets the number `next`. */
  clear(next?: number): void
}

export function createRing<T>(limit: number, sizeLimit = Number.POSITIVE_INFINITY): Ring<T> {
  let slots: (T | undefined)[] = []
  let sizes: number[] = []
  let next = 1
  let first = 1
  let total = 0
  const at = (seq: number) => (seq >= first && seq < next ? slots[(seq - 1) % limit] : undefined)

  function wouldExceed(size: number): RingBound | null {
    if (first === next) return null
    return next - first >= limit ? 'count' : total + size > sizeLimit ? 'size' : null
  }

  function evict(): void {
    const slot = (first - 1) % limit
    total -= sizes[slot] ?? 0
    slots[slot] = undefined
    first++
  }

  return {
    get first() {
      return first
    },
    get next() {
      return next
    },
    wouldExceed,
    push(item, size = 0) {
      while (wouldExceed(size) !== null) evict()
      const slot = (next - 1) % limit
      slots[slot] = item
      sizes[slot] = size
      total += size
      next++
    },
    at,
    sizeOf: seq => (at(seq) === undefined ? 0 : (sizes[(seq - 1) % limit] ?? 0)),
    *since(after) {
      for (let seq = Math.max(first, after + 1); seq < next; seq++) {
        const item = at(seq)
        if (item !== undefined) yield item
      }
    },
    clear(from = 1) {
      slots = []
      sizes = []
      first = from
      next = from
      total = 0
    },
  }
}
