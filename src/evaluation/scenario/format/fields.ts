/** Builds schemas of fields: values known before the run, where `$(name)` is allowed too, and rules over whole maps. */
import * as z from 'zod/mini'
import { isMap, keysOf } from '../../../base/objects.ts'
import { typed } from '../../../base/schemas/definitions.ts'
import { type SchemaProblemCode, sentenceIssue } from '../../../base/schemas/explain-issues.ts'
import {
  DURATION_PATTERN,
  type Duration,
  KB_EXPECTED,
  KB_SHAPE,
  parseDuration,
  parseKb,
} from '../../../base/text/quantities.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../../platform/contract/event-names.ts'
import type { AvailabilityReason, AvailabilityValue } from '../../../platform/contract/schemas.ts'
import { described, predicateSchema } from '../../../platform/simulator/setting-schemas.ts'
import type { CallName, ExpectedAck, ScenarioLevel, Severity, Times } from '../plan.ts'

export type Placeholder = `$(${string})`

/** How a value is written (`Input`) and what it means. */
export interface ValueType<Value, Input = Value> {
  /** What it must be: `a whole number from 1`. */
  readonly expected: string
  parse(input: unknown): Value | undefined
  readonly shape: Readonly<Record<string, unknown>>
  /** Only a type: how it is written. */
  readonly input?: Input
}

const PLACEHOLDER = /^\$\([^()]+\)$/
export const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'string' && PLACEHOLDER.test(value)

/** The JSON Schema of `$(name)`. */
export const PLACEHOLDER_SHAPE = { type: 'string', pattern: PLACEHOLDER.source } as const

/** The schema of a value that is known before the run: as written, or `$(name)`. */
export function staticSchema<Input>(type: ValueType<unknown, Input>, description: string, ...examples: unknown[]) {
  const fits = (value: unknown) => isPlaceholder(value) || type.parse(value) !== undefined
  const schema = predicateSchema(fits, () => type.expected, { anyOf: [type.shape, PLACEHOLDER_SHAPE] })
  return typed<Input | Placeholder>(schema.check(described(description, ...examples)))
}

export const optionalStatic = <Input>(type: ValueType<unknown, Input>, description: string, ...examples: unknown[]) =>
  z.optional(staticSchema(type, description, ...examples))

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

/** In whole kilobytes. */
export const SIZE_KB: ValueType<number, number | string> = { expected: KB_EXPECTED, parse: parseKb, shape: KB_SHAPE }

export const DURATION: ValueType<number, Duration> = {
  expected: 'a duration with a unit: 500ms, 5s, 10m, 12h',
  parse: input => parseDuration(input) ?? undefined,
  shape: { type: 'string', pattern: DURATION_PATTERN },
}

/** The shortest and the longest time. */
export const DURATION_RANGE: ValueType<{ readonly fromMs: number; readonly toMs: number }, `${Duration}..${Duration}`> =
  {
    expected: 'two durations, the shorter one first: 3s..20s',
    parse: input => {
      const [from, to, ...more] = typeof input === 'string' ? input.split('..').map(parseDuration) : []
      const isRange = from != null && to != null && from <= to && more.length === 0
      return isRange ? { fromMs: from, toMs: to } : undefined
    },
    shape: { type: 'string', pattern: `${DURATION_PATTERN.slice(0, -1)}\\.\\.${DURATION_PATTERN.slice(1)}` },
  }

export const FLAG: ValueType<boolean> = {
  expected: 'true or false',
  parse: input => (typeof input === 'boolean' ? input : undefined),
  shape: { type: 'boolean' },
}

export const SEVERITY: ValueType<Severity> = wordOf(['fail', 'warn', 'off'])
export const LEVEL: ValueType<ScenarioLevel> = wordOf(['must', 'should'])
export const AVAILABILITY_VALUE: ValueType<AvailabilityValue> = wordOf(['OPEN', 'CLOSED'])
export const REASON: ValueType<AvailabilityReason> = wordOf(['AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER'])
export const SIGN = wordOf(SIGN_MODES)
export const TARGET = wordOf(['restart', 'start', 'stop', 'kill'])
export const ALIAS = wordOf(['handover', 'takeover'])
export const AUTH = wordOf(['valid', 'invalid'])

export const CALL_NAMES: readonly CallName[] = [...keysOf(ENDPOINTS), 'any']

export const ACK: ValueType<ExpectedAck> = {
  expected: 'a status such as 200, any or non-2xx',
  parse: input => {
    if (input === 'any' || input === 'non-2xx') return input
    return typeof input === 'number' && input >= 100 && input <= 599 ? whole(input, 100) : undefined
  },
  shape: { anyOf: [{ enum: ['any', 'non-2xx'] }, { type: 'integer', minimum: 100, maximum: 599 }] },
}

const timesFrom = (fewest: 0 | 1, expected: string): ValueType<Times, number | { min?: number; max?: number }> => ({
  expected,
  parse: input => {
    const map = typeof input === 'number' ? { min: input, max: input } : input
    if (!isMap(map) || Object.keys(map).length === 0) return undefined
    const { min = 0, max = Number.POSITIVE_INFINITY, ...rest } = map
    const least = whole(min, 0)
    const most = max === Number.POSITIVE_INFINITY ? max : whole(max, fewest)
    if (Object.keys(rest).length > 0 || least === undefined || most === undefined || least > most) return undefined
    return { min: least, max: most }
  },
  shape: {
    anyOf: [
      { type: 'integer', minimum: fewest },
      {
        type: 'object',
        properties: { min: { type: 'integer', minimum: 0 }, max: { type: 'integer', minimum: fewest } },
        minProperties: 1,
        additionalProperties: false,
      },
    ],
  },
})

/** At least one; `none`, which has a duration, means zero. */
export const TIMES = timesFrom(
  1,
  'a whole number from 1, or a map such as { min: 1, max: 2 } (none: says that no call comes)',
)
/** How often the agent sees an item: 0 goes with `for`. */
export const SEEN_TIMES = timesFrom(0, 'a whole number from 0, or a map such as { min: 1, max: 2 }')

export interface BrokenRule {
  readonly code: SchemaProblemCode
  /** Is printed after the name of the map. */
  readonly message: string
}

/** The map lacks what gives it a meaning; a misspelt key in it explains that. */
export const incomplete = (message: string): BrokenRule => ({ code: 'incomplete', message })
/** The map holds keys that exclude each other. */
export const conflict = (message: string): BrokenRule => ({ code: 'conflict', message })

type Fields = Readonly<Record<string, unknown>>

/** Checks a rule of maps, also when something in the map is wrong. */
export const ruled = <Value>(rule: (map: Fields) => BrokenRule | undefined): z.core.$ZodCheck<Value> =>
  z.check<Value>(
    ctx => {
      const broken = isMap(ctx.value) ? rule(ctx.value) : undefined
      if (broken !== undefined)
        ctx.issues.push({ ...sentenceIssue(broken.code, ctx.value, broken.message), continue: true })
    },
    { when: () => true },
  )

/** Requires one of `names`. */
export const lacking = (map: Fields, names: readonly string[]): BrokenRule | undefined =>
  names.every(name => !(name in map)) ? incomplete(`must have ${names.join(' or ')}`) : undefined

/** The names that have a value. */
export const present = (map: Fields, names: readonly string[]): string[] =>
  names.filter(name => map[name] !== undefined)
