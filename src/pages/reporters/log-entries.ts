/** Describes journal entries for the log: who does what, with the answer, findings and reasons below it. */
import { isMap } from '../../base/objects.ts'
import { counted, formatDuration } from '../../base/text/quantities.ts'
import { faultNames, formatMs, quote, shorten, visible } from '../../base/text/terminal-text.ts'
import { type DriverCallEntry, isDriverCall } from '../../evaluation/scenario/run-events.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { assumedIn } from '../../platform/wording/entry.ts'
import { driverFailureText, failureBesideStatus, failureText } from '../../platform/wording/failures.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { errorIn, isInvalidSign } from '../../platform/wording/hints.ts'
import { isSignedWrong, isWronglyAccepted } from './log-filter.ts'
import type { Shade } from './theme.ts'

export interface LogLine {
  /** `intermediary -> platform`. */
  readonly direction: string
  readonly what: string
  /** Words of a person, shown quoted and shortened behind `what`. */
  readonly quoted?: string | undefined
  readonly details?: readonly LogDetail[]
}

export interface LogDetail {
  /** `answer 200`, `failed`, `finding R-BTN`, `hint`. */
  readonly label: string
  /** In the compact style, in place of `label`: `200`. */
  readonly shortLabel?: string
  readonly text: string
  readonly level: Shade
}

/** `shownAssumptions`: what the lines before show, as `name=value`; gets what this one shows. */
export function describeEntry(entry: Entry, shownAssumptions: Set<string>): LogLine {
  switch (entry.kind) {
    case 'api':
      return describeCall(entry, shownAssumptions)
    case 'event':
      return describeEvent(entry)
    case 'delivery':
      return describeDelivery(entry)
    case 'user':
      return describeUser(entry)
    case 'note':
      return describeNote(entry)
    case 'fault':
      return { direction: 'fault', what: visible(faultHitText(entry)) }
    default:
      return isDriverCall(entry) && entry.verb !== undefined
        ? describeAct(entry)
        : { direction: entry.kind, what: fieldsText(entry) }
  }
}

/** What the agent did in the help desk. */
function describeAct({ verb, outcome, status, duration_ms, failure, text }: DriverCallEntry): LogLine {
  const label = status === undefined || failure !== undefined ? outcome : `answer ${status}`
  const why = failure === undefined ? '' : `${visible(driverFailureText(failure))}, `
  const level = outcome === 'ok' ? 'good' : 'bad'
  const details: LogDetail[] = [{ label, text: `${why}${formatMs(duration_ms)}`, level }]
  return { direction: 'agent -> help desk', what: visible(verb), quoted: text, details }
}

function describeUser({ action, text, button, attachments = [] }: EntryOf<'user'>): LogLine {
  const direction = 'user -> platform'
  if (action === 'press') return { direction, what: 'presses', quoted: button ?? '' }
  const files = attachments.map(file => `${visible(file.name)} ${file.size_kb} kB`).join(', ')
  const what = files === '' ? 'writes' : `sends ${shorten(files, 40)}`
  return { direction, what, quoted: text === '' ? undefined : text }
}

function describeNote(entry: EntryOf<'note'>): LogLine {
  const text = (name: string) => visible(String(entry[name] ?? ''))
  switch (entry.note) {
    case 'bot_message':
      return { direction: 'platform -> user', what: 'writes', quoted: String(entry.text ?? '') }
    case 'chat_created':
      return { direction: 'platform', what: `chat ${text('chat_id')} (${text('source')})` }
    case 'typing_hidden':
      return { direction: 'platform -> user', what: `hides the typing indicator (${text('why')})` }
    case 'chat_ended':
      return { direction: 'platform', what: `the chat ends (${text('why')})` }
    case 'availability':
      return { direction: 'platform', what: `availability ${text('availability')} (${text('by')})` }
    case 'config':
      return { direction: 'settings', what: fieldsText(asFields(entry.changed)) }
    case 'clock_advanced':
      return { direction: 'clock', what: `advances by ${text('by')} to ${text('to')}` }
    case 'clock_paused':
      return { direction: 'clock', what: 'is paused' }
    case 'clock_resumed':
      return { direction: 'clock', what: 'goes on' }
    case 'fault_set':
      return { direction: 'fault', what: `${text('fault')} is set: ${visible(effectText(entry.effect))}` }
    case 'fault_cleared':
      return {
        direction: 'fault',
        what: `${text('fault')} is cleared after ${counted(Number(entry.hits), 'hit')}`,
      }
    case 'evicted':
      return { direction: 'journal', what: text('message') }
    case 'connections_refused':
      return {
        direction: 'handover-sim',
        what: `closes further connections, because ${Number(entry.connections)} are open; close some, or raise the limit of open files (ulimit -n) if it is low`,
      }
    case 'internal_error':
      return {
        direction: 'handover-sim',
        what: `internal error of handover-sim (${text('where')}): ${text('message')}; please report it`,
      }
    default:
      if (entry.note.startsWith('proxy_')) return { direction: 'proxy', what: text('message') }
      return { direction: 'note', what: `${visible(entry.note)} ${fieldsText(entry)}`.trim() }
  }
}

