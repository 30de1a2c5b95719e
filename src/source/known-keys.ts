/** The keys a schema knows at a path, for suggestions. */
import type * as z from 'zod/mini'

interface Definition {
  readonly type: string
  readonly innerType?: z.ZodMiniType
  readonly element?: z.ZodMiniType
  readonly options?: readonly z.ZodMiniType[]
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>
  readonly valueType?: z.ZodMiniType
  /** Of a schema that uses itself. */
  readonly getter?: () => z.ZodMiniType
}

const definitionOf = (schema: z.ZodMiniType) => schema._zod.def as unknown as Definition

export function knownKeys(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  const { type, innerType, element, options, shape, valueType, getter } = definitionOf(schema)
  if (getter) return knownKeys(getter(), path)
  if (innerType) return knownKeys(innerType, path)
  if (options) return options.flatMap(option => knownKeys(option, path))
  const [step, ...rest] = path
  if (step === undefined) return Object.keys(shape ?? {})
  if (type === 'array' && element) return knownKeys(element, rest)
  const next = shape?.[String(step)] ?? valueType
  return next ? knownKeys(next, rest) : []
}
