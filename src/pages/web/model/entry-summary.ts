/** Summarizes a journal entry in one line, counts its remarks, and decides whether it is a problem. */

import { formatMs } from '../../../base/text/terminal-text.ts'
import { rowContent } from '../../../evaluation/timeline/timeline.ts'
import type { Entry, EntryKind } from '../../../platform/journal/entry.ts'
import { isInternalError } from '../../../platform/journal/journal.ts'
import { isInvalidSign } from '../../../platform/wording/hints.ts'
import { isTruncatedValue } from './entry-sections.ts'

export interface EntrySummary {
  readonly label: string
  /** A status, a duration, or why there is none. */
  readonly answer: string
}

const TEXTS = {
  chat_created: (language: string, source: string) =>
    `a chat begins (${[language, source].filter(Boolean).join(', ')})`,
  taken_over: (by: string) => `${by || 'an agent'} takes the chat over`,
  takeover_replaced: (by: string) => `${by || 'another agent'} takes the chat over from an agent`,
  handed_back: (by: string) => `${by || 'the agent'} hands the chat back`,
  availability: (value: string) => `availability ${value}`,
  event_triggered: (event: string) => `${event} is sent manually`,
}

/** The fields of a note that its text names. */
const NOTE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  chat_created: ['language', 'source'],
  taken_over: ['by'],
  takeover_replaced: ['by'],
  handed_back: ['by'],
  availability: ['availability'],
  event_triggered: ['event'],
}

export function summaryOf(entry: Entry): EntrySummary {
  const row = rowContent(entry)
  const answer = row?.answer ?? ''
  if (entry.kind === 'api') {
    const duration = formatMs(entry.duration_ms)
    return { label: row?.label ?? entry.path, answer: answer === '' ? duration : `${answer}, ${duration}` }
  }
  if (row !== null) return { label: row.label, answer }
  return { label: entry.kind === 'note' ? noteLabel(entry) : entry.kind, answer }
}

function noteLabel(entry: Extract<Entry, { kind: 'note' }>): string {
  const fields = NOTE_FIELDS[entry.note]
  const text: ((...values: string[]) => string) | undefined = Reflect.get(TEXTS, entry.note)
  if (fields === undefined || text === undefined) return entry.note.replaceAll('_', ' ')
  return text(...fields.map(name => (typeof entry[name] === 'string' ? entry[name] : '')))
}

/** How many remarks of each sort an entry has. */
export interface EntryRemarks {
  readonly findings: number
  readonly assumptions: number
  readonly faults: number
}

const NONE: EntryRemarks = { findings: 0, assumptions: 0, faults: 0 }

export function remarksOf(entry: Entry): EntryRemarks {
  if (entry.kind === 'delivery') return entry.faults === undefined ? NONE : { ...NONE, faults: entry.faults.length }
  if (entry.kind !== 'api') return NONE
  const { findings, unspecified } = entry
  return {
    findings: isTruncatedValue(findings) ? 0 : findings.length,
    assumptions: Object.keys(unspecified).length,
    faults: entry.faults?.length ?? 0,
  }
}

/** Notes that say that something failed or was lost. */
const PROBLEM_NOTES: ReadonlySet<string> = new Set(['evicted'])

/**
 * A refused call, a finding, a hit of a fault, an event that was not acknowledged although there is a webhook, an invalid
 * signature that was accepted.
 */
export function isProblem(entry: Entry): boolean {
  switch (entry.kind) {
    case 'api':
      return entry.status >= 400 || entry.answer_lost !== undefined || remarksOf(entry).findings > 0
    case 'delivery':
      return entry.outcome === 'delivered' ? isInvalidSign(entry.sign) : entry.failure?.code !== 'no_url'
    case 'fault':
      return true
    case 'note':
      return PROBLEM_NOTES.has(entry.note) || isInternalError(entry)
    case 'driver':
      return entry.failure !== undefined
    default:
      return false
  }
}

export const KIND_NAMES: Readonly<Record<EntryKind, string>> = {
  api: 'call',
  event: 'event',
  delivery: 'delivery',
  user: 'user',
  note: 'note',
  fault: 'fault',
  driver: 'driver',
}
