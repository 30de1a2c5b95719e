/** Turns calls of the agent driver into rows of a timeline. */

import type { Entry } from '../journal/entry.ts'
import { type DriverCallEntry, type InboxItem, isDriverCall } from '../scenario/run-events.ts'
import { counted } from '../text/quantities.ts'
import { formatMs, quote } from '../text/terminal-text.ts'
import { driverFailureText } from '../wording/run-failures.ts'
import { oneLine, quoted, type RowContent } from './row.ts'

const VERB_TEXTS: Readonly<Record<string, string>> = {
  accept: 'accepts',
  says: 'says',
  type: 'types',
  stop: 'stops typing',
  leave: 'leaves',
  away: 'goes away',
  back: 'comes back',
}

export function driverRow(call: DriverCallEntry): RowContent {
  const verb = String(call.verb)
  const ok = call.outcome === 'ok'
  const answer = call.status === undefined ? call.outcome : `${call.status} in ${formatMs(call.duration_ms)}`
  const why = ok || call.failure === undefined ? answer : oneLine(driverFailureText(call.failure), 80)
  const from = verb.startsWith('target.') ? 'player' : 'agent'
  const words = call.text !== undefined ? ` ${quoted(call.text)}` : ''
  const label = `${VERB_TEXTS[verb] ?? oneLine(verb.replace(/^does\./, 'does '), 40)}${words}`
  return { from, to: 'intermediary', kind: 'driver', label, answer: why, ok }
}

export const isInboxRead = (entry: Entry): entry is DriverCallEntry => isDriverCall(entry) && entry.verb === 'inbox'

/** Shows the items after `known`, those of the previous read. */
export function inboxRow(entry: DriverCallEntry, known: readonly InboxItem[]): RowContent {
  const { items = [], outcome, failure, status } = entry
  const base = { from: 'intermediary', to: 'agent', kind: 'driver' } as const
  if (outcome !== 'ok') {
    const why = failure === undefined ? (status ?? 'no answer') : driverFailureText(failure)
    return { ...base, label: `inbox: ${oneLine(why, 80)}`, ok: status === 404 }
  }
  const fresh = items.slice(known.length).map(itemWords)
  const label = fresh.length > 0 ? fresh.slice(0, 3).join(', ') : counted(items.length, 'item')
  return { ...base, label: `inbox: ${label}${fresh.length > 3 ? `, ${fresh.length - 3} more` : ''}`, ok: true }
}

/** `"Hello" with 2 files`, `a request`. */
function itemWords({ request, text, attachments = [] }: InboxItem): string {
  const files = attachments.length === 0 ? '' : counted(attachments.length, 'file')
  const words = [request ? 'a request' : '', typeof text === 'string' && text !== '' ? quote(text, 60) : '']
  return [...words, files].filter(Boolean).join(' with ') || 'an empty item'
}
