/** Calls of the intermediary in words. */

import type { EntryOf } from '../journal/entry.ts'
import { counted } from '../text/counted.ts'
import { faultNames, formatMs, quote, shorten } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import { assumedIn } from '../wording/assumptions.ts'
import type { LogDetail, LogLine } from './log-line.ts'

type Call = EntryOf<'api'>
type Fields = Readonly<Record<string, unknown>>

const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

export function describeCall(entry: Call): LogLine {
  const { what, quoted } = request(entry)
  const refused = entry.status >= 400
  return {
    direction: 'intermediary -> platform',
    what,
    quoted,
    details: [...answer(entry), ...findings(entry)],
    wrong: (refused && entry.faults === undefined) || entry.findings.length > 0,
  }
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

/** What of the body is worth a line. */
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
  const first: LogDetail = { label: `answer ${status}`, text, level: refused ? 'bad' : 'good' }
  const { message } = asFields(asFields(entry.response).error)
  return refused && typeof message === 'string'
    ? [first, { label: 'because', text: visible(message), level: 'bad' }]
    : [first]
}

function assumptions(entry: Call): string {
  const assumed = assumedIn(entry).map(one => shorten(visible(one), LONGEST_ASSUMPTION))
  return assumed.length === 0 ? '' : `assumed ${assumed.join(', ')}`
}

const LONGEST_ASSUMPTION = 60

/** Lost on its way, or never made: a refusal of the platform itself always names assumptions. */
const isAnsweredByFault = ({ faults, answer_lost, status, unspecified }: Call): boolean =>
  faults !== undefined && (answer_lost !== undefined || (status >= 400 && Object.keys(unspecified).length === 0))

function faultAnswer({ status, faults = [], answer_lost, duration_ms }: Call): LogDetail {
  const by = `by ${faultNames(faults)}, ${formatMs(duration_ms)}`
  if (answer_lost === undefined) return { label: `answer ${status}`, text: by, level: 'warn' }
  const done = answer_lost === 'before' ? 'nothing was done' : `done (${status}), the answer lost`
  return { label: 'no answer', text: `${done}, ${by}`, level: 'warn' }
}

function outcome({ status, response, path }: Call): string {
  const body = asFields(response)
  if (status >= 400) return refusal(asFields(body.error), status)
  if (status >= 300) return 'redirected to the path as it is written'
  if (body.event === 'SUMMARIZED') return `SUMMARIZED ${quote(String(body.summary), LONGEST_SUMMARY)}`
  const { messages } = asFields(body.chat)
  const count = Array.isArray(messages) ? `${messages.length} messages` : path.startsWith('/files/') ? 'the file' : ''
  return [typeof body.event === 'string' ? body.event : '', count].filter(Boolean).join(', ')
}

const LONGEST_SUMMARY = 60

function refusal({ code }: Fields, status: number): string {
  if (typeof code === 'string') return visible(code)
  return status >= 500 ? 'a fault of the simulator' : 'refused'
}

const findings = (entry: Call): LogDetail[] =>
  entry.findings.map(({ rule, message }) => ({ label: `finding ${rule}`, text: visible(message), level: 'warn' }))
