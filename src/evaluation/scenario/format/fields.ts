/** Builds schemas of fields: values known before the run, where `$(name)` is allowed too, and rules over whole maps. */
import * as z from 'zod/mini'
import { isMap, keysOf } from '../../../base/objects.ts'
import { typed } from '../../../base/schemas/definitions.ts'
import { type SchemaProblemCode, sentenceIssue } from '../../../base/schemas/explain-issues.ts'
import { DURATION_PATTERN, type Duration, parseDuration } from '../../../base/text/quantities.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { SIGN_MODES } from '../../../platform/contract/event-names.ts'
import type { AvailabilityReason, AvailabilityValue } from '../../../platform/contract/schemas.ts'
import { described, predicateSchema } from '../../../platform/simulator/setting-schemas.ts'
import type { AckWanted, CallName, Severity, Times } from '../plan.ts'

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

export const DURATION: ValueType<number, Duration> = {
  expected: 'a duration with a unit: 500ms, 5s, 10m, 12h',
  parse: input => parseDuration(input) ?? undefined,
  shape: { type: 'string', pattern: DURATION_PATTERN },
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
export const TIMES: ValueType<Times, number | { min?: number; max?: number }> = {
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
  names.every(name => !(name in map)) ? incomplete(RULE_TEXTS.oneOf(names)) : undefined

/** The names that have a value. */
export const present = (map: Fields, names: readonly string[]): string[] =>
  names.filter(name => map[name] !== undefined)

export const RULE_TEXTS = {
  emptyMessage: 'must have a text that is not empty, or attach',
  oneOf: (names: readonly string[]) => `must have ${names.join(' or ')}`,
  noCall: (calls: readonly string[]) => `must name a call: ${calls.join(', ')}`,
  noCallOrGroup: (calls: readonly string[]) => `must name a call: ${calls.join(', ')}; or all, seq, oneOf`,
  severalCalls: (names: readonly string[]) =>
    `names ${names.join(' and ')}: name one call, or put them into all, seq or oneOf`,
  optionOfGroup: (option: string, group: string) => `has ${option} beside ${group}: write it with the call it is about`,
  noDuration: 'an object that says for how long: { start: {}, for: 500ms }',
  sizeOfFile: 'has size_kb beside file: a file has its own size',
  noAttachment: 'must be { file } or { name, type, size_kb }',
  noAgentVerb: (words: readonly string[]) => `must have one of says, sees, does (or be one of ${words.join(', ')})`,
  foreignKey: (key: string, owner: string) => `has ${key}, which goes with ${owner}`,
  eventOrReplay: 'must have either event or replay',
  bodyOfReplay: 'has body beside replay: a replay sends the same bytes again',
  noSpeaker: 'must have one speaker: { user: text }, { bot: text } or { agent: name, text: text }',
  textOfOthers: 'has text, which only an agent row can have: { agent: name, text: text }',
  buttonsOfOthers: 'has buttons, which only a bot row can have',
  noText: 'must have the text: { agent: name, text: text }',
  severalVerbs: (verbs: readonly string[]) =>
    `has ${verbs.join(' and ')}: one verb per step, so make it ${verbs.length} steps`,
  noVerb: (verbs: readonly string[]) => `has no verb: one of ${verbs.join(', ')}`,
  chatAndChats: 'has chat and chats: put the one chat into chats, under a name',
  noChat: 'has no chat in chats: name one, or leave chats out',
}
