/** Entries short enough to be part of a page. */

import { isMap } from '../../files/is-map.ts'
import type { Entry } from '../../journal/entry.ts'
import { size } from './formatting.ts'

/** Characters of JSON one payload may have: a body, a header list, a field of an event. */
export const PAYLOAD_LIMIT = 16 * 1024
/** So deep an entry is looked through for what is long, before it is cut as a whole. */
const DEPTH = 3

/** What stands in the place of a payload that was too long and is no text. */
export interface TruncatedValue {
  readonly $cut: string
  readonly chars: number
}

export const isTruncatedValue = (value: unknown): value is TruncatedValue =>
  typeof value === 'object' && value !== null && typeof (value as TruncatedValue).$cut === 'string'

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
