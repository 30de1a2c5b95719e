/** Truncates long payloads of journal entries, so that a page can hold them. */

import { isMap } from '../../contract/objects.ts'
import type { Entry } from '../../journal/entry.ts'
import { size } from './formatting.ts'

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

export const truncatedText = ({ $cut, chars }: TruncatedValue): string =>
  `${$cut}… (${size($cut.length)} of ${size(chars)} kept in this report)`

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
