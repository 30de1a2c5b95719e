/** Defines the steps that check: calls that must come or must not come, and the state of the chat. */
import * as z from 'zod/mini'
import { WEBHOOK_EVENTS } from '../../contract/events.ts'
import { recordOf } from '../../contract/objects.ts'
import { Button } from '../../contract/schemas.ts'
import { described } from '../../files/setting-schemas.ts'
import type { CallName } from '../plan.ts'
import {
  ALIAS,
  AUTH,
  type BrokenRule,
  CALL_NAMES,
  conflict,
  DURATION,
  incomplete,
  lacking,
  present,
  RULE_TEXTS,
  ruled,
  staticSchema,
  TIMES,
  type TimesInput,
} from './fields.ts'
import { matcherOf } from './matchers.ts'

const BODIES: Readonly<Record<CallName, [string, unknown]>> = {
  start: ['Start handover', { sender: { name: { $type: 'string' } } }],
  end: ['End handover', {}],
  message: ['A message to the user', { message: 'Hi!' }],
  typing_start: ['The typing indicator is shown', { timeout: { $lte: 10_000 } }],
  typing_stop: ['The typing indicator is hidden', {}],
  availability: ['Handover is opened or closed', { availability: 'CLOSED' }],
  transcript: ['The transcript before the handover is read', {}],
  summarize: ['A summary is asked for', {}],
  chat: ['The whole chat is read', {}],
  any: ['Any call', {}],
}

/** The name of the JSON Schema definition of a body. */
export const bodyShape = (call: CallName): string => `Body.${call}`

/** Call name -> matcher of its body. */
const calls = recordOf(CALL_NAMES, name => {
  const [description, example] = BODIES[name]
  return z.optional(matcherOf(`${description}: its body`, [example], bodyShape(name)))
})

const options = {
  capture: z.optional(
    z
      .record(z.string().check(z.regex(/^[A-Za-z_]\w*$/)), z.string().check(z.minLength(1)))
      .check(described('Keeps parts of the call under names, to be used as $(name)', { who: 'body.sender.name' })),
  ),
  times: z.optional(
    staticSchema<TimesInput>(TIMES, 'How often it comes. Default: exactly once', 2, { min: 1, max: 2 }),
  ),
  apart: z.optional(staticSchema<string>(DURATION, 'At least this long between two of them', '1s')),
  since: z.optional(z.string().check(described('Looks from the step with this id instead of the start of the turn'))),
  alias: z.optional(staticSchema<'handover' | 'takeover'>(ALIAS, 'The spelling of the path it has to use', 'takeover')),
  auth: z.optional(staticSchema<'valid' | 'invalid'>(AUTH, '`invalid`: the key must be missing or wrong', 'invalid')),
}
export const OPTION_NAMES = Object.keys(options)

const within = z.optional(
  staticSchema<string>(
    DURATION,
    'How long it may take, from the stimulus or the last call taken. Default: timeouts.expect',
    '2s',
  ),
)

export type CallMap = { [Name in CallName]?: unknown }
export interface ExpectOptions {
  capture?: Record<string, string> | undefined
  times?: TimesInput | string | undefined
  apart?: string | undefined
  since?: string | undefined
  alias?: string | undefined
  auth?: string | undefined
}
export interface ExpectMap extends CallMap, ExpectOptions {
  all?: ExpectInput[] | undefined
  seq?: ExpectInput[] | undefined
  oneOf?: ExpectInput[] | undefined
}
export type ExpectInput = CallName | ExpectMap
export type ExpectStep = CallName | (ExpectMap & { within?: string | undefined })

const several = (description: string) =>
  z.optional(
    z.lazy(() => z.array(Inner).check(z.minLength(1), described(description, ['typing_stop', { message: {} }]))),
  )

const groups = {
  all: several('All of these, in any order'),
  seq: several('All of these, in this order'),
  oneOf: several('One of these'),
}

export const GROUP_NAMES = ['all', 'seq', 'oneOf'] as const
const CALLS_AND_GROUPS = [...CALL_NAMES, ...GROUP_NAMES]

/** One call or one group of calls; options only with one call. */
function oneCallOrGroup(map: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  const named = present(map, CALLS_AND_GROUPS)
  if (named.length === 0) return incomplete(RULE_TEXTS.noCallOrGroup(CALL_NAMES))
  if (named.length > 1) return conflict(RULE_TEXTS.severalCalls(named))
  const [[only = ''], [option]] = [named, present(map, OPTION_NAMES)]
  if (option === undefined || !GROUP_NAMES.some(name => name === only)) return undefined
  return conflict(RULE_TEXTS.optionOfGroup(option, only))
}

const name = () => z.enum(CALL_NAMES)

const Inner: z.ZodMiniType<ExpectInput> = z.union([
  name(),
  z.strictObject({ ...calls, ...options, ...groups }).check(ruled(oneCallOrGroup)),
])

export const ExpectSchema: z.ZodMiniType<ExpectStep> = z
  .union([name(), z.strictObject({ ...calls, ...options, ...groups, within }).check(ruled(oneCallOrGroup))])
  .check(
    described(
      'A call the intermediary has to make: its name, or its body with options',
      'start',
      { message: { message: 'Hi!' }, within: '2s' },
      { all: ['typing_stop', { message: {} }] },
    ),
  )

