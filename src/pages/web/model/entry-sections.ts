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

/** What was sent and what was answered. */
export function sectionsOf(entry: Entry): Section[] {
  switch (entry.kind) {
    case 'api': {
      const { method, path, request, status, response, duration_ms, answer_lost, response_truncated_from } = entry
      return [
        {
          title: `${method} ${path}`,
          aside: request.bytes > 0 ? byteSize(request.bytes) : undefined,
          headers: request.headers,
          payload: request.body ?? undefined,
          truncatedFrom: request.truncated_from?.bytes,
        },
        {
          title: answer_lost === undefined ? `Answer ${status}` : 'No answer',
          aside: formatMs(duration_ms),
          payload: response ?? undefined,
          truncatedFrom: response_truncated_from?.bytes,
        },
      ]
    }
    case 'delivery': {
      const { url, event, request, response, status, attempt, outcome, duration_ms } = entry
      const sent = {
        title: `${event} to ${url ?? 'no URL'}`,
        aside: `attempt ${attempt}, ${outcome}`,
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

/** Shortens long payloads, so that a report can hold the entry. */
export function truncateEntry(entry: Entry): Entry {
  if (JSON.stringify(entry).length <= PAYLOAD_LIMIT) return entry
  const fields = Object.entries(entry).map(([name, value]) => {
    const isMessage = isMap(value) && (name === 'request' || (name === 'response' && entry.kind === 'delivery'))
    return [name, isMessage ? mapValues(value, part => truncate(part, PAYLOAD_LIMIT)) : truncate(value, PAYLOAD_LIMIT)]
  })
  return Object.fromEntries(fields)
}

const mapValues = (map: object, change: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))

/** Of a long text the beginning; of a long list or object the first parts. A list stays a list. */
function truncate(value: unknown, limit: number): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (text.length <= limit) return value
  const note = `… (${byteSize(limit)} of ${byteSize(text.length)} kept in this report)`
  if (typeof value !== 'object' || value === null) return `${text.slice(0, limit)}${note}`
  const parts: [name: string, part: unknown][] = []
  let left = limit
  for (const [name, whole] of Object.entries(value)) {
    const part = truncate(whole, limit / 2)
    left -= name.length + JSON.stringify(part ?? null).length
    if (left < 0) break
    parts.push([name, part])
  }
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries([...parts, ['…', note]])
}

/** A payload as text: JSON with indentation, or the text itself. */
export const pretty = (payload: unknown): string =>
  typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
