/** Stores entries, and those that are built when they are first read. */
import { isoMicros } from '../../base/runtime/timestamps.ts'
import type { Entry, EntryContent, EntryFrame } from './entry.ts'
import { type EntryOutline, EntrySource, type JournalSource } from './entry-source.ts'
import { Ring, type RingBound } from './ring.ts'

/** When an entry was appended. */
interface Place {
  readonly seq: number
  /** Microseconds since 1970. */
  readonly stamp: number
  readonly atMs: number
}

/** Adds the frame to the content itself. */
export function complete<Content extends EntryContent>(
  content: Content,
  { seq, stamp, atMs }: Place,
  cause: number | null,
): Content & EntryFrame {
  const frame = { v: 1, seq, time: isoMicros(stamp), cause, at_ms: atMs } as const
  // Node 20 needs more than ten microseconds to spread an object of this size, on every call.
  return Object.assign(content, frame)
}

/** The entries of a journal by their `seq`, bounded by their number and their memory in bytes. */
export class StoredEntries {
  readonly #ring: Ring<Entry | JournalSource>
  readonly #limit: number
  /** Of each source, at the place of its number: lists of numbers need no memory but their own. */
  readonly #stamps: number[] = []
  readonly #times: number[] = []
  /** 0 without a cause. */
  readonly #causes: number[] = []

  constructor(limit: number, memoryLimit: number) {
    this.#limit = limit
    this.#ring = new Ring(limit, memoryLimit, releaseSource)
  }

  get first(): number {
    return this.#ring.first
  }

  get next(): number {
    return this.#ring.next
  }

  wouldExceed(size: number): RingBound | null {
    return this.#ring.wouldExceed(size)
  }

  push(entry: Entry, size: number): void {
    this.#ring.push(entry, size)
  }

  /** Stores an entry that is built when it is first read. */
  pushSource(source: JournalSource, size: number, cause: number | null, stamp: number, atMs: number): void {
    const slot = this.#ring.next % this.#limit
    this.#stamps[slot] = stamp
    this.#times[slot] = atMs
    this.#causes[slot] = cause ?? 0
    this.#ring.push(source, size)
  }

  at(seq: number): Entry | undefined {
    const stored = this.#ring.at(seq)
    return stored instanceof EntrySource ? this.#built(stored, seq) : stored
  }

  /** What is known of an entry without building it. */
  outline(seq: number): EntryOutline | undefined {
    return this.#ring.at(seq)
  }

  sizeOf(seq: number): number {
    return this.#ring.sizeOf(seq)
  }

  *since(after: number): Generator<Entry> {
    for (let seq = Math.max(this.first, after + 1); seq < this.next; seq++) {
      const entry = this.at(seq)
      if (entry !== undefined) yield entry
    }
  }

  /** Removes all entries; the next one gets the number `next`. */
  clear(next?: number): void {
    this.#ring.clear(next)
  }

  #built(source: JournalSource, seq: number): Entry {
    const slot = seq % this.#limit
    const place = { seq, stamp: this.#stamps[slot] ?? 0, atMs: this.#times[slot] ?? 0 }
    const entry: Entry = complete(source.content(), place, this.#causes[slot] || null)
    this.#ring.replace(seq, entry)
    source.release()
    return entry
  }
}

function releaseSource(dropped: Entry | JournalSource): void {
  if (dropped instanceof EntrySource) dropped.release()
}
