/**
 * Records everything that happens, append-only. Log, control API, expectations and reports only read it.
 * It is bounded: it drops the oldest entries first and appends a note when that begins.
 */

import { elapsedMs, roundMs, type Timer, wallTimer } from '../../base/runtime/clock.ts'
import { cut } from '../../base/text/cut.ts'
import { isError, messageOf, systemCodeOf } from '../../base/text/error-text.ts'
import type { Entry, EntryContent, EntryFrame, EntryKind, EntryOf, NoteContent } from './entry.ts'

/** Selects entries of the journal. */
export interface JournalQuery<Kind extends EntryKind = EntryKind> {
  /** Selects entries with a greater `seq`. */
  readonly after?: number
  readonly kind?: Kind
  readonly chatId?: string
  /** The maximum number of entries, the oldest first. */
  readonly limit?: number
}

export interface JournalWaitOptions {
  /** Considers only entries with a greater `seq`. Default 0: all entries. */
  readonly after?: number
  /** Wall-clock milliseconds; without it the wait has no timeout. */
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/** No matching entry was appended in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
}

/** The append-only record of a simulator. Its entries are wire-shaped (snake_case). */
export interface Journal {
  /**
   * Completes `content` to an entry: the same object, which belongs to the journal from then on. `size` is its estimated
   * memory in bytes where the caller knows it.
   */
  append<Content extends EntryContent>(content: Content, cause: number | null, size?: number): Content & EntryFrame
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
  /** Resolves with the first entry that matches, an earlier or a later one. */
  waitFor<Match extends Entry>(match: (entry: Entry) => entry is Match, options?: JournalWaitOptions): Promise<Match>
  waitFor(match: (entry: Entry) => boolean, options?: JournalWaitOptions): Promise<Entry>
  /** Removes all entries and rejects pending waits. Subscribers stay. */
  reset(): void
  /** Resets the journal, and continues from a snapshot. */
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
  /** The time of the next entry. */
  readonly time: () => string
}

interface Subscriber {
  readonly listener: (entry: Entry) => void
  readonly onReset: (() => void) | undefined
}

interface Waiter {
  readonly match: (entry: Entry) => boolean
  readonly after: number
  readonly resolve: (entry: Entry) => void
  readonly reject: (error: unknown) => void
}

export const createJournal = (options: JournalOptions): Journal => new BoundedJournal(options)

class BoundedJournal implements Journal {
  readonly #options: JournalOptions
  /** A ring: the entry `seq` and its size are at `seq % limit`. */
  #entries: (Entry | undefined)[] = []
  #sizes: number[] = []
  #first = 1
  #next = 1
  /** The sum of all sizes, in bytes. */
  #total = 0
  #createdAt = elapsedMs()
  #isEvictionAnnounced = false
  readonly #subscribers = new Set<Subscriber>()
  readonly #waiters = new Set<Waiter>()

  constructor(options: JournalOptions) {
    this.#options = options
  }

  get nextSeq(): number {
    return this.#next
  }

