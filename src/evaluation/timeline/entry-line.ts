/** Says in one line what a journal entry is: who did what to whom, and what came back. Diagrams, lists and logs arrange its parts. */

import { isMap, jsonOr } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { faultNames, formatMs, quote, shorten, visible, widthOf } from '../../base/text/terminal-text.ts'
import { readButton } from '../../platform/contract/buttons.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { isWaitUntilNote, WAIT_UNTIL_FAILED } from '../../platform/journal/journal.ts'
import {
  driverFailureText,
  earlyEndText,
  endedText,
  failureBesideStatus,
  failureText,
  stepFailureText,
  waitUntilText,
} from '../../platform/wording/failures.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { errorIn, isAcceptedForgery, isInvalidSign, isRefusedForgery } from '../../platform/wording/hints.ts'
import type { DriverCallEntry, InboxItem } from '../scenario/run-events.ts'
import { isDriverCall, isRunEvent } from '../scenario/run-events.ts'

export type Actor = 'user' | 'agent' | 'platform' | 'intermediary' | 'runner'

/** All texts are safe to print, except `words`. */
export interface EntryLine {
  readonly from: Actor
  /** Same as `from` when there is no receiver. */
  readonly to: Actor
  /**
   * action: user or agent did something. event: a webhook and its answer. call: of the intermediary. driver: an inbox
   * as it changed, or the target. fault: one hit. step: a step began, or ended. note: everything else.
   */
  readonly kind: 'action' | 'event' | 'call' | 'driver' | 'fault' | 'step' | 'note'
  /** `POST start`, `presses`, `MESSAGE FROM USER`; empty where the words say all. */
  readonly what: string
  /** Behind `what` where there is space: `as Anna (en, nb), attachments`. */
  readonly extra?: string
  /** Of a person; quoted behind both. */
  readonly words?: string | undefined
  /** Behind the words: ` with 2 files`, `, attempt 2, sent again`. */
  readonly marks?: string
  readonly answer?: EntryAnswer
  readonly ok: boolean
  /** Of a diagnosis, which may be refused. */
  readonly isTrial?: boolean
}

export interface EntryAnswer {
  /** `200`, `no answer`, `not sent`. */
  readonly head: string
  /** `200 TAKEOVER STARTED`, `200 in 31 ms`. */
  readonly short: string
  /** Behind the head where there is space: `TAKEOVER STARTED, 1.2 ms, fault flaky`. */
  readonly long: string
}

const MAX_CHARS = 120
const MAX_ANSWER_CHARS = 80

/** One line, without control characters, shortened. */
const oneLine = (text: unknown, columns = MAX_CHARS): string => shorten(visible(String(text ?? '')), columns)

/** `POST message "Hello"`; wide: `POST message as Anna "Hello"`. The words are shortened so that all of it has at most `columns`. */
export function labelOf(line: EntryLine, width: 'narrow' | 'wide' = 'narrow', columns?: number): string {
  const { what, extra = '', words, marks = '' } = line
  const parts = [what, width === 'wide' ? extra : ''].filter(part => part !== '')
  if (words !== undefined) {
    const others = widthOf(`${parts.join(' ')} ${marks}`)
    parts.push(quote(words, columns === undefined ? MAX_CHARS : columns - others))
  }
  return `${parts.join(' ')}${marks}`
}

export function lineOf(entry: Entry): EntryLine {
  switch (entry.kind) {
    case 'user':
      return userLine(entry)
    case 'event':
      return { ...WEBHOOK, ...eventParts(entry.event, entry.payload), ok: true }
    case 'delivery':
      return deliveryLine(entry)
    case 'api':
      return callLine(entry)
    case 'driver':
      return isDriverCall(entry) && entry.verb !== 'inbox' ? driverLine(entry) : inboxLine(entry as DriverCallEntry)
    case 'fault':
      return { from: 'runner', to: 'platform', kind: 'fault', what: `fault ${oneLine(faultHitText(entry))}`, ok: true }
    case 'note':
      return noteLine(entry)
  }
}

