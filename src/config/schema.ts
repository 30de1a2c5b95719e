/** The config file, strict: an unknown key is an error. The editors' JSON Schema is made from the same schema. */
import * as z from 'zod/mini'
import { ASSUMPTIONS, rowOfKnob } from '../contract/assumptions.ts'
import {
  allowedFor,
  defaultKnobs,
  KNOB_NAMES,
  type KnobName,
  parseKnob,
  schemaFor,
  showKnob,
} from '../contract/knobs.ts'
import { Button } from '../contract/schemas.ts'
import { readBusinessHours } from '../platform/hours.ts'
import { MUST, readBaseUrl, readHttpUrl } from './values.ts'

/** A value that is right when `problem` finds nothing to say about it; `shape` tells editors the same. */
const judged = (problem: (value: unknown) => string | null, shape: Record<string, unknown>) =>
  z.unknown().check(ctx => {
    const message = problem(ctx.value)
    if (message !== null) ctx.issues.push({ code: 'custom', input: ctx.value, message })
  }, z.meta(shape))

const initial = defaultKnobs()

function knobSchema(name: KnobName) {
  const row = rowOfKnob(name) ?? ASSUMPTIONS[0]!
  return judged(value => (parseKnob(name, value) === undefined ? `must be ${allowedFor(name)}` : null), {
    ...schemaFor(name),
    id: name,
    description: `${allowedFor(name)}. Left open (${row.rule}): ${row.open} Unless set: ${row.ours}`,
    default: showKnob(name, initial[name]),
  })
}

/** One schema each: a knob can be written in several places. */
const knobSchemas = new Map(KNOB_NAMES.map(name => [name, knobSchema(name)]))
const knob = (name: KnobName) => z.optional(knobSchemas.get(name)!)

/** The knobs `group.*`, by the rest of their names. */
function knobsOf(group: string) {
  const names = KNOB_NAMES.filter(name => name.startsWith(`${group}.`))
  return Object.fromEntries(names.map(name => [name.slice(group.length + 1), knob(name)]))
}

const groups = [...new Set(KNOB_NAMES.map(name => name.split('.')[0]!))]
const dotted = Object.fromEntries(KNOB_NAMES.map(name => [name, knob(name)]))
const nested = Object.fromEntries(groups.map(group => [group, z.optional(z.strictObject(knobsOf(group)))]))

const httpUrl = judged(value => (readHttpUrl(value) === undefined ? MUST.httpUrl : null), {
  type: 'string',
  format: 'uri',
})
const baseUrl = judged(value => (readBaseUrl(value) === undefined ? MUST.baseUrl : null), {
  type: 'string',
  format: 'uri',
})
const described = (text: string) => z.meta({ description: text })

const START = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/
const isStart = (value: unknown) => typeof value === 'string' && START.test(value) && !Number.isNaN(Date.parse(value))

const Clock = z.union([
  z.enum(['real', 'virtual']),
  z.strictObject({
    mode: z.enum(['real', 'virtual']),
    start: z.optional(
      judged(value => (isStart(value) ? null : 'must be a time such as "2024-01-01T09:00:00Z"'), {
        type: 'string',
        description: 'Where a virtual clock begins',
      }),
    ),
  }),
])

const Reply = z.strictObject({
  match: z.string().check(z.minLength(1), described('A word or sentence of the user, without regard to case')),
  text: z.string().check(described("The bot's answer")),
  buttons: z.optional(z.array(Button)),
})

const Bot = z.strictObject({
  id: z.optional(z.int().check(z.positive())),
  name: z.optional(z.string().check(z.minLength(1))),
  organization_id: z.optional(z.int()),
  replies: z.optional(z.array(Reply)),
})

const DAYS = '(mon|tue|wed|thu|fri|sat|sun)'
const BusinessHours = z.unknown().check(
  ctx => {
    const { value } = ctx
    if (value === null) return
    const isObject = typeof value === 'object' && !Array.isArray(value)
    const read = isObject ? readBusinessHours(value as Record<string, unknown>) : null
    const push = (message: string, path: string[]) =>
      ctx.issues.push({ code: 'custom', input: value, message, path, params: { complete: true } })
    if (read === null) push('must be a map such as { time_zone: Europe/Oslo, mon-fri: "09:00-17:00" }', [])
    else if ('message' in read) push(read.message, [read.key])
  },
  z.meta({
    type: ['object', 'null'],
    required: ['time_zone'],
    properties: { time_zone: { type: 'string', examples: ['Europe/Oslo'] } },
    patternProperties: { [`^${DAYS}(-${DAYS})?$`]: { type: 'string', pattern: '^\\d\\d:\\d\\d-\\d\\d:\\d\\d$' } },
    additionalProperties: false,
    description: 'When handover requests are accepted; a day not named is closed',
  }),
)

export const ConfigFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  port: z.optional(z.int().check(z.minimum(0), z.maximum(65_535), described('0 takes any free port'))),
  host: z.optional(z.string().check(z.minLength(1))),
  seed: z.optional(z.int().check(z.minimum(0), described('Same seed: same ids, names and texts'))),
  clock: z.optional(Clock),
  base_url: z.optional(baseUrl),
  bot: z.optional(Bot),
  keys: z.optional(z.strictObject(knobsOf('keys'))),
  webhook: z.optional(z.strictObject({ url: z.optional(httpUrl), ...knobsOf('webhook') })),
  agent_driver: z.optional(z.string().check(z.minLength(1), described("How the human agent's side is played"))),
  business_hours: z.optional(BusinessHours),
  messages: z.optional(z.strictObject(knobsOf('messages'))),
  markers: z.optional(z.boolean().check(described('Whether answers name the assumptions they lean on'))),
  knobs: z.optional(z.strictObject({ ...dotted, ...nested })),
})
export type ConfigFile = z.infer<typeof ConfigFile>
