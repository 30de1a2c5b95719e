/** Stores entries, and those that are built when they are first read. */
import { isoMicros } from '../runtime/timestamps.ts'
import type { Entry, EntryContent, EntryFrame } from './entry.ts'
import { type EntryOutline, EntrySource, type JournalSource } from './entry-source.ts'
import { createRing, type Ring, type RingBound } from './ring.ts'

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

export interface StoredEntries extends Omit<Ring<Entry>, 'push' | 'replace'> {
  push(entry: Entry, size: number): void
  /** Stores an entry that is built when it is first read. */
  pushSource(source: JournalSource, size: number, cause: number | null, stamp: number, atMs: number): void
  /** What is known of an entry without building it. */
  outline(seq: number): EntryOutline | undefined
}

export function createEntries(limit: number, memoryLimit: number): StoredEntries {
  const ring = createRing<Entry | JournalSource>(limit, memoryLimit, dropped => {
    if (dropped instanceof EntrySource) dropped.release()
  })
  /** Of each source, at the place of its number: lists of numbers need no memory but their own. */
  const stamps: number[] = []
  const times: number[] = []
  /** 0 without a cause. */
  const causes: number[] = []

  function at(seq: number): Entry | undefined {
    const stored = ring.at(seq)
    return stored instanceof EntrySource ? built(stored, seq) : stored
  }
  function built(source: EntrySource, seq: number): Entry {
    const slot = seq % limit
    const place = { seq, stamp: stamps[slot] ?? 0, atMs: times[slot] ?? 0 }
    const entry: Entry = complete(source.content(), place, causes[slot] || null)
    ring.replace(seq, entry)
    source.release()
    return entry
  }

  return {
    get first() {
      return ring.first
    },
    get next() {
      return ring.next
    },
    wouldExceed: (size: number): RingBound | null => ring.wouldExceed(size),
    push: ring.push,
    pushSource(source, size, cause, stamp, atMs) {
      const slot = ring.next % limit
      stamps[slot] = stamp
      times[slot] = atMs
      causes[slot] = cause ?? 0
      ring.push(source, size)
    },
    at,
    outline: ring.at,
    sizeOf: ring.sizeOf,
    *since(after) {
      for (let seq = Math.max(ring.first, after + 1); seq < ring.next; seq++) {
        const entry = at(seq)
        if (entry !== undefined) yield entry
      }
    },
    clear: ring.clear,
  }
}