const FRAME = new Set(['v', 'seq', 'time', 'cause', 'kind', 'chat_id', 'note'])

/** `name=value name=value`, without what the line shows anyway. */
function fieldsText(fields: object): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(fields))
    if (!FRAME.has(name)) parts.push(visible(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
  return parts.join(' ')
}

type Call = EntryOf<'api'>
type Fields = Readonly<Record<string, unknown>>

const asFields = (value: unknown): Fields => (isMap(value) ? value : {})

const MAX_PATH_CHARS = 50

function describeCall(entry: Call, shownAssumptions: Set<string>): LogLine {
  const { endpoint, method, path, alias, request, findings } = entry
  const direction = 'intermediary -> platform'
  const details = [...answerOfCall(entry, shownAssumptions)]
  for (const { rule, message } of findings)
    details.push({ label: `finding ${rule}`, text: visible(message), level: 'warn' })
  if (endpoint === null)
    return { direction, what: `${visible(method)} ${shorten(visible(path), MAX_PATH_CHARS)}`, details }
  const body = asFields(request.body)
  const bodyText = bodyTextOf(endpoint, body)
  const what = `${visible(method)} ${endpoint}${alias === 'takeover' ? ' (takeover path)' : ''}${bodyText && ` ${bodyText}`}`
  const quoted = endpoint === 'message' && typeof body.message === 'string' ? body.message : undefined
  return { direction, what, quoted, details }
}

/** The fields of a body that the log shows. */
function bodyTextOf(endpoint: string, body: Fields): string {
  const { name, language_codes } = asFields(body.sender)
  const languages = Array.isArray(language_codes) ? ` (${visible(language_codes.join(', '))})` : ''
  const sender = typeof name === 'string' ? `as ${shorten(visible(name), 20)}${languages}` : ''
  switch (endpoint) {
    case 'start':
      return `${sender}${body.supports_attachment === true ? ', attachments' : ''}`
    case 'end':
      return sender
    case 'message':
      return `${sender}${Array.isArray(body.buttons) ? `, ${counted(body.buttons.length, 'button')}` : ''}`
    case 'availability':
      return visible([body.availability, body.reason].filter(part => typeof part === 'string').join(' '))
    case 'typing_start':
      return body.timeout === undefined ? '' : `for ${visible(String(body.timeout))} ms`
    default:
      return ''
  }
}

const MAX_ASSUMPTION_CHARS = 60
/** More than there are, with the values that a session gives them. */
const MAX_ASSUMPTIONS = 1000

function answerOfCall(entry: Call, shownAssumptions: Set<string>): LogDetail[] {
  const { status, faults, answer_lost, unspecified, response } = entry
  const duration = formatMs(entry.duration_ms)
  const answered = { label: `answer ${status}`, shortLabel: String(status) }
  if (faults !== undefined) {
    const by = `by ${faultNames(faults)}, ${duration}`
    if (answer_lost !== undefined) {
      const done = answer_lost === 'before' ? 'not processed' : `processed (${status}), the answer lost`
      return [{ label: 'no answer', text: `${done}, ${by}`, level: 'warn' }]
    }
    // Refusals of the platform always name assumptions, so the fault gave this one.
    if (status >= 400 && Object.keys(unspecified).length === 0) return [{ ...answered, text: by, level: 'warn' }]
  }
  // The note after the call says why.
  if (status === 0) return [{ label: 'no answer', text: duration, level: 'bad' }]
  const assumed: string[] = []
  for (const one of assumedIn(entry)) {
    const text = shorten(visible(one), MAX_ASSUMPTION_CHARS)
    if (shownAssumptions.has(text) || shownAssumptions.size >= MAX_ASSUMPTIONS) continue
    shownAssumptions.add(text)
    assumed.push(text)
  }
  const parts = [outcomeOfCall(entry), duration]
  if (assumed.length > 0) parts.push(`assumed ${assumed.join(', ')}`)
  if (faults !== undefined) parts.push(faultNames(faults))
  const text = parts.filter(part => part !== '').join(', ')
  if (status < 400) return [{ ...answered, text, level: 'good' }]
  const details: LogDetail[] = [{ ...answered, text, level: 'bad' }]
  const { message, hint } = errorIn(response)
  if (typeof message === 'string') details.push({ label: 'because', text: visible(message), level: 'bad' })
  if (typeof hint === 'string') details.push({ label: 'hint', text: visible(hint), level: 'bad' })
  return details
}

const MAX_SUMMARY_CHARS = 60

function outcomeOfCall({ status, response, path }: Call): string {
  if (status >= 400) {
    const { code } = errorIn(response)
    if (typeof code === 'string') return visible(code)
    return status >= 500 ? 'internal error of handover-sim' : 'refused'
  }
  if (status >= 300) return 'redirected to the path as it is written'
  const body = asFields(response)
  if (body.event === 'SUMMARIZED') return `SUMMARIZED ${quote(String(body.summary), MAX_SUMMARY_CHARS)}`
  const { messages } = asFields(body.chat)
  const count = Array.isArray(messages) ? `${messages.length} messages` : path.startsWith('/files/') ? 'the file' : ''
  return [typeof body.event === 'string' ? visible(body.event) : '', count].filter(Boolean).join(', ')
}

type Delivery = EntryOf<'delivery'>

function describeEvent({ event, payload }: EntryOf<'event'>): LogLine {
  const quoted = 'message' in payload ? payload.message : undefined
  const count = 'attachments' in payload ? (payload.attachments?.length ?? 0) : 0
  return {
    direction: 'platform -> webhook',
    what: `${visible(event)}${count === 0 ? '' : ` with ${counted(count, 'file')}`}`,
    quoted,
  }
}

const INVALID_SIGNS = {
  none: 'not signed on purpose',
  'wrong-key': 'signed with a wrong key on purpose',
  tampered: 'changed after signing on purpose',
  truncated: 'signature cut short on purpose',
  hex: 'signature encoded wrong on purpose',
} satisfies Record<Exclude<SignMode, 'valid'>, string>

/** Triggered or resent by a user, not sent by the platform. */
export const isManual = ({ triggered, resent }: Delivery): boolean => triggered === true || resent === true

function describeDelivery(entry: Delivery): LogLine {
  const { event, duplicate, attempt, triggered, resent, probe, faults, sign, status, duration_ms } = entry
  if (probe !== undefined) {
    const label = status === null ? 'no answer' : `answer ${status}`
    const details: LogDetail[] = [{ label, shortLabel: String(status), text: formatMs(duration_ms), level: 'plain' }]
    return { direction: 'diagnosis -> webhook', what: `${visible(event)}, trial of ${visible(probe.code)}`, details }
  }
  const copy = duplicate ? ' (copy)' : attempt > 1 ? ` (attempt ${attempt})` : ''
  const parts = [`${visible(event)}${copy}`]
  if (triggered) parts.push('triggered')
  if (resent) parts.push('resent')
  if (faults !== undefined) parts.push(faultNames(faults))
  if (isInvalidSign(sign)) parts.push(INVALID_SIGNS[sign])
  const direction = isManual(entry) ? 'manual -> webhook' : 'platform -> webhook'
  return { direction, what: parts.join(', '), details: answerToDelivery(entry) }
}

const MAX_BODY_CHARS = 160

function answerToDelivery(entry: Delivery): LogDetail[] {
  const { status, duration_ms, failure, outcome, retry_in_ms, response, url } = entry
  if (outcome === 'skipped') return [{ label: 'not sent', text: visible(failureText(failure)), level: 'warn' }]
  const label = status === null ? 'failed' : `answer ${status}`
  const answered = { label, shortLabel: status === null ? label : String(status) }
  const details: LogDetail[] = []
  if (outcome === 'delivered') details.push({ ...answered, text: formatMs(duration_ms), level: 'good' })
  else {
    const next = retry_in_ms === undefined ? '' : `, next attempt in ${formatDuration(retry_in_ms)}`
    const text = `${visible(failureBesideStatus(failure))}, ${formatMs(duration_ms)}${next}`
    details.push({ ...answered, text, level: 'bad' })
    details.push({ label: 'sent to', text: shorten(visible(url ?? ''), 120), level: 'plain' })
    // The body has the receiver's own explanation.
    const body = response?.body.trim() ?? ''
    if (body !== '') details.push({ label: 'body', text: shorten(visible(body), MAX_BODY_CHARS), level: 'plain' })
  }
  if (isSignedWrong(entry)) details.push({ label: 'signature', text: 'invalid with the given key', level: 'bad' })
  if (isWronglyAccepted(entry)) {
    const text = 'although the signature is invalid: does the receiver verify it?'
    details.push({ label: 'accepted', text, level: 'warn' })
  }
  return details
}

/** Describes an answer whose event is further up in the log; one line when the event was delivered. */
export function describeLateAnswer(entry: Delivery): LogLine {
  const line = describeDelivery(entry)
  const direction = 'webhook -> platform'
  if (entry.outcome !== 'delivered' || isSignedWrong(entry)) return { ...line, direction, what: `to ${line.what}` }
  const what = `answer ${entry.status} to ${line.what}, ${formatMs(entry.duration_ms)}`
  return { ...line, direction, what, details: [] }
}
