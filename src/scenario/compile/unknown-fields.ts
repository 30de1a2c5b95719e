/** Fields of an expected call that the endpoint does not have: a `none` or `never` that asks for one is met by anything. */
import type * as z from 'zod/mini'
import { ENDPOINTS, type EndpointId } from '../../contract/endpoints.ts'
import { nearest } from '../../contract/nearest.ts'
import type { CallPattern, ExpectTree } from '../action.ts'
import type { PlannedStep } from '../plan.ts'

/** `message has no field mesage; did you mean message?`. */
export function unknownFields({ call, body }: CallPattern): string[] {
  const schema = call === 'any' ? null : ENDPOINTS[call as EndpointId].body
  return schema === null ? [] : strays(body, schema, '').map(({ path, hint }) => `${call} has no field ${path}${hint}`)
}

export function patternsOf({ action }: PlannedStep): readonly CallPattern[] {
  if (action.verb === 'none') return action.calls
  return action.verb === 'expect' ? leaves(action.tree) : []
}

const leaves = (tree: ExpectTree): CallPattern[] => (tree.op === 'call' ? [tree] : tree.of.flatMap(leaves))

interface Stray {
  readonly path: string
  readonly hint: string
}

interface Def {
  readonly type: string
  readonly innerType?: z.ZodMiniType
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>
  readonly catchall?: unknown
}

const defOf = (schema: z.ZodMiniType): Def => {
  const def = schema._zod.def as unknown as Def
  return def.type === 'optional' && def.innerType !== undefined ? defOf(def.innerType) : def
}

function strays(pattern: unknown, schema: z.ZodMiniType, path: string): Stray[] {
  const { shape, catchall } = defOf(schema)
  if (!isPlain(pattern)) return []
  const entries = Object.entries(pattern)
  if (entries.some(([key]) => key.startsWith('$'))) {
    return entries.flatMap(([key, value]) => inMatcher(key, value, schema, path))
  }
  if (shape === undefined || catchall !== undefined) return []
  return entries.flatMap(([key, value]) => {
    const here = `${path}${key}`
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (inner !== undefined) return strays(value, inner, `${here}.`)
    return isAbsent(value) ? [] : [{ path: here, hint: hintFor(key, Object.keys(shape)) }]
  })
}

const hintFor = (key: string, known: readonly string[]) => nearest(key, known) || `; it has ${known.join(', ')}`

/** Those that hold matchers of the same value. */
function inMatcher(key: string, value: unknown, schema: z.ZodMiniType, path: string): Stray[] {
  if (key === '$exact') return strays(value, schema, path)
  return key === '$oneOf' && Array.isArray(value) ? value.flatMap(one => strays(one, schema, path)) : []
}

/** That a field of one's own is not there may well be what is asked. */
const isAbsent = (value: unknown) => isPlain(value) && '$absent' in value

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
