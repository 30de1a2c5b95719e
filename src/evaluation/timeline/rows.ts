/** Turns one journal entry into the content of a timeline row. Every text in it is one safe line. */
import { isMap } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { formatMs, quote, shorten, visible } from '../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { driverFailureText, earlyEndText, failureText, stepFailureText } from '../../platform/wording/failures.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { type DriverCallEntry, type InboxItem, isDriverCall, isRunEvent } from '../scenario/run-events.ts'

export type Actor = 'user' | 'agent' | 'platform' | 'intermediary' | 'runner'

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

const MAX_CHARS = 120

/** One line, without control characters, shortened. */
const oneLine = (text: unknown, columns = MAX_CHARS): string => shorten(visible(String(text ?? '')), columns)
const quoted = (text: unknown): string => quote(String(text ?? ''), MAX_CHARS)

/** Null for an entry that another entry repeats. */
export function rowContent(entry: Entry): RowContent | null {
  switch (entry.kind) {
    case 'user':
      return { from: 'user', to: 'platform', kind: 'action', label: userLabel(entry), ok: true }
    case 'event': {
      const words = 'message' in entry.payload ? ` ${quoted(entry.payload.message)}` : ''
      return {
        from: 'platform',
        to: 'intermediary',
        kind: 'event',
        label: `${oneLine(entry.event, 60)}${words}`,
        ok: true,
      }
    }
    case 'delivery':
      return deliveryRow(entry)
    case 'api':
      return callRow(entry)
    case 'driver':
      return isDriverCall(entry) ? driverRow(entry) : null
    case 'fault':
      return { from: 'runner', to: 'platform', kind: 'fault', label: `fault ${oneLine(faultHitText(entry))}`, ok: true }
    case 'note':
      return noteRow(entry)
  }
}

function userLabel({ action, button, text = '', attachments = [] }: EntryOf<'user'>): string {
  if (action === 'press') return `presses ${quoted(button)}`
  const files = attachments.length === 0 ? '' : counted(attachments.length, 'file')
  if (text === '') return `sends ${files || 'nothing'}`
  return files === '' ? quoted(text) : `${quoted(text)} with ${files}`
}

/** A retry, a copy, or a manual event. */
function deliveryRow(entry: EntryOf<'delivery'>): RowContent {
  const { event, attempt, duplicate, triggered, resent, sign = 'valid', outcome } = entry
  const parts = [oneLine(event, 40)]
  if (duplicate) parts.push('a copy')
  else if (attempt > 1 && !resent) parts.push(`attempt ${attempt}`)
  if (resent) parts.push('sent again')
  else if (triggered) parts.push('sent manually')
  if (sign !== 'valid') parts.push(`signature: ${sign}`)
  const ok = outcome === 'delivered'
  return {
    from: 'platform',
    to: 'intermediary',
    kind: 'event',
    label: parts.join(', '),
    answer: answerOf(entry, 0),
    ok,
  }
}

const SHOWN_DELAY_MS = 100

/** `200 in 31 ms`, `no answer: nothing listens at …`; with the delay before it was sent. */
export function answerOf({ status, duration_ms, failure, outcome }: EntryOf<'delivery'>, delayMs: number): string {
  const delay = delayMs >= SHOWN_DELAY_MS ? `, sent ${formatMs(delayMs)} later` : ''
  if (outcome === 'skipped') return `not sent: ${oneLine(failureText(failure), 80)}`
  if (status === null) return `no answer: ${oneLine(failureText(failure), 80)}${delay}`
  return `${status} in ${formatMs(duration_ms)}${delay}`
}