/** Whether another entry says the same: the call that caused a note, or the delivery that follows it. */
export const isRepeated = (entry: Entry): boolean =>
  entry.kind === 'note' && (REPEATED_NOTES.has(entry.note) || (entry.note === 'availability' && entry.by === 'api'))

const REPEATED_NOTES: ReadonlySet<string> = new Set([
  'taken_over',
  'takeover_replaced',
  'handed_back',
  'event_triggered',
])

const WEBHOOK = { from: 'platform', to: 'intermediary', kind: 'event' } as const

function userLine({ action, button, text = '', attachments = [], message_id }: EntryOf<'user'>): EntryLine {
  const line = { from: 'user', to: 'platform', kind: 'action', ok: true } as const
  if (action === 'press') return { ...line, what: 'presses', words: button ?? '' }
  if (action === 'close') return { ...line, what: 'closes the chat' }
  if (action === 'delete') return { ...line, what: 'deletes the chat' }
  const files = oneLine(attachments.map(file => `${file.name} ${file.size_kb} kB`).join(', '), 40)
  if (text === '') return { ...line, what: `sends ${files || 'nothing'}` }
  // Only a chat that the user has left takes no message.
  const lost = message_id === null ? ', lost: the chat is closed' : ''
  return { ...line, what: '', words: text, marks: `${files && ` with ${files}`}${lost}` }
}

/** The name of an event, the text of its message, and its files. */
function eventParts(event: string, payload: unknown): Pick<EntryLine, 'what' | 'words' | 'marks'> {
  const { message, attachments } = isMap(payload) ? payload : {}
  const files = Array.isArray(attachments) ? attachments.length : 0
  return {
    what: oneLine(event, 60),
    words: message === undefined ? undefined : String(message),
    marks: files === 0 ? '' : ` with ${counted(files, 'file')}`,
  }
}

const INVALID_SIGNS = {
  none: 'not signed on purpose',
  'wrong-key': 'signed with a wrong key on purpose',
  tampered: 'changed after signing on purpose',
  truncated: 'signature cut short on purpose',
  hex: 'signature encoded wrong on purpose',
} satisfies Record<Exclude<SignMode, 'valid'>, string>

function deliveryLine(entry: EntryOf<'delivery'>): EntryLine {
  const { event, attempt, duplicate, triggered, resent, probe, faults, sign, outcome, request } = entry
  const { what, words, marks: files } = eventParts(event, jsonOr(request.body, null))
  const marks: string[] = []
  if (probe !== undefined) marks.push(`trial of ${oneLine(probe.code, 40)}`)
  else {
    if (duplicate) marks.push('a copy')
    else if (attempt > 1 && !resent) marks.push(`attempt ${attempt}`)
    if (resent) marks.push('sent again')
    else if (triggered) marks.push('sent manually')
    if (faults !== undefined) marks.push(oneLine(faultNames(faults), 40))
    if (isInvalidSign(sign)) marks.push(INVALID_SIGNS[sign])
  }
  return {
    ...WEBHOOK,
    what,
    words,
    marks: [files, ...marks].join(', '),
    answer: deliveryAnswer(entry),
    // Of an event that is wrong on purpose, the refusal is right.
    ok: probe !== undefined || isRefusedForgery(entry) || (outcome === 'delivered' && !isAcceptedForgery(entry)),
    ...(probe !== undefined && { isTrial: true }),
  }
}

const SHOWN_DELAY_MS = 100

/** `200 in 31 ms`, `no answer: nothing listens at …`; with the delay before it was sent. */
export function deliveryAnswer(entry: EntryOf<'delivery'>, delayMs = 0): EntryAnswer {
  const { status, duration_ms, failure, outcome, retry_in_ms, probe } = entry
  const duration = formatMs(duration_ms)
  const reason = visible(failureText(failure))
  if (outcome === 'skipped')
    return { head: 'not sent', short: `not sent: ${shorten(reason, MAX_ANSWER_CHARS)}`, long: reason }
  const next = retry_in_ms === undefined ? '' : `, again after ${formatMs(retry_in_ms)}`
  const after = `${delayMs < SHOWN_DELAY_MS ? '' : `, sent ${formatMs(delayMs)} later`}${next}`
  if (status === null) {
    const short = `no answer: ${shorten(reason, MAX_ANSWER_CHARS)}${after}`
    return { head: 'no answer', short, long: `${reason}, ${duration}${next}` }
  }
  const why = outcome === 'delivered' || probe !== undefined ? '' : `${visible(failureBesideStatus(failure))}, `
  return { head: String(status), short: `${status} in ${duration}${after}`, long: `${why}${duration}${next}` }
}

