/** Checks large values by a schema in steps: each item of a long list is one, because a parse of 30 MB takes a second. */
import type * as z from 'zod/mini'
import { definitionOf } from '../../base/schemas/definitions.ts'
import { MOST_PROBLEMS, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** As the result of `safeParse`. */
export type Checked<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly issues: readonly Issue[] }

const LONG_LIST = 50

/** A list that is checked by itself. */
interface LongList {
  readonly path: Path
  readonly item: z.ZodMiniType
  readonly values: readonly unknown[]
}

/** Parses as `safeParse` does. A list with many wrong items is checked up to the 21st. */
export function* checkInSteps<T>(schema: z.ZodMiniType<T>, value: unknown): Generator<void, Checked<T>> {
  const lists: LongList[] = []
  const rest = withoutLongLists(schema, value, [], lists)
  const parsed = schema.safeParse(rest, ZOD_MESSAGES)
  const issues: Issue[] = parsed.success ? [] : [...parsed.error.issues]
  let data: unknown = parsed.data
  for (const list of lists) {
    const items = yield* checkItems(list, issues)
    data = withValueAt(data, list.path, items)
  }
  return issues.length === 0 ? { success: true, data: data as T } : { success: false, issues }
}

function* checkItems({ path, item, values }: LongList, issues: Issue[]): Generator<void, unknown[]> {
  const items: unknown[] = []
  let wrongCount = 0
  for (const [index, value] of values.entries()) {
    const checked: Checked<unknown> = yield* checkInSteps(item, value)
    if (checked.success) items.push(checked.data)
    else {
      for (const issue of checked.issues) issues.push({ ...issue, path: [...path, index, ...issue.path] })
      if (++wrongCount > MOST_PROBLEMS) break
    }
    yield
  }
  return items
}

/** The same value with empty lists in place of long ones, which are added to `lists`. */
function withoutLongLists(schema: z.ZodMiniType, value: unknown, path: Path, lists: LongList[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { element, shape } = definitionOf(schema)
  if (Array.isArray(value)) {
    if (element === undefined) return value
    if (value.length <= LONG_LIST) {
      return value.map((item: unknown, index) => withoutLongLists(element, item, [...path, index], lists))
    }
    lists.push({ path, item: element, values: value })
    return []
  }
  let changed = value
  for (const name in shape) {
    const field: unknown = Reflect.get(value, name)
    const inner = shape[name]
    if (typeof field !== 'object' || inner === undefined) continue
    const rest = withoutLongLists(inner, field, [...path, name], lists)
    if (rest !== field) changed = { ...changed, [name]: rest }
  }
  return changed
}

/** Returns data with another value at a path. Data may be frozen. What could not be parsed stays undefined. */
function withValueAt(data: unknown, [name, ...path]: Path, value: unknown): unknown {
  if (name === undefined) return value
  if (typeof data !== 'object' || data === null) return data
  const inner = withValueAt(Reflect.get(data, name), path, value)
  return Array.isArray(data) ? data.with(Number(name), inner) : { ...data, [name]: inner }
}
