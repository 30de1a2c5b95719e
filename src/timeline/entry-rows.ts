/** Turns one journal entry into the content of a timeline row. */

import { isMap } from '../contract/objects.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import { isDriverCall } from '../scenario/run-events.ts'
import { counted } from '../text/quantities.ts'
import { formatMs } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { failureText } from '../wording/delivery.ts'
import { effectText, notAppliedText } from '../wording/faults.ts'
import { driverRow } from './driver-rows.ts'
import { noteRow } from './note-rows.ts'
import { oneLine, quoted, type RowContent } from './row.ts'

const TEXTS = defineTexts({
  presses: (button: string) => `presses ${button}`,
  files: (count: number) => counted(count, 'file'),
  sends: (files: string) => `sends ${files || 'nothing'}`,
  withFiles: (text: string, files: string) => `${text} with ${files}`,
  copy: 'a copy',
  attempt: (attempt: number) => `attempt ${attempt}`,
  resent: 'sent again',
  triggered: 'sent manually',
  signature: (sign: string) => `signature: ${sign}`,
  delay: (duration: string) => `, sent ${duration} later`,
  notSent: (why: string) => `not sent: ${why}`,
  noAnswer: (why: string) => `no answer: ${why}`,
  answer: (status: number, duration: string) => `${status} in ${duration}`,
  before: 'lost before it was processed',
  after: 'processed, its answer lost',
  hit: (hit: number) => `hit ${hit}`,
  hitOf: (hit: number, of: number) => `${hit} of ${of}`,
  fault: (name: string, effect: string, count: string, why: string) => `fault ${name}: ${effect} (${count})${why}`,
})

/** Null for an entry that another entry repeats. */
export function rowContent(entry: Entry): RowContent | null {
  switch (entry.kind) {
    case 'user':
      return { from: 'user', to: 'platform', kind: 'action', label: userLabel(entry), ok: true }
    case 'event':
      return { from: 'platform', to: 'intermediary', kind: 'event', label: eventLabel(entry), ok: true }
    case 'delivery':
      return deliveryRow(entry)
    case 'api':
      return callRow(entry)
    case 'driver':
      return isDriverCall(entry) ? driverRow(entry) : null
    case 'fault':
      return { from: 'player', to: 'platform', kind: 'fault', label: faultLabel(entry), ok: true }
    case 'note':
      return noteRow(entry)
  }
}

function userLabel({ action, button, text = '', attachments = [] }: EntryOf<'user'>): string {
  if (action === 'press') return TEXTS.presses(quoted(button ?? ''))
  const files = attachments.length === 0 ? '' : TEXTS.files(attachments.length)
  if (text === '') return TEXTS.sends(files)
  return files === '' ? quoted(text) : TEXTS.withFiles(quoted(text), files)
}

function eventLabel({ event, payload }: EntryOf<'event'>): string {
  const name = oneLine(event, 60)
  return 'message' in payload ? `${name} ${quoted(payload.message)}` : name
}

/** A retry, a copy, or a manual event. */
function deliveryRow(entry: EntryOf<'delivery'>): RowContent {
  const { attempt, duplicate, triggered, resent, sign = 'valid' } = entry
  const how = [
    duplicate ? TEXTS.copy : attempt > 1 && !resent ? TEXTS.attempt(attempt) : '',
    resent ? TEXTS.resent : triggered ? TEXTS.triggered : '',
    sign === 'valid' ? '' : TEXTS.signature(sign),
  ].filter(Boolean)
  const label = [oneLine(entry.event, 40), ...how].join(', ')
  const ok = entry.outcome === 'delivered'
  return { from: 'platform', to: 'intermediary', kind: 'event', label, answer: answerOf(entry, 0), ok }
}

const SHOWN_DELAY_MS = 100

/** `200 in 31 ms`, `no answer: connection refused`; with the delay before it was sent. */
export function answerOf({ status, duration_ms, failure, outcome }: EntryOf<'delivery'>, delayMs: number): string {
  const delay = delayMs >= SHOWN_DELAY_MS ? TEXTS.delay(formatMs(delayMs)) : ''
  if (outcome === 'skipped') return TEXTS.notSent(oneLine(failureText(failure), 80))
  if (status === null) return `${TEXTS.noAnswer(oneLine(failureText(failure), 80))}${delay}`
  return `${TEXTS.answer(status, formatMs(duration_ms))}${delay}`
}

function callRow(entry: EntryOf<'api'>): RowContent {
  const { endpoint, method, path, request, status } = entry
  const message = endpoint === 'message' && isMap(request.body) ? request.body.message : undefined
  const words = typeof message === 'string' ? ` ${quoted(message)}` : ''
  const label = `${oneLine(method, 10)} ${endpoint ?? oneLine(path, 60)}${words}`
  return { from: 'intermediary', to: 'platform', kind: 'call', label, answer: replyOf(entry), ok: status < 400 }
}

function replyOf({ status, response, answer_lost }: EntryOf<'api'>): string {
  if (answer_lost !== undefined) return TEXTS[answer_lost]
  const { event, error }: Readonly<Record<string, unknown>> = isMap(response) ? response : {}
  const word = [event, isMap(error) ? error.code : ''].find(one => typeof one === 'string') ?? ''
  return `${status} ${oneLine(word, 80)}`.trimEnd()
}

function faultLabel({ fault, effect, hit, of, not_applied }: EntryOf<'fault'>): string {
  const count = of === null ? TEXTS.hit(hit) : TEXTS.hitOf(hit, of)
  const why = not_applied === undefined ? '' : `, ${oneLine(notAppliedText(not_applied))}`
  return TEXTS.fault(oneLine(fault, 40), oneLine(effectText(effect)), count, why)
}
