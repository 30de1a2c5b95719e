/** Reads the keys of a schema at a path, and its type below wrappers such as `optional`. */
import type * as z from 'zod/mini'

interface Definition {
  readonly type: string
  readonly innerType?: z.ZodMiniType
  readonly element?: z.ZodMiniType
  readonly options?: readonly z.ZodMiniType[]
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>
  readonly valueType?: z.ZodMiniType
  /** Set when the object allows other keys, or refuses them. */
  readonly catchall?: z.ZodMiniType
  /** The schema that a recursive schema refers to. */
  readonly getter?: () => z.ZodMiniType
}

/** The definition below `optional`, `nullable` and similar wrappers. */
export function definitionOf(schema: z.ZodMiniType): Definition {
  const definition = schema._zod.def as unknown as Definition
  const inner = definition.getter?.() ?? definition.innerType
  return inner === undefined ? definition : definitionOf(inner)
}

export function knownKeys(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  const { type, element, options, shape, valueType } = definitionOf(schema)
  if (options) return [...new Set(options.flatMap(option => knownKeys(option, path)))]
  const [step, ...rest] = path
  if (step === undefined) return Object.keys(shape ?? {})
  if (type === 'array' && element) return knownKeys(element, rest)
  const next = shape?.[String(step)] ?? valueType
  return next ? knownKeys(next, rest) : []
}

export const typeOf = (schema: z.ZodMiniType): string => definitionOf(schema).type
export const shapeOf = (schema: z.ZodMiniType) => definitionOf(schema).shape ?? {}
