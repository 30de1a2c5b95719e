/** Summarizes a journal entry in one line, counts its remarks, and decides whether it is a problem. */

import { formatMs } from '../../../base/text/terminal-text.ts'
import { rowContent } from '../../../evaluation/timeline/timeline.ts'
import type { Entry, EntryKind, EntryOf } from '../../../platform/journal/entry.ts'
import { isInternalError } from '../../../platform/journal/journal.ts'
import { isAcceptedForgery, isRefusedForgery, isTruncated } from '../../../platform/wording/hints.ts'
import { isTruncatedValue } from './entry-sections.ts'

export interface EntrySummary {
  readonly label: string
  /** A status, a duration, or why there is none. */
  readonly answer: string
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

function noteLabel(entry: EntryOf<'note'>): string {
  const field = (name: string) => (typeof entry[name] === 'string' ? entry[name] : '')
  switch (entry.note) {
    case 'chat_created':
      return `a chat begins (${[field('language'), field('source')].filter(Boolean).join(', ')})`
    case 'taken_over':
      return `${field('by') || 'an agent'} takes the chat over`
    case 'takeover_replaced':
      return `${field('by') || 'another agent'} takes the chat over from an agent`
    case 'handed_back':
      return `${field('by') || 'the agent'} hands the chat back`
    case 'availability':
      return `availability ${field('availability')}`
    case 'event_triggered':
      return `${field('event')} is sent manually`
    default:
      return entry.note.replaceAll('_', ' ')
  }
}

/** How many remarks of each sort an entry has. */
export interface EntryRemarks {
  readonly findings: number
  readonly assumptions: number
  readonly faults: number
}

export function remarksOf(entry: Entry): EntryRemarks {
  const faults = entry.kind === 'api' || entry.kind === 'delivery' ? (entry.faults?.length ?? 0) : 0
  if (entry.kind !== 'api') return { findings: 0, assumptions: 0, faults }
  const { findings, unspecified } = entry
  return {
    findings: isTruncatedValue(findings) ? 0 : findings.length,
    assumptions: Object.keys(unspecified).length,
    faults,
  }
}

/**
 * A refused call, a finding, a hit of a fault, an event that was not acknowledged although there is a webhook, an invalid
 * signature that was accepted.
 */
export function isProblem(entry: Entry): boolean {
  switch (entry.kind) {
    case 'api':
      return (
        entry.status >= 400 || entry.status === 0 || entry.answer_lost !== undefined || remarksOf(entry).findings > 0
      )
    case 'delivery':
      if (entry.probe !== undefined || isRefusedForgery(entry)) return false
      if (isTruncated(entry) && (entry.status ?? 0) >= 400) return false
      return isAcceptedForgery(entry) || (entry.outcome !== 'delivered' && entry.failure?.code !== 'no_url')
    case 'fault':
      return true
    case 'note':
      return entry.note === 'evicted' || isInternalError(entry)
    case 'driver':
      return entry.failure !== undefined
    default:
      return false
  }
}

/** Whether a problem is what a fault of the user did. */
export const isOrdered = (entry: Entry): boolean => entry.kind === 'fault' || remarksOf(entry).faults > 0

export const KIND_NAMES: Readonly<Record<EntryKind, string>> = {
  api: 'call',
  event: 'event',
  delivery: 'delivery',
  user: 'user',
  note: 'note',
  fault: 'fault',
  driver: 'driver',
}
