/** Filters a journal that grows: each step looks at a bounded number of new entries, however long the journal is. */

import { labelOf, lineOf } from '../../../evaluation/timeline/entry-line.ts'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import type { Entry, EntryKind } from '../../../platform/journal/entry.ts'
import { countUntil, type JournalLog } from './journal-log.ts'

export interface EntryFilter {
  /** Words that all occur in the label, the path or the bodies; empty for every entry. */
  readonly text: string
  /** Null for all kinds. */
  readonly kind: EntryKind | null
  /** Only entries of this chat, and those of no chat since it was created; null for all. */
  readonly chat: string | null
  readonly onlyProblems: boolean
  /** Only entries after this one; 0 for all. */
  readonly after: number
}

/** Those entries and rows of a log that pass a filter. */
export interface FilteredLog {
  readonly entries: readonly Entry[]
  /** The rows that show at least one of the entries. */
  readonly rows: readonly TimelineRow[]
  /** Looks at further entries of the log, to which entries were added. Returns whether there are more of them. */
  advance(log: JournalLog): boolean
}

/** Entries that one step looks at: fewer when their bodies are searched. */
const STEP = 20_000
const SEARCHED_STEP = 1_500

export function filterLog(all: JournalLog, filter: EntryFilter): FilteredLog {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const { kind, chat, onlyProblems, after } = filter
  if (words.length === 0 && kind === null && chat === null && !onlyProblems && after === 0)
    return { entries: all.entries, rows: all.rows, advance: () => false }
  const entries: Entry[] = []
  const rows: TimelineRow[] = []
  const step = words.length === 0 ? STEP : SEARCHED_STEP
  let [seen, dropped] = [after, 0]
  return {
    entries,
    rows,
    advance(log) {
      if (log.droppedUntil > dropped) {
        dropped = log.droppedUntil
        for (const list of [entries, rows]) list.splice(0, countUntil(list, dropped))
      }
      const from = countUntil(log.entries, seen)
      const until = Math.min(log.entries.length, from + step)
      for (let index = from; index < until; index++) {
        const entry = log.entries[index]
        if (entry === undefined || !isInView(entry, filter, log)) continue
        if (passes(entry, filter, words)) keep(entry, log, entries, rows)
      }
      seen = log.entries[until - 1]?.seq ?? seen
      return until < log.entries.length
    },
  }
}

/** Of entries without a chat, those from before the chat belong to others. */
export function isInView(
  { seq, chat_id }: Entry,
  { chat, after }: Pick<EntryFilter, 'chat' | 'after'>,
  { chats }: JournalLog,
): boolean {
  if (seq <= after) return false
  if (chat === null) return true
  return chat_id === undefined ? seq >= (chats.get(chat)?.[0]?.seq ?? 0) : chat_id === chat
}

function passes(entry: Entry, { kind, onlyProblems }: EntryFilter, words: readonly string[]): boolean {
  if (kind !== null && entry.kind !== kind) return false
  if (onlyProblems && problemIn(entry) === null) return false
  if (words.length === 0) return true
  // Its line and all its values in lower case, without the names that every entry has.
  const line = lineOf(entry)
  const values = contentsOf(entry).map(value => JSON.stringify(value) ?? '')
  const text = [labelOf(line), line.answer?.short, ...values].join('\n').toLowerCase()
  return words.every(word => text.includes(word))
}

/** A row that began earlier and matches only now goes to its place. */
function keep(entry: Entry, log: JournalLog, entries: Entry[], rows: TimelineRow[]): void {
  entries.push(entry)
  const row = log.row(entry.seq)
  if (row === undefined) return
  const index = countUntil(rows, row.seq)
  if (rows[index - 1] !== row) rows.splice(index, 0, row)
}

function contentsOf(entry: Entry): readonly unknown[] {
  switch (entry.kind) {
    case 'api':
      return [entry.path, entry.request.body, entry.response, entry.findings, entry.request.headers]
    case 'delivery':
      return [entry.event, entry.delivery_id, entry.request, entry.response]
    case 'event':
      return [entry.payload, entry.delivery_id]
    default: {
      const { v, seq, time, at_ms, cause, kind, ...content } = entry
      return [content]
    }
  }
}
