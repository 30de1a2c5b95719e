/**
 * Defines the values that decide which steps a scenario has: durations, counts, words. Each can also be `$(name)`, when
 * the name is known before the run: of vars, a matrix, an include, `i`, `user`.
 */
import * as z from 'zod/mini'
import { ENDPOINTS } from '../../contract/endpoints.ts'
import { SIGN_MODES } from '../../contract/events.ts'
import { keysOf } from '../../contract/objects.ts'
import type { AvailabilityReason, AvailabilityValue } from '../../contract/schemas.ts'
import { isMap } from '../../files/is-map.ts'
import { parseDuration } from '../../text/quantities.ts'
import type { AckWanted, CallName, Times } from '../action.ts'
import type { Severity } from '../plan.ts'

export type Placeholder = `$(${string})`

export interface ValueType<Value> {
  /** What it must be: `a whole number from 1`. */
  readonly expected: string
  parse(input: unknown): Value | undefined
  readonly shape: Readonly<Record<string, unknown>>
}

const PLACEHOLDER = /^\$\([^()]+\)$/
export const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'string' && PLACEHOLDER.test(value)

/** A schema whose TypeScript type zod cannot infer. */
export const typed = <Value>(schema: z.ZodMiniType): z.ZodMiniType<Value> => schema as z.ZodMiniType<Value>

/** The schema of a value that is known before the run: as written, or `$(name)`. */
export function staticSchema<Input>(type: ValueType<unknown>, description: string, ...examples: readonly unknown[]) {
  const schema = z.unknown().check(
    ctx => {
      const { value } = ctx
      if (isPlaceholder(value) || type.parse(value) !== undefined) return
      ctx.issues.push({ code: 'custom', input: value, message: type.expected })
    },
    z.meta({
      ...orPlaceholder(type.shape),
      description,
      ...(examples.length === 0 ? {} : { examples: [...examples] }),
    }),
  )
  return typed<Input | Placeholder>(schema)
}

/** The JSON Schema of `$(name)`. */
export const PLACEHOLDER_SHAPE = { type: 'string', pattern: PLACEHOLDER.source } as const

const orPlaceholder = (shape: Readonly<Record<string, unknown>>) => ({ anyOf: [shape, PLACEHOLDER_SHAPE] })

function wordOf<const Word extends string>(words: readonly Word[]): ValueType<Word> {
  return {
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    parse: input => words.find(word => word === input),
    shape: { enum: words },
  }
}

const whole = (value: unknown, min: number): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= min ? value : undefined

export const atLeast = (min: number): ValueType<number> => ({
  expected: `a whole number from ${min}`,
  parse: input => whole(input, min),
  shape: { type: 'integer', minimum: min },
})

export const DURATION: ValueType<number> = {
  expected: 'a duration with a unit: 500ms, 5s, 10m, 12h',
  parse: input => parseDuration(input) ?? undefined,
  shape: { type: 'string', pattern: '^\\s*\\d+(\\.\\d+)?(ms|s|m|h)\\s*$' },
}

export const FLAG: ValueType<boolean> = {
  expected: 'true or false',
  parse: input => (typeof input === 'boolean' ? input : undefined),
  shape: { type: 'boolean' },
}

export const SEVERITY: ValueType<Severity> = wordOf(['fail', 'warn', 'off'])
export const AVAILABILITY_VALUE: ValueType<AvailabilityValue> = wordOf(['OPEN', 'CLOSED'])
export const REASON: ValueType<AvailabilityReason> = wordOf(['AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER'])
export const SIGN = wordOf(SIGN_MODES)
export const TARGET = wordOf(['restart', 'start', 'stop', 'kill'])
export const ALIAS = wordOf(['handover', 'takeover'])
export const AUTH = wordOf(['valid', 'invalid'])

export const CALL_NAMES: readonly CallName[] = [...keysOf(ENDPOINTS), 'any']

export const ACK: ValueType<AckWanted> = {
  expected: 'a status such as 200, any or non-2xx',
  parse: input => {
    if (input === 'any' || input === 'non-2xx') return input
    return typeof input === 'number' && input >= 100 && input <= 599 ? whole(input, 100) : undefined
  },
  shape: { anyOf: [{ enum: ['any', 'non-2xx'] }, { type: 'integer', minimum: 100, maximum: 599 }] },
}

/** At least one; `none`, which has a duration, means zero. */
export const TIMES: ValueType<Times> = {
  expected: 'a whole number from 1, or a map such as { min: 1, max: 2 } (none: says that no call comes)',
  parse: input => {
    if (typeof input === 'number') return readTimes({ min: input, max: input })
    if (!isMap(input)) return undefined
    const { min = 0, max = Number.POSITIVE_INFINITY, ...others } = input
    return Object.keys(input).length === 0 || Object.keys(others).length > 0 ? undefined : readTimes({ min, max })
  },
  shape: {
    anyOf: [
      { type: 'integer', minimum: 1 },
      {
        type: 'object',
        properties: { min: { type: 'integer', minimum: 0 }, max: { type: 'integer', minimum: 1 } },
        minProperties: 1,
        additionalProperties: false,
      },
    ],
  },
}

function readTimes({ min, max }: { min: unknown; max: unknown }): Times | undefined {
  const [least, most] = [whole(min, 0), max === Number.POSITIVE_INFINITY ? max : whole(max, 1)]
  return least === undefined || most === undefined || least > most ? undefined : { min: least, max: most }
}

export type TimesInput = number | { min?: number; max?: number }
