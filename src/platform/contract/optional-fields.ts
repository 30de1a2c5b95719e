/**
 * Finds optional fields of a request that are null or empty. The platform does not say how it reads them (`api.nulls`,
 * `api.emptyFields`), and many serialisers write null for what is not set.
 */
import type * as z from 'zod/mini'
import { isMap } from '../../base/objects.ts'
import { definitionOf } from '../../base/schemas/definitions.ts'
import { joinPath, MAX_PROBLEMS } from '../../base/schemas/explain-issues.ts'

/** Names of optional fields, such as `sender.avatar`: the first 20 of each kind. */
export interface EmptyFields {
  readonly nulls: readonly string[]
  readonly empty: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/** `filled`: the body without these fields; the same object when there are none. */
export function leaveOutEmpty(schema: z.ZodMiniType, body: Fields): EmptyFields & { readonly filled: Fields } {
  const names: Names = { nulls: [], empty: [] }
  return { filled: leaveOut(schema, body, '', names) as Fields, ...names }
}

type Names = { readonly [Kind in keyof EmptyFields]: string[] }

function leaveOut(schema: z.ZodMiniType, value: unknown, path: string, names: Names): unknown {
  const { element, shape } = definitionOf(schema)
  if (Array.isArray(value) && element !== undefined) {
    const filled = value.map((item, index) => leaveOut(element, item, `${path}[${index}]`, names))
    return filled.some((item, index) => item !== value[index]) ? filled : value
  }
  if (!isMap(value) || shape === undefined) return value
  let filled: Record<string, unknown> | null = null
  for (const key in shape) {
    const field = shape[key]
    if (field === undefined || !Object.hasOwn(value, key)) continue
    const name = joinPath(path, key)
    const kind = field._zod.optin === 'optional' ? kindOf(value[key], definitionOf(field).type) : null
    const kept = kind === null ? leaveOut(field, value[key], name, names) : undefined
    if (kept === value[key]) continue
    filled ??= { ...value }
    if (kind === null) filled[key] = kept
    else delete filled[key]
    if (kind !== null && names[kind].length < MAX_PROBLEMS) names[kind].push(name)
  }
  return filled ?? value
}

/**
 * Null for a value that is kept: also for an empty object, because a sender needs no field (R-SENDER.2), and for an empty
 * value of another type than the field, which is a mistake that the schema finds.
 */
function kindOf(value: unknown, type: string): keyof EmptyFields | null {
  if (value === null) return 'nulls'
  const isEmpty = type === 'array' ? Array.isArray(value) && value.length === 0 : type === 'string' && value === ''
  return isEmpty ? 'empty' : null
}