  get atMs(): number {
    return roundMs(elapsedMs() - this.#createdAt)
  }

  get firstSeq(): number {
    return this.#first
  }

  append<Content extends EntryContent>(
    content: Content,
    cause: number | null,
    size = sizeOfEntry(content),
  ): Content & EntryFrame {
    if (!this.#isEvictionAnnounced) this.#announceEviction(size)
    const entry = content as Content & { -readonly [Key in keyof EntryFrame]: EntryFrame[Key] }
    entry.v = 1
    entry.seq = this.#next
    entry.time = this.#options.time()
    entry.cause = cause
    entry.at_ms = this.atMs
    this.#push(entry, size)
    for (const waiter of this.#waiters) offer(waiter, entry)
    for (const subscriber of this.#subscribers) {
      try {
        subscriber.listener(entry)
      } catch (error) {
        // A subscriber that throws is removed, so that it cannot break the simulator.
        this.#subscribers.delete(subscriber)
        this.append({ kind: 'note', note: 'subscriber_failed', message: String(error) }, entry.seq)
      }
    }
    return entry
  }

  query<Kind extends EntryKind = EntryKind>(query: JournalQuery<Kind> = {}): EntryOf<Kind>[] {
    const { after = 0, kind, chatId, limit = Number.POSITIVE_INFINITY } = query
    const isKind = (entry: Entry): entry is EntryOf<Kind> => kind === undefined || entry.kind === kind
    const entries: EntryOf<Kind>[] = []
    for (let seq = Math.max(this.#first, after + 1); seq < this.#next && entries.length < limit; seq++) {
      const entry = this.find(seq)!
      if (isKind(entry) && (chatId === undefined || entry.chat_id === chatId)) entries.push(entry)
    }
    return entries
  }

  find(seq: number): Entry | undefined {
    return seq >= this.#first && seq < this.#next ? this.#entries[seq % this.#options.limit] : undefined
  }

  subscribe(listener: (entry: Entry) => void, onReset?: () => void): () => void {
    const subscriber = { listener, onReset }
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }

  waitFor<Match extends Entry>(match: (entry: Entry) => entry is Match, options?: JournalWaitOptions): Promise<Match>
  waitFor(match: (entry: Entry) => boolean, options?: JournalWaitOptions): Promise<Entry>
  async waitFor(match: (entry: Entry) => boolean, options: JournalWaitOptions = {}): Promise<Entry> {
    const { after = 0, withinMs, signal } = options
    for (let seq = Math.max(this.#first, after + 1); seq < this.#next; seq++) {
      const entry = this.find(seq)!
      if (match(entry)) return entry
    }
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      const end = () => {
        this.#waiters.delete(waiter)
        timer?.cancel()
        signal?.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        match,
        after,
        resolve(entry) {
          end()
          resolve(entry)
        },
        reject(error) {
          end()
          reject(error)
        },
      }
      const onAbort = () => waiter.reject(new WaitTimeoutError('Stopped waiting: aborted.'))
      if (signal?.aborted) return onAbort()
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
      if (withinMs !== undefined)
        timer = wallTimer(withinMs, () =>
          waiter.reject(new WaitTimeoutError(`No matching entry within ${withinMs} ms.`)),
        )
    })
  }

  reset(): void {
    this.#clear(1)
    this.#isEvictionAnnounced = false
    this.#announceReset()
  }

  restore({ nextSeq, atMs, entries }: CapturedJournal): void {
    const latest = entries.slice(-this.#options.limit)
    this.#clear(nextSeq - latest.length)
    for (const entry of latest) this.#push(entry, sizeOfEntry(entry))
    this.#isEvictionAnnounced = entries.length > 0 && this.#first > 1
    this.#createdAt = elapsedMs() - atMs
    this.#announceReset()
  }

  /** Drops the oldest entries that exceed a bound; the newest entry always stays. */
  #push(entry: Entry, size: number): void {
    const { limit } = this.#options
    while (this.#exceededBy(size) !== null) {
      this.#total -= this.#sizes[this.#first % limit]!
      this.#entries[this.#first % limit] = undefined
      this.#first++
    }
    this.#entries[this.#next % limit] = entry
    this.#sizes[this.#next % limit] = size
    this.#total += size
    this.#next++
  }

  /** The setting that evicts an entry when one more of this size is appended. */
  #exceededBy(size: number): 'journalLimit' | 'memoryLimit' | null {
    const count = this.#next - this.#first
    if (count === 0) return null
    if (count >= this.#options.limit) return 'journalLimit'
    return this.#total + size > this.#options.memoryLimit ? 'memoryLimit' : null
  }

  /** Announces the eviction once, before the first entry is evicted; `firstSeq` shows later ones. */
  #announceEviction(size: number): void {
    const setting = this.#exceededBy(size)
    if (setting === null) return
    this.#isEvictionAnnounced = true
    const { limit, memoryLimit } = this.#options
    const message =
      setting === 'journalLimit'
        ? `The journal keeps ${limit} entries (journalLimit); older ones are being dropped.`
        : `The journal keeps ${memoryLimit} bytes (memoryLimit); its oldest entries are being dropped.`
    this.append({ kind: 'note', note: 'evicted', setting, message }, null)
  }

  /** Removes all entries; the next one gets the number `next`. */
  #clear(next: number): void {
    this.#entries = []
    this.#sizes = []
    this.#first = next
    this.#next = next
    this.#total = 0
  }

  #announceReset(): void {
    for (const waiter of [...this.#waiters]) waiter.reject(new Error('The simulator was reset while waiting.'))
    for (const { onReset } of this.#subscribers) onReset?.()
  }
}

/** A condition that throws rejects only its own wait. */
function offer(waiter: Waiter, entry: Entry): void {
  try {
    if (entry.seq > waiter.after && waiter.match(entry)) waiter.resolve(entry)
  } catch (error) {
    waiter.reject(error)
  }
}

/** The memory of an entry beside its bodies and texts, and of a value in plain data, in bytes. */
export const ENTRY_BYTES = 1024
export const VALUE_BYTES = 64

/** The estimated memory of an entry in bytes. */
const sizeOfEntry = (content: EntryContent): number => ENTRY_BYTES + sizeOf(content)

const DEEPEST = 64

/** The estimated memory of plain data in bytes. */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return 0
  let size = 0
  for (const key in value) size += VALUE_BYTES + sizeOf(Reflect.get(value, key), depth + 1)
  return size
}

/** Where the error was thrown. */
export type ErrorPlace = 'call' | 'timer' | 'delivery' | 'answer'

/** Journals a note `internal_error`, from which the log and the reports read it. */
export type OnInternalError = (where: ErrorPlace, error: unknown) => void

const MAX_MESSAGE_CHARS = 500

export const createErrorNotes =
  (journal: Pick<Journal, 'append'>): OnInternalError =>
  (where, error) =>
    void journal.append(errorNote(where, error), null)

export function errorNote(where: ErrorPlace, error: unknown): NoteContent {
  const code = systemCodeOf(error) ?? (isError(error) ? error.name : typeof error)
  return { kind: 'note', note: 'internal_error', where, code, message: cut(messageOf(error), MAX_MESSAGE_CHARS) }
}

/** Names the note about a promise that a webhook function gave to `waitUntil`. */
export const WAIT_UNTIL_FAILED = 'wait_until_failed'

/** Why the work after an answer failed: it rejected, or had not ended in time. */
export type WaitUntilFailure =
  | { readonly code: 'rejected'; readonly detail: string; readonly place?: string }
  | { readonly code: 'unfinished'; readonly timeout_ms: number }

export type WaitUntilNote = EntryOf<'note'> & {
  readonly note: typeof WAIT_UNTIL_FAILED
  readonly event: string
} & WaitUntilFailure

export const isWaitUntilNote = (entry: Entry): entry is WaitUntilNote =>
  entry.kind === 'note' && entry.note === WAIT_UNTIL_FAILED

export type InternalErrorNote = EntryOf<'note'> & { readonly note: 'internal_error' }

export const isInternalError = (entry: Entry): entry is InternalErrorNote =>
  entry.kind === 'note' && entry.note === 'internal_error'
