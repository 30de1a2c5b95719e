/** Entries short enough to be part of a page. */

import { isMap } from '../../files/is-map.ts'
import type { Entry } from '../../journal/entry.ts'
import { size } from './formatting.ts'

/** Characters of JSON one payload may have: a body, a header list, a field of an event. */
export const PAYLOAD_LIMIT = 16 * 1024
/** So deep an entry is looked through for what is long, before it is cut as a whole. */
const DEPTH = 3

/** What stands in the place of a payload that was too long and is no text. */
export interface Cut {
  readonly $cut: string
  readonly chars: number
}

export const isCut = (value: unknown): value is Cut =>
  typeof value === 'object' && value !== null && typeof (value as Cut).$cut === 'string'

export const inWords = ({ $cut, chars }: Cut): string =>
  `${$cut}… (${size($cut.length)} of ${size(chars)} kept in this report)`

export function capEntry(entry: Entry, limit = PAYLOAD_LIMIT): Entry {
  return JSON.stringify(entry).length <= limit ? entry : (capFields(entry, limit, 1) as Entry)
}

const capFields = (fields: object, limit: number, depth: number) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cap(value, limit, depth)]))

function cap(value: unknown, limit: number, depth: number): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (text.length <= limit) return value
  if (depth < DEPTH && isMap(value)) {
    const fields = capFields(value, limit, depth + 1)
    if (JSON.stringify(fields).length <= 3 * limit) return fields
  }
  const cut: Cut = { $cut: text.slice(0, limit), chars: text.length }
  return typeof value === 'string' ? inWords(cut) : cut
}
