/** Defines the schemas of settings. They need zod, which `handover-sim start` loads only for a config file. */
import * as z from 'zod/mini'
import { sentenceIssue } from '../../base/schemas/explain-issues.ts'
import { assumptionOf, BEHAVIOURS, type Behaviour } from '../contract/assumptions.ts'
import {
  allowedFor,
  defaultKnobs,
  formatKnob,
  isKnob,
  KNOB_NAMES,
  type KnobName,
  parseKnob,
  schemaFor,
} from '../contract/knobs.ts'
import { Button } from '../contract/schemas.ts'
import { BUSINESS_HOURS_SHAPE, readBusinessHours } from '../rules/business-hours.ts'

/** A value that `fits`; `expected` names what does, and `shape` is its JSON Schema. */
export const predicateSchema = (
  fits: (value: unknown) => boolean,
  expected: () => string,
  shape: Readonly<Record<string, unknown>>,
) =>
  z.unknown().check(ctx => {
    const { value } = ctx
    if (fits(value)) return
    const textFits = typeof value !== 'object' && fits(String(value))
    ctx.issues.push({ code: 'custom', input: value, message: expected(), params: { textFits } })
  }, z.meta(shape))

export const described = (description: string, ...examples: readonly unknown[]) =>
  z.meta(examples.length === 0 ? { description } : { description, examples: [...examples] })

const initial = defaultKnobs()

function knobSchema(name: KnobName, also: PlaceholderSchema | null) {
  const origin = also === null ? 'user' : 'data'
  const allowed = allowedFor(name, origin)
  const { rule, open, behaviour } = assumptionOf(name)
  const fits = (value: unknown) => (also?.is(value) ?? false) || parseKnob(name, value, origin) !== undefined
  return predicateSchema(fits, () => allowed, {
    ...(also === null ? schemaFor(name, origin) : { anyOf: [schemaFor(name, origin), also.shape] }),
    id: name,
    description: `${allowed}. Left open (${rule}): ${open} Unless set: ${behaviour}`,
    default: formatKnob(name, initial[name]),
  })
}

/** A text such as `$(name)` in place of a value that is known later. */
export interface PlaceholderSchema {
  is(value: unknown): boolean
  readonly shape: Readonly<Record<string, unknown>>
}

/**
 * Makes one schema for each knob, because a knob can be written in several places. With placeholders they are for
 * scenarios, which are data and name no modules.
 */
export function knobSchemas(also: PlaceholderSchema | null = null) {
  const knobSchemas = new Map(KNOB_NAMES.map(name => [name, z.optional(knobSchema(name, also))]))
  /** The knobs `group.*`, by the rest of their names. */
  const of = (group: string) => {
    const inGroup = [...knobSchemas].filter(([name]) => name.startsWith(`${group}.`))
    return Object.fromEntries(inGroup.map(([name, schema]) => [name.slice(group.length + 1), schema]))
  }
  const groups = new Set(KNOB_NAMES.map(name => name.slice(0, name.indexOf('.'))))
  const nested = Object.fromEntries([...groups].map(group => [group, z.optional(z.strictObject(of(group)))]))
  /** Every knob, dotted or nested. */
  const everyKnob = z.strictObject({ ...Object.fromEntries(knobSchemas), ...nested })
  return { of, all: everyKnob }
}

const START = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/
const isStart = (value: unknown) => typeof value === 'string' && START.test(value) && !Number.isNaN(Date.parse(value))

export const ClockSchema = z.union([
  z.enum(['real', 'virtual']),
  z.strictObject({
    mode: z.enum(['real', 'virtual']),
    start: z.optional(
      predicateSchema(isStart, () => 'a time such as "2024-01-01T09:00:00Z"', {
        type: 'string',
        description: 'Where a virtual clock begins',
      }),
    ),
  }),
])

const evidenceItem = (name: Behaviour) => {
  const value = isKnob(name)
    ? {
        value: predicateSchema(
          raw => parseKnob(name, raw) !== undefined,
          () => allowedFor(name),
          schemaFor(name),
        ),
      }
    : {}
  return z.strictObject({
    ...value,
    count: z.int().check(z.positive(), described('How many entries of recordings show it')),
    date: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/), described('The day of the latest')),
    file: z.string().check(z.minLength(1), described('The recording')),
  })
}

/** What recorded traffic shows, by knob, or by assumption without one. */
export const EvidenceSchema = z
  .strictObject(Object.fromEntries(BEHAVIOURS.map(name => [name, z.optional(evidenceItem(name))])))
  .check(described('What recorded traffic shows about the platform; npx handover-sim calibrate --write makes it'))

export const ReplySchema = z.strictObject({
  match: z.string().check(z.minLength(1), described('A word or sentence of the user, without regard to case')),
  text: z.string().check(described("The bot's answer")),
  buttons: z.optional(z.array(Button)),
})

export const BusinessHoursSchema = z.unknown().check(ctx => {
  const { value } = ctx
  const read = value === null ? null : readBusinessHours(value)
  if (read === null || !('problems' in read)) return
  for (const { path, wrong, message } of read.problems)
    ctx.issues.push(sentenceIssue(wrong === 'key' ? 'unknown_key' : 'unexpected_value', value, message, [...path]))
}, z.meta(BUSINESS_HOURS_SHAPE))