function callLine(entry: EntryOf<'api'>): EntryLine {
  const { endpoint, method, path, alias, request, status, answer_lost } = entry
  const message = endpoint === 'message' && isMap(request.body) ? request.body.message : undefined
  const extra = [alias === 'takeover' ? '(takeover path)' : '', bodyText(entry)].filter(Boolean).join(' ')
  return {
    from: 'intermediary',
    to: 'platform',
    kind: 'call',
    what: `${oneLine(method, 10)} ${endpoint ?? oneLine(path, 60)}`,
    extra,
    words: typeof message === 'string' ? message : undefined,
    answer: callAnswer(entry),
    ok: status < 400 && (status !== 0 || answer_lost !== undefined),
  }
}

/** What a line shows of the body: `as Anna (en, nb), attachments`. */
function bodyText({ endpoint, request }: EntryOf<'api'>): string {
  const body: Readonly<Record<string, unknown>> = isMap(request.body) ? request.body : {}
  const { name, language_codes } = isMap(body.sender) ? body.sender : {}
  const languages = Array.isArray(language_codes) ? ` (${oneLine(language_codes.join(', '))})` : ''
  const sender = typeof name === 'string' ? `as ${oneLine(name, 20)}${languages}` : ''
  switch (endpoint) {
    case 'start':
      return `${sender}${body.supports_attachment === true ? ', attachments' : ''}`
    case 'end':
      return sender
    case 'message':
      return `${sender}${Array.isArray(body.buttons) ? `, ${buttonsText(body.buttons)}` : ''}`
    case 'availability':
      return oneLine([body.availability, body.reason].filter(part => typeof part === 'string').join(' '))
    case 'typing_start':
      return body.timeout === undefined ? '' : `for ${oneLine(body.timeout)} ms`
    default:
      return ''
  }
}

const MAX_NAMED_BUTTONS = 4

/** `2 buttons: link "Open", quick reply "Yes"`. */
function buttonsText(buttons: readonly unknown[]): string {
  const named = buttons
    .slice(0, MAX_NAMED_BUTTONS)
    .filter(isMap)
    .map(button => {
      const { kind, label } = readButton(button, 'typed')
      return `${kind.replace('_', ' ')} ${quote(label, 20)}`
    })
  const count = counted(buttons.length, 'button')
  return named.length === 0 ? count : `${count}: ${oneLine(named.join(', '), 60)}`
}

function callAnswer(entry: EntryOf<'api'>): EntryAnswer {
  const { status, duration_ms, faults, answer_lost } = entry
  const duration = `${formatMs(duration_ms)}${faults === undefined ? '' : `, ${faultNames(faults)}`}`
  if (answer_lost !== undefined) {
    const done = answer_lost === 'before' ? 'lost before it was processed' : `processed (${status}), its answer lost`
    return { head: 'no answer', short: done, long: `${done}, ${duration}` }
  }
  if (status === 0) return { head: 'no answer', short: 'no answer', long: duration }
  const result = resultOf(entry)
  const short = `${status} ${shorten(result, MAX_ANSWER_CHARS)}`.trimEnd()
  return { head: String(status), short, long: `${result}${result === '' ? '' : ', '}${duration}` }
}

