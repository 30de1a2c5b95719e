/** Divides a journal entry into sections for people, and truncates long payloads so that a page can hold them. */
import { isMap, jsonOr } from '../../../base/objects.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { byteSize } from './formats.ts'

export interface Section {
  readonly title: string
  /** Beside the title: a status, a duration. */
  readonly aside?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Undefined: the section has no payload. */
  readonly payload?: unknown
  /** The text of the payload as it was sent, when the journal has it. */
  readonly exact?: string
  /** The length of the whole payload in bytes, when the journal shows its beginning only. */
  readonly truncatedFrom?: number | undefined
}

const LOST = { before: 'Lost before it was processed', after: 'Processed, its answer lost' }

/** What was sent and what was answered. */
export function sectionsOf(entry: Entry): Section[] {
  switch (entry.kind) {
    case 'api': {
      const { method, path, request, status, response, duration_ms, answer_lost, response_truncated_from } = entry
      const { auth = 'not_checked' } = entry
      return [
        {
          title: `${method} ${path}`,
          aside: auth === 'valid' || auth === 'not_checked' ? undefined : `key: ${auth.replace('_', ' ')}`,
          headers: request.headers,
          payload: request.body ?? undefined,
          truncatedFrom: request.truncated_from?.bytes,
        },
        {
          title: answer_lost === undefined ? `Answer ${status}` : LOST[answer_lost],
          aside: formatMs(duration_ms),
          payload: response ?? undefined,
          truncatedFrom: response_truncated_from?.bytes,
        },
      ]
    }
    case 'delivery': {
      const { url, event, request, response, status, attempt, outcome, duration_ms, sign } = entry
      const sent = {
        title: `${event} to ${url ?? 'no URL'}`,
        aside: [`attempt ${attempt}`, outcome, ...(sign === undefined ? [] : [`signature: ${sign}`])].join(', '),
        ...messageContent(request),
      }
      const aside = formatMs(duration_ms)
      if (response === null || status === null) return [sent, { title: 'No answer', aside }]
      return [sent, { title: `Answer ${status}`, aside, ...messageContent(response) }]
    }
    case 'event':
      return [{ title: entry.event, aside: entry.delivery_id, payload: entry.payload }]
    default: {
      const { v, seq, time, at_ms, cause, kind, ...rest } = entry
      return [{ title: 'Details', payload: rest }]
    }
  }
}

/** The headers and the body of a delivery or its answer. */
const messageContent = (message: EntryOf<'delivery'>['request'] | NonNullable<EntryOf<'delivery'>['response']>) => ({
  headers: message.headers,
  payload: jsonOr(message.body, message.body),
  exact: message.body,
  truncatedFrom: message.truncated_from?.bytes,
})

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