function callRow({ endpoint, method, path, request, response, status, answer_lost }: EntryOf<'api'>): RowContent {
  const message = endpoint === 'message' && isMap(request.body) ? request.body.message : undefined
  const words = typeof message === 'string' ? ` ${quoted(message)}` : ''
  const label = `${oneLine(method, 10)} ${endpoint ?? oneLine(path, 60)}${words}`
  const { event, error }: Readonly<Record<string, unknown>> = isMap(response) ? response : {}
  const word = [event, isMap(error) ? error.code : ''].find(one => typeof one === 'string') ?? ''
  let answer = `${status} ${oneLine(word, 80)}`.trimEnd()
  if (answer_lost === 'before') answer = 'lost before it was processed'
  if (answer_lost === 'after') answer = 'processed, its answer lost'
  return { from: 'intermediary', to: 'platform', kind: 'call', label, answer, ok: status < 400 }
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

function driverRow({ verb, outcome, status, duration_ms, failure, text }: DriverCallEntry): RowContent {
  const name = String(verb)
  const ok = outcome === 'ok'
  let answer: string = status === undefined ? outcome : `${status} in ${formatMs(duration_ms)}`
  if (!ok && failure !== undefined) answer = oneLine(driverFailureText(failure), 80)
  const words = text === undefined ? '' : ` ${quoted(text)}`
  const label = `${VERB_TEXTS[name] ?? oneLine(name.replace(/^does\./, 'does '), 40)}${words}`
  const from = name.startsWith('target.') ? 'runner' : 'agent'
  return { from, to: 'intermediary', kind: 'driver', label, answer, ok }
}

export const isInboxRead = (entry: Entry): entry is DriverCallEntry => isDriverCall(entry) && entry.verb === 'inbox'

/** Shows the items after those of the previous read. */
export function inboxRow(entry: DriverCallEntry, previous: readonly InboxItem[]): RowContent {
  const { items = [], outcome, failure, status } = entry
  const base = { from: 'intermediary', to: 'agent', kind: 'driver' } as const
  if (outcome !== 'ok') {
    const why = failure === undefined ? (status ?? 'no answer') : driverFailureText(failure)
    return { ...base, label: `inbox: ${oneLine(why, 80)}`, ok: status === 404 }
  }
  const added = items.slice(previous.length).map(itemWords)
  const label = added.length > 0 ? added.slice(0, 3).join(', ') : counted(items.length, 'item')
  return { ...base, label: `inbox: ${label}${added.length > 3 ? `, ${added.length - 3} more` : ''}`, ok: true }
}

/** `"Hello" with 2 files`, `a request`. */
function itemWords({ request, text, attachments = [] }: InboxItem): string {
  const words: string[] = []
  if (request) words.push('a request')
  if (typeof text === 'string' && text !== '') words.push(quote(text, 60))
  if (attachments.length > 0) words.push(counted(attachments.length, 'file'))
  return words.join(' with ') || 'an empty item'
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

const noteTo = (to: Actor, label: string): RowContent => ({
  from: to === 'user' ? 'platform' : 'runner',
  to,
  kind: 'note',
  label,
  ok: true,
})

function noteRow(entry: EntryOf<'note'>): RowContent | null {
  const text = (name: string, columns = MAX_CHARS) => oneLine(entry[name], columns)
  switch (entry.note) {
    case 'bot_message':
      return noteTo('user', `the bot says ${quoted(entry.text)}`)
    case 'typing_hidden':
      return noteTo('user', `typing indicator hidden (${text('why', 40)})`)
    case 'chat_ended':
      return noteTo('user', `the chat ends (${text('why', 40)})`)
    case 'availability':
      return entry.by === 'api' ? null : noteTo('platform', `availability ${text('availability', 20)}`)
    case 'observed': {
      const typing = entry.typing ? 'typing' : 'not typing'
      return noteTo('runner', `the chat: ${text('status', 20)}, ${typing}, ${text('availability', 20)}`)
    }
    case 'config':
      return noteTo('platform', `settings ${oneLine(JSON.stringify(entry.changed ?? {}))}`)
    case 'clock_advanced':
      return noteTo('platform', `the clock advances by ${text('by', 20)}`)
    case 'clock_paused':
      return noteTo('platform', 'the clock is paused')
    case 'clock_resumed':
      return noteTo('platform', 'the clock goes on')
    case 'fault_set':
      return noteTo('platform', `fault ${text('fault', 40)} set: ${oneLine(effectText(entry.effect))}`)
    case 'fault_cleared':
      return noteTo('platform', `fault ${text('fault', 40)} cleared`)
    case 'scenario_ended':
      if (!isRunEvent(entry, 'scenario_ended') || entry.stopped === undefined) return null
      return { ...noteTo('runner', `stopped: ${oneLine(earlyEndText(entry.stopped))}`), ok: false }
    case 'evicted':
      return { ...noteTo('runner', text('message')), ok: false }
    default:
      return REPEATED.has(entry.note) ? null : noteTo('runner', oneLine(entry.note))
  }
}

export const stepStartedRow = (entry: EntryOf<'note'>): RowContent => ({
  from: 'runner',
  to: 'runner',
  kind: 'step',
  label: `step ${String(entry.step)}: ${oneLine(entry.label)}`,
  ok: true,
})

/** The end of a step that failed; null when it passed. */
export function stepEndedRow(entry: EntryOf<'note'>, failed: boolean): RowContent | null {
  const cause = isRunEvent(entry, 'step_ended') ? entry.failure : undefined
  const error = cause === undefined ? '' : `: ${oneLine(stepFailureText(cause))}`
  if (!failed && error === '') return null
  return { from: 'runner', to: 'runner', kind: 'step', label: `step ${String(entry.step)} failed${error}`, ok: false }
}
