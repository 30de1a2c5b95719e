/** Keeps one byte for each entry, from which a time line of any width is drawn without a look at the entries. */
import type { Entry } from '../../../platform/journal/entry.ts'
import { isProblem } from './entry-summary.ts'

const CALL = 1
const EVENT = 2
const PROBLEM = 4

export interface TimeMarks {
  add(entry: Entry): void
  /** Forgets the oldest entries. */
  drop(count: number): void
  /** What happened in each of `columns` equal parts of the journal. */
  columns(columns: number): readonly MarkColumn[]
}

export interface MarkColumn {
  readonly hasCall: boolean
  readonly hasEvent: boolean
  readonly hasProblem: boolean
}

export function createTimeMarks(): TimeMarks {
  let flags = new Uint8Array(1024)
  let count = 0
  return {
    add(entry) {
      if (count === flags.length) {
        const grown = new Uint8Array(2 * count)
        grown.set(flags)
        flags = grown
      }
      flags[count++] = flagsOf(entry)
    },
    drop(dropped) {
      flags.copyWithin(0, dropped, count)
      count -= dropped
    },
    columns: columns => columnsOf(flags.subarray(0, count), columns),
  }
}

const flagsOf = (entry: Entry): number =>
  (entry.kind === 'api' ? CALL : entry.kind === 'event' || entry.kind === 'delivery' ? EVENT : 0) |
  (isProblem(entry) ? PROBLEM : 0)

function columnsOf(flags: Uint8Array, columns: number): MarkColumn[] {
  const joined = new Uint8Array(columns)
  for (let index = 0; index < flags.length; index++) {
    const column = Math.floor((index * columns) / flags.length)
    joined[column] = (joined[column] ?? 0) | (flags[index] ?? 0)
  }
  return Array.from(joined, found => ({
    hasCall: (found & CALL) !== 0,
    hasEvent: (found & EVENT) !== 0,
    hasProblem: (found & PROBLEM) !== 0,
  }))
}
