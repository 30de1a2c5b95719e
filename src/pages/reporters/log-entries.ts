/** Describes journal entries for the log. */
import { isMap } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { faultNames, formatMs, quote, shorten, visible } from '../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { assumedIn } from '../../platform/wording/entry.ts'
import { effectText, faultHitText } from '../../platform/wording/faults.ts'
import { errorIn } from '../../platform/wording/hints.ts'
import { describeDelivery, describeEvent, type LogDetail, type LogLine } from './log-webhooks.ts'

const TEXTS = {
  writes: 'writes',
}

export function describeEntry(entry: Entry): LogLine {
  switch (entry.kind) {
    case 'api':
      return describeCall(entry)
    case 'event':
      return describeEvent(entry)
    case 'delivery':
      return describeDelivery(entry)
    case 'user':
      return describeUser(entry)
    case 'note':
      return describeNote(entry)
    case 'fault':
      return other('fault', visible(faultHitText(entry)))
    default:
      return other(entry.kind, details(entry))
  }
}

function describeUser({ action, text, button, attachments }: EntryOf<'user'>): LogLine {
  const direction = 'user -> platform'
  if (action === 'press') return { direction, what: 'presses', quoted: button ?? '' }
  const files = (attachments ?? []).map(file => `${visible(file.name)} ${file.size_kb} kB`)
  return {
    direction,
    what: files.length === 0 ? TEXTS.writes : `sends ${shorten(files.join(', '), 40)}`,
    quoted: text === '' ? undefined : text,
  }
}

function describeNote(entry: EntryOf<'note'>): LogLine {
  const text = (name: string) => visible(String(entry[name] ?? ''))
  switch (entry.note) {
    case 'bot_message':
      return {
        direction: 'platform -> user',
        what: TEXTS.writes,
        quoted: String(entry.text ?? ''),
      }
    case 'chat_created':
      return other('platform', `chat ${text('chat_id')} (${text('source')})`)
    case 'typing_hidden':
      return other('platform -> user', `hides the typing indicator (${text('why')})`)
    case 'chat_ended':
      return other('platform', `the chat ends (${text('why')})`)
    case 'availability':
      return other('platform', `availability ${text('availability')} (${text('by')})`)
    case 'config':
      return other('settings', details((entry.changed ?? {}) as Record<string, unknown>))
    case 'clock_advanced':
      return other('clock', `advances by ${text('by')} to ${text('to')}`)
    case 'clock_paused':
      return other('clock', 'is paused')
    case 'clock_resumed':
      return other('clock', 'goes on')
    case 'fault_set':
      return other('fault', `${text('fault')} is set: ${visible(effectText(entry.effect))}`)
    case 'fault_cleared':
      return other('fault', `${text('fault')} is cleared after ${counted(Number(entry.hits), 'hit')}`)
    case 'evicted':
      return other('journal', text('message'))
    case 'connections_refused':
      return other(
        'handover-sim',
        `closes further connections, because ${Number(entry.connections)} are open; close some, or raise the limit of open files (ulimit -n) if it is low`,
      )
    case 'internal_error':
      return other(
        'handover-sim',
        `internal error of handover-sim (${text('where')}): ${text('message')}; please report it`,
      )
    default:
      return other('note', `${visible(entry.note)} ${details(entry)}`)
  }
}

const FRAME = new Set(['v', 'seq', 'time', 'cause', 'kind', 'chat_id', 'note'])

const other = (direction: string, what: string): LogLine => ({
  direction,
  what: what.trim(),
})

