/** Cuts lists with many wrong items before a parse, because a parse collects the issues of all items. */
import type * as z from 'zod/mini'
import { definitionOf, typeOf } from '../../base/schemas/definitions.ts'

/** More problems of one value are counted, or not looked for. */
export const MOST_PROBLEMS = 20

/** The same value, with each list and map of it cut after 21 wrong items. */
export function withoutFurtherErrors(schema: z.ZodMiniType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { element, shape, valueType } = definitionOf(schema)
  if (Array.isArray(value)) return element === undefined ? value : beginningOf(element, value)
  if (shape !== undefined) return changedFields(shape, value)
  if (valueType === undefined) return value
  const values = Object.values(value)
  const { length } = beginningOf(valueType, values)
  return length === values.length ? value : Object.fromEntries(Object.entries(value).slice(0, length))
}

/** The same list when it has few wrong items. */
function beginningOf(item: z.ZodMiniType, values: readonly unknown[]): readonly unknown[] {
  if (values.length <= MOST_PROBLEMS || typeOf(item) === 'unknown') return values
  let wrongCount = 0
  for (const [index, value] of values.entries()) {
    if (!item.safeParse(withoutFurtherErrors(item, value)).success && ++wrongCount > MOST_PROBLEMS)
      return values.slice(0, index + 1)
  }
  return values
}

function changedFields(shape: Readonly<Record<string, z.ZodMiniType>>, value: object): object {
  let changed = value
  for (const name in shape) {
    const [schema, field]: [z.ZodMiniType | undefined, unknown] = [shape[name], Reflect.get(value, name)]
    const beginning = schema === undefined ? field : withoutFurtherErrors(schema, field)
    if (beginning !== field) changed = { ...changed, [name]: beginning }
  }
  return changed
}
