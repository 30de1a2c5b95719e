/**
 * Checks that a value has exactly the form of a schema: then a parse would succeed and return an equal value. It makes no
 * copy and collects no issues, which takes a third of the time of a parse; nearly every request and answer passes it.
 */
import type * as z from 'zod/mini'
import { type BoundDefinition as Bound, type Definition, ownDefinitionOf } from './definitions.ts'
import { isMap } from './objects.ts'

/** True when a parse would return an equal value. False when only a parse can tell. */
export type QuickCheck = (value: unknown) => boolean

const checks = new WeakMap<z.ZodMiniType, QuickCheck>()

/** Returns the check of a schema, which is made once. */
export function quickCheckOf(schema: z.ZodMiniType): QuickCheck {
  const known = checks.get(schema)
  if (known !== undefined) return known
  const check = makeCheck(ownDefinitionOf(schema))
  checks.set(schema, check)
  return check
}

const never: QuickCheck = () => false

function makeCheck(definition: Definition): QuickCheck {
  const make = MAKERS[definition.type]
  const bounds = (definition.checks ?? []).map(({ _zod }) => _zod.def).filter(({ check }) => !isDocumentation(check))
  return make === undefined ? never : make(definition, bounds)
}

const isDocumentation = (check: string) => check === 'describe' || check === 'meta'

const isWith = (bounds: readonly Bound[], check: string): boolean => bounds.every(bound => bound.check === check)

const MAKERS: Readonly<Record<string, (definition: Definition, bounds: readonly Bound[]) => QuickCheck>> = {
  string(_, bounds) {
    if (!isWith(bounds, 'min_length')) return never
    const shortest = Math.max(0, ...bounds.map(({ minimum = 0 }) => minimum))
    return value => typeof value === 'string' && value.length >= shortest
  },
  number({ format }, bounds) {
    if (format !== 'safeint' || !isWith(bounds, 'greater_than')) return never
    const above = Math.max(Number.NEGATIVE_INFINITY, ...bounds.map(({ value = 0 }) => value))
    return value => Number.isSafeInteger(value) && Number(value) > above
  },
  boolean: (_, { length }) => (length > 0 ? never : value => typeof value === 'boolean'),
  literal: ({ values = [] }, { length }) => (length > 0 ? never : value => values.includes(value)),
  enum({ entries = {} }, { length }) {
    const values = Object.values(entries)
    return length > 0 ? never : value => values.includes(value)
  },
  unknown: (_, { length }) => (length > 0 ? never : () => true),
  optional: ({ innerType }, { length }) => optionalCheck(innerType, length, undefined),
  nullable: ({ innerType }, { length }) => optionalCheck(innerType, length, null),
  array({ element }, { length }) {
    if (element === undefined || length > 0) return never
    const check = quickCheckOf(element)
    return value => Array.isArray(value) && value.every(check)
  },
  null: (_, { length }) => (length > 0 ? never : value => value === null),
  union({ options = [] }, { length }) {
    const checks = options.map(quickCheckOf)
    return length > 0 ? never : value => checks.some(check => check(value))
  },
  record({ keyType, valueType }, { length }) {
    if (keyType === undefined || valueType === undefined || length > 0 || !isAnyText(keyType)) return never
    const check = quickCheckOf(valueType)
    return value => isMap(value) && hasFields(value, check)
  },
  object: ({ shape = {}, catchall }, { length }) => (length > 0 ? never : objectCheck(shape, catchall)),
}

function isAnyText(schema: z.ZodMiniType): boolean {
  const { type, checks = [] } = ownDefinitionOf(schema)
  return type === 'string' && checks.length === 0
}

function hasFields(value: Readonly<Record<string, unknown>>, check: QuickCheck): boolean {
  for (const name in value) if (name === '__proto__' || !check(value[name])) return false
  return true
}

function optionalCheck(innerType: z.ZodMiniType | undefined, bounds: number, absent: null | undefined): QuickCheck {
  if (innerType === undefined || bounds > 0) return never
  const check = quickCheckOf(innerType)
  return value => value === absent || check(value)
}

/** Another field is allowed only where the parse keeps it. */
function objectCheck(shape: Readonly<Record<string, z.ZodMiniType>>, catchall: z.ZodMiniType | undefined): QuickCheck {
  if (catchall !== undefined && catchall._zod.def.type !== 'unknown') return never
  const isLoose = catchall !== undefined
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, check: quickCheckOf(schema) }))
  return value => {
    if (!isMap(value)) return false
    let known = 0
    for (const { name, check } of fields) {
      const field = value[name]
      if (!check(field)) return false
      if (field !== undefined) known++
    }
    for (const name in value) if (name === '__proto__' || (--known < 0 && !isLoose)) return false
    return true
  }
}
