/**
 * Records everything that happens, append-only. Log, control API, expectations and reports only read it.
 * It is bounded: it drops the oldest entries first and appends a note when that begins.
 */
import { elapsedMs } from '../runtime/clock.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import type { Entry, EntryContent, EntryFrame, EntryKind, EntryOf } from './entry.ts'
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
  /** Completes `content` to an entry: the same object, which belongs to the journal from then on. */
  append<Content extends EntryContent>(content: Content, cause: number | null): Content & EntryFrame
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

export function createJournal({ limit, stamp }: { limit: number; stamp: () => number }): Journal {
  const ring = createRing<Entry>(limit)
  const waiters = createWaiters(after => ring.since(after))
  const subscribers = createSubscribers((error, { seq }) =>
    write({ kind: 'note', note: 'subscriber_failed', message: String(error) }, seq),
  )
  let createdAt = elapsedMs()
  const atMs = () => Math.round((elapsedMs() - createdAt) * 1000) / 1000

  function write<Content extends EntryContent>(content: Content, cause: number | null): Content & EntryFrame {
    const frame = { v: 1, seq: ring.next, time: isoMicros(stamp()), cause, at_ms: atMs() } as const
    // Node 20 needs more than ten microseconds to spread an object of this size, on every call.
    const entry = Object.assign(content, frame)
    ring.push(entry)
    waiters.offer(entry)
    subscribers.publish(entry)
    return entry
  }

  function endWaits(): void {
    waiters.abandon()
    subscribers.reset()
  }

  return {
    append(content, cause) {
      // Announces the eviction once, before the first entry is evicted; `firstSeq` shows later ones.
      if (ring.next === limit + 1) write({ kind: 'note', note: 'evicted', message: evictionText(limit) }, null)
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
    query: (query = {}) => select(ring.since(query.after ?? 0), query),
    find: seq => ring.at(seq),
    subscribe: subscribers.add,
    waitFor: waiters.waitFor,
    reset() {
      ring.clear()
      endWaits()
    },
    restore({ nextSeq, atMs, entries }) {
      ring.refill(entries.slice(-limit), nextSeq)
      createdAt = elapsedMs() - atMs
      endWaits()
    },
  }
}

const evictionText = (limit: number) => `The journal keeps ${limit} entries; older ones are being dropped.`

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

export interface Ring<T> {
  readonly first: number
  readonly next: number
  push(item: T): void
  at(seq: number): T | undefined
  since(after: number): Iterable<T>
  clear(): void
  /** Replaces all items; the last one gets the number before `next`. */
  refill(items: readonly T[], next: number): void
}

export function createRing<T>(limit: number): Ring<T> {
  let slots: T[] = []
  let next = 1
  let floor = 1
  const first = () => Math.max(floor, next - limit)
  const at = (seq: number) => (seq >= first() && seq < next ? slots[(seq - 1) % limit] : undefined)
  return {
    get first() {
      return first()
    },
    get next() {
      return next
    },
    push(item) {
      slots[(next - 1) % limit] = item
      next++
    },
    at,
    *since(after) {
      for (let seq = Math.max(first(), after + 1); seq < next; seq++) {
        const item = at(seq)
        if (item !== undefined) yield item
      }
    },
    clear() {
      slots = []
      next = 1
      floor = 1
    },
    refill(items, from) {
      slots = []
      floor = from - items.length
      items.forEach((item, index) => {
        slots[(floor - 1 + index) % limit] = item
      })
      next = from
    },
  }
}
