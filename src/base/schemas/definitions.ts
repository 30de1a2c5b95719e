/** Reads the definitions of schemas, which zod has no public names for. */
import type * as z from 'zod/mini'

/** The definition of a schema of zod, as far as this program reads it. */
export interface Definition {
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

const ownDefinitionOf = (schema: z.ZodMiniType): Definition => schema._zod.def as unknown as Definition

/** The definition below `optional`, `nullable` and similar wrappers. */
export function definitionOf(schema: z.ZodMiniType): Definition {
  const definition = ownDefinitionOf(schema)
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

/** A schema whose TypeScript type zod cannot infer. */
export const typed = <Value>(schema: z.ZodMiniType): z.ZodMiniType<Value> => schema as z.ZodMiniType<Value>
