/** Compares two journal entries field by field, headers and bodies included. */
import { isMap } from '../../contract/objects.ts'
import type { Entry } from '../../journal/entry.ts'

export interface FieldPair {
  /** `request.body.sender.name` */
  readonly path: string
  /** As JSON, or the text itself; null when the entry does not have the field. */
  readonly left: string | null
  readonly right: string | null
  readonly isEqual: boolean
}

/** More fields are not compared. */
const MOST_FIELDS = 2_000

/** In the order of the left entry; fields that only the right one has follow. */
export function compareEntries(left: Entry, right: Entry): FieldPair[] {
  const [before, after] = [fieldsOf(left), fieldsOf(right)]
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  return paths.map(path => {
    const [one, other] = [before.get(path) ?? null, after.get(path) ?? null]
    return { path, left: one, right: other, isEqual: one === other }
  })
}

/** Without what differs between all entries and says nothing. */
function fieldsOf({ v, seq, at_ms, ...rest }: Entry): Map<string, string> {
  const fields = new Map<string, string>()
  addFields(fields, '', rest)
  return fields
}

function addFields(fields: Map<string, string>, path: string, value: unknown): void {
  if (value === undefined || fields.size >= MOST_FIELDS) return
  const parsed = typeof value === 'string' && path.endsWith('.body') ? parsedJson(value) : value
  const parts = Array.isArray(parsed) ? Object.entries(parsed) : isMap(parsed) ? Object.entries(parsed) : []
  if (parts.length === 0) fields.set(path, typeof parsed === 'string' ? parsed : JSON.stringify(parsed))
  for (const [name, part] of parts)
    addFields(fields, Array.isArray(parsed) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, part)
}

/** Bodies of deliveries are texts. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
