/** One journal entry as a row of a timeline: who did it to whom, and in which words. */

import type { Entry, EntryOf } from '../journal/entry.ts'
import { counted } from '../text/counted.ts'
import { formatMs } from '../text/terminal-text.ts'
import { failureText } from '../wording/delivery.ts'
import { effectText, notAppliedText } from '../wording/faults.ts'
import { asDriverEntry, seenDriver } from './driver-rows.ts'
import { seenNote } from './note-rows.ts'
import { line, type Seen, said } from './row.ts'

/** Null for what another entry already says. */
export function seen(entry: Entry): Seen | null {
  switch (entry.kind) {
    case 'user':
      return { from: 'user', to: 'platform', kind: 'action', label: userLabel(entry), ok: true }
    case 'event':
      return { from: 'platform', to: 'intermediary', kind: 'event', label: eventLabel(entry), ok: true }
    case 'delivery':
      return seenDelivery(entry)
    case 'api':
      return seenCall(entry)
    case 'driver':
      return seenDriver(asDriverEntry(entry))
    case 'fault':
      return { from: 'player', to: 'platform', kind: 'fault', label: faultLabel(entry), ok: true }
    case 'note':
      return seenNote(entry)
  }
}

function userLabel({ action, button, text = '', attachments = [] }: EntryOf<'user'>): string {
  if (action === 'press') return `presses ${said(button ?? '')}`
  const files = attachments.length === 0 ? '' : counted(attachments.length, 'file')
  return text === '' ? `sends ${files || 'nothing'}` : `${said(text)}${files && ` with ${files}`}`
}

function eventLabel({ event, payload }: EntryOf<'event'>): string {
  const name = line(event, 60)
  return 'message' in payload ? `${name} ${said(payload.message)}` : name
}

/** A retry, a duplicate, or one that was sent by hand. */
function seenDelivery(entry: EntryOf<'delivery'>): Seen {
  const { attempt, duplicate, triggered, resent, sign = 'valid' } = entry
  const how = [
    duplicate ? 'a copy' : attempt > 1 && !resent ? `try ${attempt}` : '',
    resent ? 'sent again' : triggered ? 'sent by hand' : '',
    sign === 'valid' ? '' : `signature: ${sign}`,
  ].filter(Boolean)
  const label = [line(entry.event, 40), ...how].join(', ')
  const ok = entry.outcome === 'delivered'
  return { from: 'platform', to: 'intermediary', kind: 'event', label, answer: answerOf(entry, 0), ok }
}

const HELD_MS = 100

/** `200 in 31 ms`, `no answer: connection refused`; with what held it back. */
export function answerOf({ status, duration_ms, failure, outcome }: EntryOf<'delivery'>, heldMs: number): string {
  const held = heldMs >= HELD_MS ? `, sent ${formatMs(heldMs)} later` : ''
  if (outcome === 'skipped') return `not sent: ${line(failureText(failure), 80)}`
  if (status === null) return `no answer: ${line(failureText(failure), 80)}${held}`
  return `${status} in ${formatMs(duration_ms)}${held}`
}

function seenCall(entry: EntryOf<'api'>): Seen {
  const { endpoint, method, path, request, status } = entry
  const body = (request.body ?? {}) as { message?: unknown }
  const words = endpoint === 'message' && typeof body.message === 'string' ? ` ${said(body.message)}` : ''
  const label = `${line(method, 10)} ${endpoint ?? line(path, 60)}${words}`
  return { from: 'intermediary', to: 'platform', kind: 'call', label, answer: replyOf(entry), ok: status < 400 }
}

const LOST = { before: 'lost before it was processed', after: 'processed, its answer lost' }

function replyOf({ status, response, answer_lost }: EntryOf<'api'>): string {
  if (answer_lost !== undefined) return LOST[answer_lost]
  const { event, error } = (response ?? {}) as { event?: unknown; error?: { code?: unknown } }
  const word = typeof event === 'string' ? event : typeof error?.code === 'string' ? error.code : ''
  return `${status} ${line(word, 80)}`.trimEnd()
}

function faultLabel({ fault, effect, hit, of, not_applied }: EntryOf<'fault'>): string {
  const count = of === null ? `hit ${hit}` : `${hit} of ${of}`
  const why = not_applied === undefined ? '' : `, ${line(notAppliedText(not_applied))}`
  return `fault ${line(fault, 40)}: ${line(effectText(effect))} (${count})${why}`
}