/** What the body of a response says: an event, an error code, or how much there is. */
function resultOf({ status, response, path }: EntryOf<'api'>): string {
  if (status >= 400) {
    const { code } = errorIn(response)
    return typeof code === 'string' ? visible(code) : ''
  }
  if (status >= 300) return 'redirected to the path as it is written'
  const { event, summary, chat }: Readonly<Record<string, unknown>> = isMap(response) ? response : {}
  if (event === 'SUMMARIZED') return `SUMMARIZED ${quote(String(summary), 60)}`
  const { messages } = isMap(chat) ? chat : {}
  const count = Array.isArray(messages) ? `${messages.length} messages` : path.startsWith('/files/') ? 'the file' : ''
  return [typeof event === 'string' ? visible(event) : '', count].filter(Boolean).join(', ')
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

function driverLine({ verb, outcome, status, duration_ms, failure, text }: DriverCallEntry): EntryLine {
  const name = String(verb)
  const duration = formatMs(duration_ms)
  const line = {
    from: name.startsWith('target.') ? 'runner' : 'agent',
    to: 'intermediary',
    kind: 'driver',
    what: VERB_TEXTS[name] ?? oneLine(name.replace(/^does\./, 'does '), 40),
    words: text,
    ok: outcome === 'ok',
  } as const
  if (outcome !== 'ok' && failure !== undefined) {
    const why = visible(driverFailureText(failure))
    const answer = { head: outcome, short: shorten(why, MAX_ANSWER_CHARS), long: `${why}, ${duration}` }
    return { ...line, answer }
  }
  if (status === undefined) return { ...line, answer: { head: outcome, short: outcome, long: duration } }
  return { ...line, answer: { head: String(status), short: `${status} in ${duration}`, long: duration } }
}

/** Shows the items after those of the previous read. */
export function inboxLine(entry: DriverCallEntry, previous: readonly InboxItem[] = []): EntryLine {
  const { items = [], outcome, failure, status } = entry
  const line = { from: 'intermediary', to: 'agent', kind: 'driver' } as const
  if (outcome !== 'ok') {
    const why = failure === undefined ? (status ?? 'no answer') : driverFailureText(failure)
    return { ...line, what: `inbox: ${oneLine(why, MAX_ANSWER_CHARS)}`, ok: status === 404 }
  }
  const added = items.slice(previous.length).map(itemText)
  const text = added.length > 0 ? added.slice(0, 3).join(', ') : counted(items.length, 'item')
  return { ...line, what: `inbox: ${text}${added.length > 3 ? `, ${added.length - 3} more` : ''}`, ok: true }
}

/** `"Hello" with 2 files`, `a request`. */
function itemText({ request, text, attachments = [] }: InboxItem): string {
  const parts: string[] = []
  if (request) parts.push('a request')
  if (typeof text === 'string' && text !== '') parts.push(quote(text, 60))
  if (attachments.length > 0) parts.push(counted(attachments.length, 'file'))
  return parts.join(' with ') || 'an empty item'
}

/** What the end of a chat by its user did to a handover. */
function chatEndText(handover: unknown): string {
  if (handover === 'kept') return 'the handover goes on until end'
  return handover === 'ended' ? 'the handover is over' : ''
}

function noteLine(entry: EntryOf<'note'>): EntryLine {
  const line = (to: Actor, what: string, extra = ''): EntryLine => ({
    from: to === 'user' ? 'platform' : 'runner',
    to,
    kind: 'note',
    what,
    extra,
    ok: true,
  })
  const text = (name: string, columns = MAX_CHARS) => oneLine(entry[name], columns)
  switch (entry.note) {
    case 'bot_message':
      return { ...line('user', 'the bot says'), words: String(entry.text ?? '') }
    case 'chat_created':
      return line('platform', `chat ${text('chat_id', 40)} (${text('source', 40)})`)
    case 'taken_over':
      return line('platform', `${text('by', 40) || 'an agent'} takes the chat over`)
    case 'takeover_replaced':
      return line('platform', `${text('by', 40) || 'another agent'} takes the chat over from an agent`)
    case 'handed_back':
      return line('platform', `${text('by', 40) || 'the agent'} hands the chat back`)
    case 'event_triggered':
      return line('platform', `${text('event', 40)} is sent manually`)
    case 'typing_hidden':
      return line('user', `typing indicator hidden (${text('why', 40)})`)
    case 'chat_ended':
      return line('user', `the chat ends (${text('why', 40)})`, chatEndText(entry.handover))
    case 'chat_reopened':
      return line('user', 'the user is back in the chat')
    case 'availability':
      return line('platform', `availability ${text('availability', 20)}`, `(${text('by')})`)
    case 'observed': {
      const typing = entry.typing ? 'typing' : 'not typing'
      return line('runner', `the chat: ${text('status', 20)}, ${typing}, ${text('availability', 20)}`)
    }
    case 'config':
      return line('platform', `settings ${shorten(fieldsText(isMap(entry.changed) ? entry.changed : {}), MAX_CHARS)}`)
    case 'clock_advanced':
      return line('platform', `the clock advances by ${text('by', 20)}`, `to ${text('to')}`)
    case 'clock_paused':
      return line('platform', 'the clock is paused')
    case 'clock_resumed':
      return line('platform', 'the clock goes on')
    case 'fault_set':
      return line('platform', `fault ${text('fault', 40)} is set: ${oneLine(effectText(entry.effect))}`)
    case 'fault_cleared':
      return line('platform', `fault ${text('fault', 40)} is cleared`, `after ${counted(Number(entry.hits), 'hit')}`)
    case 'step_started':
      return { ...line('runner', `step ${String(entry.step)}: ${text('label')}`), kind: 'step' }
    case 'step_ended':
      return stepEndLine(entry)
    case 'scenario_ended':
      if (!isRunEvent(entry, 'scenario_ended') || entry.stopped === undefined) break
      return { ...line('runner', `stopped: ${oneLine(earlyEndText(entry.stopped))}`), ok: false }
    case 'target_unreachable':
      if (!isRunEvent(entry, 'target_unreachable')) break
      return {
        ...line('runner', `the intermediary is not reachable: ${oneLine(failureText(entry.failure))}`),
        ok: false,
      }
    case 'target_output':
      if (!isRunEvent(entry, 'target_output') || entry.ended === null) break
      return { ...line('intermediary', oneLine(endedText(entry.ended))), from: 'intermediary', ok: false }
    case WAIT_UNTIL_FAILED:
      if (!isWaitUntilNote(entry)) break
      return { ...line('intermediary', oneLine(waitUntilText(entry))), from: 'intermediary', ok: false }
    case 'evicted':
      return { ...line('runner', text('message')), ok: false }
    case 'connections_refused':
      return line(
        'runner',
        `closes further connections, because ${Number(entry.connections)} are open; close some, or raise the limit of open files (ulimit -n) if it is low`,
      )
    case 'http2_refused':
      return line('runner', 'a client began with HTTP/2: set it to HTTP/1.1')
    case 'internal_error':
      return line(
        'runner',
        `internal error of handover-sim (${text('where')}): ${visible(String(entry.message))}; please report it`,
      )
  }
  if (entry.note.startsWith('proxy_')) return line('runner', visible(String(entry.message)))
  return line('runner', oneLine(entry.note.replaceAll('_', ' ')), fieldsText(entry))
}

/** The end of a step: without a failure of its own, it may be failed because an expectation was not met. */
export function stepEndLine(entry: EntryOf<'note'>, hasFailed = false): EntryLine {
  const failure = isRunEvent(entry, 'step_ended') ? entry.failure : undefined
  const ok = !hasFailed && failure === undefined
  const why = failure === undefined ? '' : `: ${oneLine(stepFailureText(failure))}`
  const what = `step ${String(entry.step)} ${ok ? 'ended' : `failed${why}`}`
  return { from: 'runner', to: 'runner', kind: 'step', what, ok }
}

const FRAME = new Set(['v', 'seq', 'time', 'at_ms', 'cause', 'kind', 'chat_id', 'note'])

/** `name=value name=value`, without what every entry has. */
function fieldsText(fields: object): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(fields))
    if (!FRAME.has(name)) parts.push(visible(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
  return parts.join(' ')
}
