/** Finds fields of an expected call that the endpoint does not have. */
import type * as z from 'zod/mini'
import { ENDPOINTS } from '../../contract/endpoints.ts'
import { definitionOf } from '../../contract/explain-issues.ts'
import { nearest } from '../../text/error-text.ts'
import type { CallPattern } from '../action.ts'
import { isAsymmetric } from '../interpolation.ts'

export interface UnknownField {
  /** The path in the body, with keys of matchers. */
  readonly path: readonly PropertyKey[]
  /** The name as in a call: `sender.nam`. */
  readonly name: string
  /** The field that was probably meant, or all fields. */
  readonly hint: string
  /** Whether a field has a similar name. */
  readonly near: boolean
}

export function unknownFields({ call, body }: CallPattern): UnknownField[] {
  const schema = call === 'any' ? null : ENDPOINTS[call].body
  return schema === null ? [] : unknownIn(body, schema, [], '')
}

function unknownIn(
  pattern: unknown,
  schema: z.ZodMiniType,
  path: readonly PropertyKey[],
  within: string,
): UnknownField[] {
  const { shape, catchall } = definitionOf(schema)
  if (!isPlain(pattern) || isAsymmetric(pattern)) return []
  const entries = Object.entries(pattern)
  if (entries.some(([key]) => key.startsWith('$'))) {
    return entries.flatMap(([key, value]) => inMatcher(key, value, schema, [...path, key], within))
  }
  if (shape === undefined || catchall !== undefined) return []
  return entries.flatMap(([key, value]) => {
    const full = [...path, key]
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (inner !== undefined) return unknownIn(value, inner, full, `${within}${key}.`)
    return isAbsent(value) ? [] : [{ path: full, name: `${within}${key}`, ...suggestion(key, Object.keys(shape)) }]
  })
}

function suggestion(key: string, known: readonly string[]): Pick<UnknownField, 'hint' | 'near'> {
  const near = dotted(key, known) || nearest(key, known)
  return { near: near !== '', hint: near || `; it has ${known.join(', ')}` }
}

/** Explains a dotted key, as other tools use them. */
function dotted(key: string, known: readonly string[]): string {
  const [first = '', ...rest] = key.split('.')
  return rest.length > 0 && known.includes(first) ? `; write ${first}: { ${rest.join(': { ')}: … }` : ''
}

/** Operators whose argument is about the same value. */
function inMatcher(
  key: string,
  value: unknown,
  schema: z.ZodMiniType,
  path: readonly PropertyKey[],
  within: string,
): UnknownField[] {
  if (key === '$exact') return unknownIn(value, schema, path, within)
  if (key !== '$oneOf' || !Array.isArray(value)) return []
  return value.flatMap((one, index) => unknownIn(one, schema, [...path, index], within))
}

/** `$absent` of an unknown field is valid. */
const isAbsent = (value: unknown) => isPlain(value) && '$absent' in value

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
