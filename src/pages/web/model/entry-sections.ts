/** Divides a journal entry into sections for people, and truncates long payloads so that a page can hold them. */
import { isMap, jsonOr } from '../../../base/objects.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { assumedIn } from '../../../platform/wording/entry.ts'
import { failureText } from '../../../platform/wording/failures.ts'
import { byteSize } from './formats.ts'

export interface Section {
  readonly title: string
  /** Beside the title: a status, a duration. */
  readonly aside?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Undefined: the section has no payload. */
  readonly payload?: unknown
  /** The text of the payload as it was sent, when the journal has it. */
  readonly exact?: string
  /** The length of the whole payload in bytes, when the journal shows its beginning only. */
  readonly truncatedFrom?: number
  readonly list?: readonly string[]
}

export const sectionsOf = (entry: Entry): Section[] =>
  entry.kind === 'api' ? [...partsOf(entry), ...findingSections(entry)] : partsOf(entry)

/** What was sent and what was answered. */
export function partsOf(entry: Entry): Section[] {
  switch (entry.kind) {
    case 'api':
      return callSections(entry)
    case 'delivery':
      return deliverySections(entry)
    case 'event':
      return [{ title: entry.event, aside: entry.delivery_id, payload: entry.payload }]
    default:
      return [{ title: 'Details', payload: restOf(entry) }]
  }
}

const LOST = { before: 'Lost before it was processed', after: 'Processed, its answer lost' }

const callSections = ({
  method,
  path,
  request,
  status,
  response,
  duration_ms,
  auth = 'not_checked',
  answer_lost,
  response_truncated_from,
}: EntryOf<'api'>): Section[] => [
  {
    title: `${method} ${path}`,
    ...(auth === 'valid' || auth === 'not_checked' ? {} : { aside: `key: ${auth.replace('_', ' ')}` }),
    headers: request.headers,
    payload: request.body ?? undefined,
    ...truncation(request),
  },
  {
    title: answer_lost === undefined ? `Answer ${status}` : LOST[answer_lost],
    aside: formatMs(duration_ms),
    payload: response ?? undefined,
    ...truncation({ truncated_from: response_truncated_from }),
  },
]

const truncation = ({ truncated_from }: { readonly truncated_from?: { readonly bytes: number } | undefined }) =>
  truncated_from === undefined ? {} : { truncatedFrom: truncated_from.bytes }

function findingSections(entry: EntryOf<'api'>): Section[] {
  const { findings } = entry
  if (isTruncatedValue(findings)) return [{ title: 'Findings', payload: findings }]
  const found = findings.map(({ rule, message }) => `${rule}: ${message}`)
  const assumed = assumedIn(entry)
  return [
    ...(found.length === 0 ? [] : [{ title: 'Findings', list: found }]),
    ...(assumed.length === 0 ? [] : [{ title: 'Assumed', list: assumed }]),
  ]
}

function deliverySections({ url, event, request, response, status, failure, ...more }: EntryOf<'delivery'>): Section[] {
  const { attempt, outcome, duration_ms, sign } = more
  const how = [`attempt ${attempt}`, outcome, ...(sign === undefined ? [] : [`signature: ${sign}`])].join(', ')
  const sent: Section = {
    title: `${event} to ${url ?? 'no URL'}`,
    aside: how,
    headers: request.headers,
    payload: jsonOr(request.body, request.body),
    exact: request.body,
    ...truncation(request),
  }
  const failureList = failure === undefined ? {} : { list: [failureText(failure)] }
  if (response === null || status === null)
    return [sent, { title: 'No answer', aside: formatMs(duration_ms), ...failureList }]
  const answer = { title: `Answer ${status}`, aside: formatMs(duration_ms), headers: response.headers, ...failureList }
  return [
    sent,
    { ...answer, payload: jsonOr(response.body, response.body), exact: response.body, ...truncation(response) },
  ]
}

function restOf({ v, seq, time, at_ms, cause, kind, ...rest }: Entry): unknown {
  return rest
}

/** The limit for one payload in characters of JSON: a body, headers, a field of an event. */
export const PAYLOAD_LIMIT = 16 * 1024
/** Truncates long fields down to this depth, and deeper values as a whole. */
const DEPTH = 3

/** Replaces a long payload that is not text. */
export interface TruncatedValue {
  readonly $cut: string
  readonly chars: number
}

export const isTruncatedValue = (value: unknown): value is TruncatedValue =>
  isMap(value) && typeof value.$cut === 'string'

const truncatedText = ({ $cut, chars }: TruncatedValue): string =>
  `${$cut}… (${byteSize($cut.length)} of ${byteSize(chars)} kept in this report)`

export function truncateEntry(entry: Entry, limit = PAYLOAD_LIMIT): Entry {
  return JSON.stringify(entry).length <= limit ? entry : (truncateFields(entry, limit, 1) as Entry)
}

const truncateFields = (fields: object, limit: number, depth: number) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, truncate(value, limit, depth)]))

function truncate(value: unknown, limit: number, depth: number): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (text.length <= limit) return value
  if (depth < DEPTH && isMap(value)) {
    const fields = truncateFields(value, limit, depth + 1)
    if (JSON.stringify(fields).length <= 3 * limit) return fields
  }
  const cut: TruncatedValue = { $cut: text.slice(0, limit), chars: text.length }
  return typeof value === 'string' ? truncatedText(cut) : cut
}

/** A payload as text: JSON with indentation, or the text itself. */
export function pretty(payload: unknown): string {
  if (isTruncatedValue(payload)) return truncatedText(payload)
  return typeof payload === 'string' ? payload : JSON.stringify(payload, replaceTruncated, 2)
}

const replaceTruncated = (_: string, value: unknown) => (isTruncatedValue(value) ? truncatedText(value) : value)