/** `name=value name=value`, without what the line shows anyway. */
function details(fields: object): string {
  return Object.entries(fields)
    .filter(([name]) => !FRAME.has(name))
    .map(([name, value]) => visible(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
    .join(' ')
}

const CALLS = {
  answer: (status: number) => `answer ${status}`,
}

type Call = EntryOf<'api'>
type Fields = Readonly<Record<string, unknown>>

const asFields = (value: unknown): Fields => (isMap(value) ? value : {})

function describeCall(entry: Call): LogLine {
  const { what, quoted } = request(entry)
  const details = [...answer(entry), ...findings(entry)]
  return { direction: 'intermediary -> platform', what, quoted, details }
}

const LONGEST_PATH = 50

function request(entry: Call): { what: string; quoted?: string | undefined } {
  const method = visible(entry.method)
  if (entry.endpoint === null) return { what: `${method} ${shorten(visible(entry.path), LONGEST_PATH)}` }
  const old = entry.alias === 'takeover' ? ' (takeover path)' : ''
  const body = asFields(entry.request.body)
  const bodyText = BODY_TEXTS[entry.endpoint]?.(body)
  const quoted = entry.endpoint === 'message' && typeof body.message === 'string' ? body.message : undefined
  return { what: `${method} ${entry.endpoint}${old}${bodyText ? ` ${bodyText}` : ''}`, quoted }
}

function sender(body: Fields): string {
  const { name, language_codes } = asFields(body.sender)
  const languages = Array.isArray(language_codes) ? ` (${visible(language_codes.join(', '))})` : ''
  return typeof name === 'string' ? `as ${shorten(visible(name), 20)}${languages}` : ''
}

/** The fields of a body that the log shows, by endpoint. */
const BODY_TEXTS: Partial<Record<string, (body: Fields) => string>> = {
  start: body => `${sender(body)}${body.supports_attachment === true ? ', attachments' : ''}`,
  end: sender,
  message: body => `${sender(body)}${Array.isArray(body.buttons) ? `, ${counted(body.buttons.length, 'button')}` : ''}`,
  availability: body => visible([body.availability, body.reason].filter(part => typeof part === 'string').join(' ')),
  typing_start: body => (body.timeout === undefined ? '' : `for ${visible(String(body.timeout))} ms`),
}

function answer(entry: Call): LogDetail[] {
  if (isAnsweredByFault(entry)) return [faultAnswer(entry)]
  const { status } = entry
  const refused = status >= 400
  const by = entry.faults === undefined ? '' : faultNames(entry.faults)
  const text = [outcome(entry), formatMs(entry.duration_ms), assumptions(entry), by].filter(Boolean).join(', ')
  const first: LogDetail = {
    label: CALLS.answer(status),
    shortLabel: String(status),
    text,
    level: refused ? 'bad' : 'good',
  }
  return refused ? [first, ...reasons(entry)] : [first]
}

function reasons({ response }: Call): LogDetail[] {
  const { message, hint } = errorIn(response)
  const texts = [
    ['because', message],
    ['hint', hint],
  ] as const
  return texts.flatMap(([label, text]) =>
    typeof text === 'string' ? [{ label, text: visible(text), level: 'bad' as const }] : [],
  )
}

function assumptions(entry: Call): string {
  const assumed = assumedIn(entry).map(one => shorten(visible(one), LONGEST_ASSUMPTION))
  return assumed.length === 0 ? '' : `assumed ${assumed.join(', ')}`
}

const LONGEST_ASSUMPTION = 60

/** A fault lost the answer or gave one in place of the platform, whose own refusals always name assumptions. */
const isAnsweredByFault = ({ faults, answer_lost, status, unspecified }: Call): boolean =>
  faults !== undefined && (answer_lost !== undefined || (status >= 400 && Object.keys(unspecified).length === 0))

function faultAnswer({ status, faults = [], answer_lost, duration_ms }: Call): LogDetail {
  const by = `by ${faultNames(faults)}, ${formatMs(duration_ms)}`
  if (answer_lost === undefined)
    return { label: CALLS.answer(status), shortLabel: String(status), text: by, level: 'warn' }
  const done = answer_lost === 'before' ? 'not processed' : `processed (${status}), the answer lost`
  return { label: 'no answer', text: `${done}, ${by}`, level: 'warn' }
}

function outcome({ status, response, path }: Call): string {
  const body = asFields(response)
  if (status >= 400) return refusal(errorIn(response), status)
  if (status >= 300) return 'redirected to the path as it is written'
  if (body.event === 'SUMMARIZED') return `SUMMARIZED ${quote(String(body.summary), LONGEST_SUMMARY)}`
  const { messages } = asFields(body.chat)
  const count = Array.isArray(messages) ? `${messages.length} messages` : path.startsWith('/files/') ? 'the file' : ''
  return [typeof body.event === 'string' ? body.event : '', count].filter(Boolean).join(', ')
}

const LONGEST_SUMMARY = 60

function refusal({ code }: Fields, status: number): string {
  if (typeof code === 'string') return visible(code)
  return status >= 500 ? 'internal error of handover-sim' : 'refused'
}

const findings = (entry: Call): LogDetail[] =>
  entry.findings.map(({ rule, message }) => ({ label: `finding ${rule}`, text: visible(message), level: 'warn' }))
