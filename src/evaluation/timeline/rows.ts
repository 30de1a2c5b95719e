/** Turns one journal entry into the content of a timeline row. Every text in it is one safe line. */
import { isMap } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, quote, shorten, visible } from '../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { driverFailureText, earlyEndText, failureText, stepFailureText } from '../../platform/wording/failures.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { type DriverCallEntry, type InboxItem, isDriverCall, isRunEvent } from '../scenario/run-events.ts'

export type Actor = 'user' | 'agent' | 'platform' | 'intermediary' | 'player'

export interface TimelineRow {
  /** Of its first entry. */
  readonly seq: number
  /** Wall time in ms since the first entry of the scenario. */
  readonly atMs: number
  readonly from: Actor
  /** Same as `from` when there is no receiver. */
  readonly to: Actor
  /** Null for what belongs to no chat of the scenario. */
  readonly conversation: string | null
  /**
   * action: user or agent did something. event: a webhook and its answer. call: of the intermediary. driver: an inbox
   * as it changed, or the target. fault: one hit. step: a step began, or failed. note: everything else.
   */
  readonly kind: 'action' | 'event' | 'call' | 'driver' | 'fault' | 'step' | 'note'
  readonly label: string
  /** `200 in 31 ms`, `200 MESSAGE SENT TO USER`. */
  readonly answer?: string
  readonly ok: boolean
  /** Whether a failure refers to it. */
  readonly failed: boolean
  /** The step that claimed it or was under way; null when there is none. */
  readonly step: number | null
  /** All entries that it shows. */
  readonly entrySeqs: readonly number[]
}

/** The part of a row that one entry decides. */
export type RowContent = Pick<TimelineRow, 'from' | 'to' | 'kind' | 'label' | 'ok'> & { answer?: string }

const LONGEST = 120

/** One line, without control characters, shortened. */
const oneLine = (text: unknown, columns = LONGEST): string => shorten(visible(String(text ?? '')), columns)
const quoted = (text: unknown): string => quote(String(text ?? ''), LONGEST)

const TEXTS = {
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
  fault: (hit: string) => `fault ${hit}`,
}

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
      return {
        from: 'player',
        to: 'platform',
        kind: 'fault',
        label: TEXTS.fault(oneLine(faultHitText(entry))),
        ok: true,
      }
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

/** `200 in 31 ms`, `no answer: nothing listens at …`; with the delay before it was sent. */
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

const VERB_TEXTS: Readonly<Record<string, string>> = {
  accept: 'accepts',
  says: 'says',
  type: 'types',
  stop: 'stops typing',
  leave: 'leaves',
  away: 'goes away',
  back: 'comes back',
}

function driverRow(call: DriverCallEntry): RowContent {
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

const NOTES = {
  settings: (changed: string) => `settings ${changed}`,
}

/** Notes without a row: the call or the step that caused them has one. */
const REPEATED = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
  'chat_created',
  'conversation',
  'scenario_started',
  'steps_done',
])

const playerRow = (label: string, to: Actor = 'player', ok = true): RowContent => ({
  from: 'player',
  to,
  kind: 'note',
  label,
  ok,
})
const userRow = (label: string): RowContent => ({ from: 'platform', to: 'user', kind: 'note', label, ok: true })

function noteRow(entry: EntryOf<'note'>): RowContent | null {
  const text = (name: string, columns = LONGEST) => oneLine(entry[name], columns)
  switch (entry.note) {
    case 'bot_message':
      return userRow(`the bot says ${quoted(entry.text)}`)
    case 'typing_hidden':
      return userRow(`typing indicator hidden (${text('why', 40)})`)
    case 'chat_ended':
      return userRow(`the chat ends (${text('why', 40)})`)
    case 'availability':
      return entry.by === 'api' ? null : playerRow(`availability ${text('availability', 20)}`, 'platform')
    case 'observed':
      return playerRow(
        `the chat: ${text('status', 20)}, ${entry.typing ? 'typing' : 'not typing'}, ${text('availability', 20)}`,
      )
    case 'config':
      return playerRow(NOTES.settings(oneLine(JSON.stringify(entry.changed ?? {}))), 'platform')
    case 'clock_advanced':
      return playerRow(`the clock advances by ${text('by', 20)}`, 'platform')
    case 'clock_paused':
      return playerRow('the clock is paused', 'platform')
    case 'clock_resumed':
      return playerRow('the clock goes on', 'platform')
    case 'fault_set':
      return playerRow(`fault ${text('fault', 40)} set: ${oneLine(effectText(entry.effect))}`, 'platform')
    case 'fault_cleared':
      return playerRow(`fault ${text('fault', 40)} cleared`, 'platform')
    case 'scenario_ended':
      return isRunEvent(entry, 'scenario_ended') && entry.stopped !== undefined
        ? playerRow(`stopped: ${oneLine(earlyEndText(entry.stopped))}`, 'player', false)
        : null
    case 'evicted':
      return playerRow(text('message'), 'player', false)
    default:
      return REPEATED.has(entry.note) ? null : playerRow(oneLine(entry.note))
  }
}

export const stepStartedRow = (entry: EntryOf<'note'>): RowContent => ({
  from: 'player',
  to: 'player',
  kind: 'step',
  label: `step ${String(entry.step)}: ${oneLine(entry.label)}`,
  ok: true,
})

/** The end of a step that failed; null when it passed. */
export function stepEndedRow(entry: EntryOf<'note'>, failed: boolean): RowContent | null {
  const cause = isRunEvent(entry, 'step_ended') ? entry.failure : undefined
  const error = cause === undefined ? '' : `: ${oneLine(stepFailureText(cause))}`
  if (!failed && error === '') return null
  return { from: 'player', to: 'player', kind: 'step', label: `step ${String(entry.step)} failed${error}`, ok: false }
}
