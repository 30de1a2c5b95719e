/** Describes API calls of the intermediary for the log. */

import { isMap } from '../contract/objects.ts'
import type { EntryOf } from '../journal/entry.ts'
import { counted } from '../text/quantities.ts'
import { faultNames, formatMs, quote, shorten, visible } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { assumedIn } from '../wording/assumptions.ts'
import type { LogDetail, LogLine } from './log-line.ts'

const TEXTS = defineTexts({
  takeoverPath: ' (takeover path)',
  sender: (name: string, languages: string) => `as ${name}${languages}`,
  attachments: ', attachments',
  timeout: (ms: string) => `for ${ms} ms`,
  answer: (status: number) => `answer ${status}`,
  noAnswer: 'no answer',
  because: 'because',
  finding: (rule: string) => `finding ${rule}`,
  assumed: (assumptions: string) => `assumed ${assumptions}`,
  byFaults: (faults: string) => `by ${faults}`,
  lostBefore: 'not processed',
  lostAfter: (status: number) => `processed (${status}), the answer lost`,
  redirected: 'redirected to the path as it is written',
  messages: (count: number) => `${count} messages`,
  file: 'the file',
  internalError: 'internal error of handover-sim',
  refused: 'refused',
})

type Call = EntryOf<'api'>
type Fields = Readonly<Record<string, unknown>>

const asFields = (value: unknown): Fields => (isMap(value) ? value : {})

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
  const old = entry.alias === 'takeover' ? TEXTS.takeoverPath : ''
  const body = asFields(entry.request.body)
  const bodyText = BODY_TEXTS[entry.endpoint]?.(body)
  const quoted = entry.endpoint === 'message' && typeof body.message === 'string' ? body.message : undefined
  return { what: `${method} ${entry.endpoint}${old}${bodyText ? ` ${bodyText}` : ''}`, quoted }
}

function sender(body: Fields): string {
  const { name, language_codes } = asFields(body.sender)
  const languages = Array.isArray(language_codes) ? ` (${visible(language_codes.join(', '))})` : ''
  return typeof name === 'string' ? TEXTS.sender(shorten(visible(name), 20), languages) : ''
}

/** The fields of a body that the log shows, by endpoint. */
const BODY_TEXTS: Partial<Record<string, (body: Fields) => string>> = {
  start: body => `${sender(body)}${body.supports_attachment === true ? TEXTS.attachments : ''}`,
  end: sender,
  message: body => `${sender(body)}${Array.isArray(body.buttons) ? `, ${counted(body.buttons.length, 'button')}` : ''}`,
  availability: body => visible([body.availability, body.reason].filter(part => typeof part === 'string').join(' ')),
  typing_start: body => (body.timeout === undefined ? '' : TEXTS.timeout(visible(String(body.timeout)))),
}

function answer(entry: Call): LogDetail[] {
  if (isAnsweredByFault(entry)) return [faultAnswer(entry)]
  const { status } = entry
  const refused = status >= 400
  const by = entry.faults === undefined ? '' : faultNames(entry.faults)
  const text = [outcome(entry), formatMs(entry.duration_ms), assumptions(entry), by].filter(Boolean).join(', ')
  const first: LogDetail = {
    label: TEXTS.answer(status),
    shortLabel: String(status),
    text,
    level: refused ? 'bad' : 'good',
  }
  const { message } = asFields(asFields(entry.response).error)
  return refused && typeof message === 'string'
    ? [first, { label: TEXTS.because, text: visible(message), level: 'bad' }]
    : [first]
}

function assumptions(entry: Call): string {
  const assumed = assumedIn(entry).map(one => shorten(visible(one), LONGEST_ASSUMPTION))
  return assumed.length === 0 ? '' : TEXTS.assumed(assumed.join(', '))
}

const LONGEST_ASSUMPTION = 60

/** A fault lost the answer or gave one in place of the platform, whose own refusals always name assumptions. */
const isAnsweredByFault = ({ faults, answer_lost, status, unspecified }: Call): boolean =>
  faults !== undefined && (answer_lost !== undefined || (status >= 400 && Object.keys(unspecified).length === 0))

function faultAnswer({ status, faults = [], answer_lost, duration_ms }: Call): LogDetail {
  const by = `${TEXTS.byFaults(faultNames(faults))}, ${formatMs(duration_ms)}`
  if (answer_lost === undefined)
    return { label: TEXTS.answer(status), shortLabel: String(status), text: by, level: 'warn' }
  const done = answer_lost === 'before' ? TEXTS.lostBefore : TEXTS.lostAfter(status)
  return { label: TEXTS.noAnswer, text: `${done}, ${by}`, level: 'warn' }
}

function outcome({ status, response, path }: Call): string {
  const body = asFields(response)
  if (status >= 400) return refusal(asFields(body.error), status)
  if (status >= 300) return TEXTS.redirected
  if (body.event === 'SUMMARIZED') return `SUMMARIZED ${quote(String(body.summary), LONGEST_SUMMARY)}`
  const { messages } = asFields(body.chat)
  const count = Array.isArray(messages) ? TEXTS.messages(messages.length) : path.startsWith('/files/') ? TEXTS.file : ''
  return [typeof body.event === 'string' ? body.event : '', count].filter(Boolean).join(', ')
}

const LONGEST_SUMMARY = 60

function refusal({ code }: Fields, status: number): string {
  if (typeof code === 'string') return visible(code)
  return status >= 500 ? TEXTS.internalError : TEXTS.refused
}

const findings = (entry: Call): LogDetail[] =>
  entry.findings.map(({ rule, message }) => ({ label: TEXTS.finding(rule), text: visible(message), level: 'warn' }))