const someCall = (map: Readonly<Record<string, unknown>>) =>
  present(map, CALL_NAMES).length === 0 ? incomplete(RULE_TEXTS.noCall(CALL_NAMES)) : undefined

export type NoneStep = CallMap & { for: string }
export const NoneSchema: z.ZodMiniType<NoneStep> = z
  .strictObject(
    { ...calls, for: staticSchema<string>(DURATION, 'How long to watch', '500ms') },
    {
      error: issue => (issue.code === 'invalid_type' ? RULE_TEXTS.noDuration : undefined),
    },
  )
  .check(
    ruled(someCall),
    described('Calls that must not come; fails the moment one does', { message: {}, for: '500ms' }),
  )

export type PatternInput = CallName | CallMap
export const NeverSchema: z.ZodMiniType<PatternInput> = z
  .union([name(), z.strictObject(calls).check(ruled(someCall))])
  .check(described('A call that must not come in the whole run', 'start'))

const SPEAKERS = ['user', 'bot', 'agent'] as const

type Row = Readonly<Record<string, unknown>>

function oneSpeaker(row: Row): BrokenRule | undefined {
  const [speaker, ...others] = present(row, SPEAKERS)
  if (speaker === undefined || others.length > 0) return incomplete(RULE_TEXTS.noSpeaker)
  if (row.text !== undefined && speaker !== 'agent') return conflict(RULE_TEXTS.textOfOthers)
  if (row.buttons !== undefined && speaker !== 'bot') return conflict(RULE_TEXTS.buttonsOfOthers)
  return undefined
}

function complete(row: Row): BrokenRule | undefined {
  const lacksText = row.agent !== undefined && row.text === undefined
  return oneSpeaker(row) ?? (lacksText ? incomplete(RULE_TEXTS.noText) : undefined)
}

export const Buttons = z
  .array(Button)
  .check(described('Buttons of the message', [{ label: 'Talk to us', handover: true }]))

export const HistoryRowSchema = z
  .strictObject({
    user: z.optional(z.string().check(described('The user wrote this'))),
    bot: z.optional(z.string().check(described('The bot said this'))),
    agent: z.optional(z.string().check(described('Name of the agent who said `text`'))),
    text: z.optional(z.string().check(described('What the agent said'))),
    buttons: z.optional(Buttons),
  })
  .check(ruled(complete))

const CheckRow = z
  .strictObject({
    user: z.optional(matcherOf('The user wrote this', ['Hello'])),
    bot: z.optional(matcherOf('The bot said this')),
    agent: z.optional(matcherOf('Name of the agent', [{ $any: true }])),
    text: z.optional(matcherOf('What the agent said')),
    buttons: z.optional(matcherOf('Buttons of the bot message')),
  })
  .check(ruled(oneSpeaker))

const EVENTS = Object.keys(WEBHOOK_EVENTS)
const counts = Object.fromEntries(
  EVENTS.map(event => [event, z.optional(matcherOf(`How many ${event} so far in this chat`, [1]))]),
)

const rows = (description: string) => z.optional(z.array(CheckRow).check(described(description, [{ user: 'Hello' }])))

/** One of the words, a matcher, or a text with `$(...)`. */
const wordMatcher = (words: readonly string[], description: string) =>
  matcherOf(description, words).check(ctx => {
    const { value } = ctx
    if (typeof value !== 'string' || value.includes('$(') || words.includes(value)) return
    ctx.issues.push({ code: 'invalid_value', values: [...words], input: value, message: '' })
  })

/** A boolean, a matcher, or a text with `$(...)`. */
const booleanMatcher = (description: string) =>
  matcherOf(description, [true, false]).check(ctx => {
    const { value } = ctx
    if (
      typeof value === 'boolean' ||
      (typeof value === 'object' && value !== null) ||
      (typeof value === 'string' && value.includes('$('))
    )
      return
    ctx.issues.push({ code: 'invalid_value', values: [true, false], input: value, message: '' })
  })

export const CheckSchema = z
  .strictObject({
    status: z.optional(wordMatcher(['bot', 'pending', 'agent'], 'Who answers the user')),
    typing: z.optional(booleanMatcher('Whether the typing indicator is shown')),
    availability: z.optional(wordMatcher(['OPEN', 'CLOSED'], 'Handover availability')),
    events: z.optional(z.strictObject(counts).check(described('Events so far in this chat, by name'))),
    transcript: z.optional(
      z
        .strictObject({
          last: rows('The conversation ends with these'),
          contains: rows('These are in it, in this order; others may stand between'),
          lacks: rows('None of these is in it'),
          length: z.optional(matcherOf('How many messages there are', [4, { $gte: 2 }])),
        })
        .check(described('The conversation as the user sees it', { last: [{ user: 'Hello' }] })),
    ),
  })
  .check(ruled(value => lacking(value, ['status', 'typing', 'availability', 'events', 'transcript'])))
