/**
 * Records everything that happens, append-only. Log, control API, expectations and reports only read it.
 * It is bounded: it drops the oldest entries first and appends a note when that begins.
 */
import { elapsedMs, roundMs } from '../../base/runtime/clock.ts'
import type { Entry, EntryContent, EntryFrame, EntryKind, EntryOf } from './entry.ts'
import type { EntryOutline, JournalSource } from './entry-source.ts'
import { sizeOfEntry } from './long-bodies.ts'
import { complete, StoredEntries } from './stored-entries.ts'
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

/** Decides from what is known of an entry before it is built. */
export type Wants = (outline: EntryOutline) => boolean

/** The append-only record of a simulator. Its entries are wire-shaped (snake_case). */
export interface Journal {
  /** Completes `content` to an entry: the same object, which belongs to the journal from then on. */
  append<Content extends EntryContent>(content: Content, cause: number | null): Content & EntryFrame
  /** Appends an entry that is built when it is first read. Returns its `seq`. */
  appendSource(source: JournalSource, cause: number | null): number
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
  /**
   * Calls `onReset` when all entries are removed, or replaced by those of a snapshot. With `wants`, the listener gets
   * only entries for which it is true; other calls, events and deliveries are not built.
   */
  subscribe(listener: (entry: Entry) => void, onReset?: () => void, wants?: Wants): () => void
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

export const createJournal = (options: JournalOptions): Journal => new BoundedJournal(options)

/** A class, because V8 keeps an object with getters of its own as a dictionary. */
class BoundedJournal implements Journal {
  readonly #options: JournalOptions
  readonly #entries: StoredEntries
  readonly #waiters = createWaiters(after => this.#entries.since(after))
  readonly #subscribers: Subscribers
  #createdAt = elapsedMs()
  #isAnnounced = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#entries = new StoredEntries(options.limit, options.memoryLimit)
    this.#subscribers = createSubscribers(this.#entries, (error, seq) =>
      this.append({ kind: 'note', note: 'subscriber_failed', message: String(error) }, seq),
    )
  }

  get nextSeq(): number {
    return this.#entries.next
  }

  get atMs(): number {
    return roundMs(elapsedMs() - this.#createdAt)
  }

  get firstSeq(): number {
    return this.#entries.first
  }

  append<Content extends EntryContent>(content: Content, cause: number | null): Content & EntryFrame {
    const size = sizeOfEntry(content)
    this.#announceEviction(size)
    const place = { seq: this.nextSeq, stamp: this.#options.stamp(), atMs: this.atMs }
    const entry = complete(content, place, cause)
    this.#entries.push(entry, size)
    this.#tell(entry.seq)
    return entry
  }

  appendSource(source: JournalSource, cause: number | null): number {
    const { size } = source
    this.#announceEviction(size)
    const seq = this.nextSeq
    this.#entries.pushSource(source, size, cause, this.#options.stamp(), this.atMs)
    this.#tell(seq)
    return seq
  }

  query<Kind extends EntryKind = EntryKind>(query: JournalQuery<Kind> = {}): EntryOf<Kind>[] {
    return select(this.#entries, query)
  }

  find(seq: number): Entry | undefined {
    return this.#entries.at(seq)
  }

  sizeOf(seq: number): number {
    return this.#entries.sizeOf(seq)
  }

  subscribe(listener: (entry: Entry) => void, onReset?: () => void, wants?: Wants): () => void {
    return this.#subscribers.add(listener, onReset, wants)
  }

  waitFor<Match extends Entry>(match: (entry: Entry) => entry is Match, options?: JournalWaitOptions): Promise<Match>
  waitFor(match: (entry: Entry) => boolean, options?: JournalWaitOptions): Promise<Entry>
  waitFor(match: (entry: Entry) => boolean, options?: JournalWaitOptions): Promise<Entry> {
    return this.#waiters.waitFor(match, options)
  }

  reset(): void {
    this.#entries.clear()
    this.#isAnnounced = false
    this.#endWaits()
  }

  restore({ nextSeq, atMs, entries: captured }: CapturedJournal): void {
    const latest = captured.slice(-this.#options.limit)
    this.#entries.clear(nextSeq - latest.length)
    for (const entry of latest) this.#entries.push(entry, sizeOfEntry(entry))
    this.#isAnnounced = captured.length > 0 && this.firstSeq > 1
    this.#createdAt = elapsedMs() - atMs
    this.#endWaits()
  }

  /** Builds the entry only when it is wanted. */
  #tell(seq: number): void {
    if (this.#waiters.isWaiting()) this.#waiters.offer(this.#entries.at(seq)!)
    this.#subscribers.publish(seq)
  }

  /** Announces the eviction once, before the first entry is evicted; `firstSeq` shows later ones. */
  #announceEviction(size: number): void {
    const bound = this.#isAnnounced ? null : this.#entries.wouldExceed(size)
    if (bound === null) return
    this.#isAnnounced = true
    const { limit, memoryLimit } = this.#options
    const message =
      bound === 'count'
        ? `The journal keeps ${limit} entries (journalLimit); older ones are being dropped.`
        : `The journal keeps ${memoryLimit} bytes (memoryLimit); its oldest entries are being dropped.`
    const setting = bound === 'count' ? 'journalLimit' : 'memoryLimit'
    this.append({ kind: 'note', note: 'evicted', setting, message }, null)
  }

  #endWaits(): void {
    this.#waiters.abandon()
    this.#subscribers.reset()
  }
}

/** Builds only the entries that match. */
function select<Kind extends EntryKind>(entries: StoredEntries, query: JournalQuery<Kind>): EntryOf<Kind>[] {
  const { after = 0, kind, chatId, limit = Number.POSITIVE_INFINITY } = query
  const isKind = (entry: Entry): entry is EntryOf<Kind> => (kind ?? entry.kind) === entry.kind
  const isMatch = (outline: EntryOutline | undefined): boolean =>
    (kind ?? outline?.kind) === outline?.kind && (chatId ?? outline?.chat_id) === outline?.chat_id
  const found: EntryOf<Kind>[] = []
  for (let seq = Math.max(entries.first, after + 1); seq < entries.next && found.length < limit; seq++) {
    const entry = isMatch(entries.outline(seq)) ? entries.at(seq) : undefined
    if (entry !== undefined && isKind(entry)) found.push(entry)
  }
  return found
}

type Subscribers = ReturnType<typeof createSubscribers>

interface Subscriber {
  readonly listener: (entry: Entry) => void
  readonly onReset: (() => void) | undefined
  readonly wants: Wants | undefined
}

/** Removes a subscriber that throws, and calls `onFailure`, so that it cannot break the simulator. */
function createSubscribers(
  entries: Pick<StoredEntries, 'at' | 'outline'>,
  onFailure: (error: unknown, seq: number) => void,
) {
  const subscribers = new Set<Subscriber>()
  const tell = ({ listener, wants }: Subscriber, seq: number) => {
    if (wants === undefined || wants(entries.outline(seq)!)) listener(entries.at(seq)!)
  }
  return {
    add(listener: (entry: Entry) => void, onReset?: () => void, wants?: Wants): () => void {
      const subscriber = { listener, onReset, wants }
      subscribers.add(subscriber)
      return () => void subscribers.delete(subscriber)
    },
    publish(seq: number): void {
      for (const subscriber of subscribers) {
        try {
          tell(subscriber, seq)
        } catch (error) {
          subscribers.delete(subscriber)
          onFailure(error, seq)
        }
      }
    },
    reset(): void {
      for (const { onReset } of subscribers) onReset?.()
    },
  }
}
