/** Defines the steps that check: calls that must come or must not come, and the state of the chat. */
import * as z from 'zod/mini'
import { buildRecord } from '../../../base/objects.ts'
import { WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { Button } from '../../../platform/contract/schemas.ts'
import { described } from '../../../platform/simulator/setting-schemas.ts'
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
  optionalStatic,
  present,
  ruled,
  staticSchema,
  TIMES,
} from './fields.ts'
import { hasPlaceholder, matcherSchema } from './matchers.ts'

type Fields = Readonly<Record<string, unknown>>

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
const calls = buildRecord(CALL_NAMES, name => {
  const [description, example] = BODIES[name]
  return z.optional(matcherSchema(`${description}: its body`, [example], bodyShape(name)))
})

const options = {
  capture: z.optional(
    z
      .record(z.string().check(z.regex(/^[A-Za-z_]\w*$/)), z.string().check(z.minLength(1)))
      .check(described('Keeps parts of the call under names, to be used as $(name)', { who: 'body.sender.name' })),
  ),
  times: optionalStatic(TIMES, 'How often it comes. Default: exactly once', 2, { min: 1, max: 2 }),
  apart: optionalStatic(DURATION, 'At least this long between two of them', '1s'),
  since: z.optional(z.string().check(described('Looks from the step with this id instead of the start of the turn'))),
  alias: optionalStatic(ALIAS, 'The spelling of the path it has to use', 'takeover'),
  auth: optionalStatic(AUTH, '`invalid`: the key must be missing or wrong', 'invalid'),
}
const OPTION_NAMES = Object.keys(options)

const within = optionalStatic(
  DURATION,
  'How long it may take, from the stimulus or the last call taken. Default: timeouts.expect',
  '2s',
)

type Written<Shape extends z.core.$ZodLooseShape> = z.infer<z.ZodMiniObject<Shape, z.core.$strict>>
export type CallMap = Written<typeof calls>
export type ExpectOptions = Written<typeof options>
type ExpectGroups = { [Group in (typeof GROUP_NAMES)[number]]?: ExpectInput[] | undefined }
export type ExpectMap = CallMap & ExpectOptions & ExpectGroups
export type ExpectInput = CallName | ExpectMap
export type ExpectStep = CallName | (ExpectMap & { within?: string | undefined })

const several = (description: string) =>
  z.optional(
    z.lazy(() => z.array(Inner).check(z.minLength(1), described(description, ['typing_stop', { message: {} }]))),
  )

export const GROUP_NAMES = ['all', 'seq', 'oneOf'] as const
const groups = {
  all: several('All of these, in any order'),
  seq: several('All of these, in this order'),
  oneOf: several('One of these'),
}
const CALLS_AND_GROUPS = [...CALL_NAMES, ...GROUP_NAMES]

/** One call or one group of calls; options only with one call. */
function oneCallOrGroup(map: Fields): BrokenRule | undefined {
  const named = present(map, CALLS_AND_GROUPS)
  if (named.length === 0) return incomplete(`must name a call: ${CALL_NAMES.join(', ')}; or all, seq, oneOf`)
  if (named.length > 1)
    return conflict(`names ${named.join(' and ')}: name one call, or put them into all, seq or oneOf`)
  const [[only = ''], [option]] = [named, present(map, OPTION_NAMES)]
  if (option === undefined || !GROUP_NAMES.some(name => name === only)) return undefined
  return conflict(`has ${option} beside ${only}: write it with the call it is about`)
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

const someCall = (map: Fields) =>
  present(map, CALL_NAMES).length === 0 ? incomplete(`must name a call: ${CALL_NAMES.join(', ')}`) : undefined

export type NoneStep = CallMap & { for: string }
export const NoneSchema: z.ZodMiniType<NoneStep> = z
  .strictObject(
    { ...calls, for: staticSchema(DURATION, 'How long to watch', '500ms') },
    {
      error: issue =>
        issue.code === 'invalid_type' ? 'an object that says for how long: { start: {}, for: 500ms }' : undefined,
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

function oneSpeaker(row: Fields): BrokenRule | undefined {
  const [speaker, ...otherSpeakers] = present(row, SPEAKERS)
  if (speaker === undefined || otherSpeakers.length > 0)
    return incomplete('must have one speaker: { user: text }, { bot: text } or { agent: name, text: text }')
  if (row.text !== undefined && speaker !== 'agent')
    return conflict('has text, which only an agent row can have: { agent: name, text: text }')
  if (row.buttons !== undefined && speaker !== 'bot') return conflict('has buttons, which only a bot row can have')
  return undefined
}

function complete(row: Fields): BrokenRule | undefined {
  const lacksText = row.agent !== undefined && row.text === undefined
  return oneSpeaker(row) ?? (lacksText ? incomplete('must have the text: { agent: name, text: text }') : undefined)
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
    user: z.optional(matcherSchema('The user wrote this', ['Hello'])),
    bot: z.optional(matcherSchema('The bot said this')),
    agent: z.optional(matcherSchema('Name of the agent', [{ $any: true }])),
    text: z.optional(matcherSchema('What the agent said')),
    buttons: z.optional(matcherSchema('Buttons of the bot message')),
  })
  .check(ruled(oneSpeaker))

const EVENTS = Object.keys(WEBHOOK_EVENTS)
const counts = Object.fromEntries(
  EVENTS.map(event => [event, z.optional(matcherSchema(`How many ${event} so far in this chat`, [1]))]),
)

const rows = (description: string) => z.optional(z.array(CheckRow).check(described(description, [{ user: 'Hello' }])))

/** One of the choices, a text with `$(...)`, or another value, such as a matcher, for which `isOther` is true. */
const choiceMatcher = (choices: readonly (string | boolean)[], isOther: (value: unknown) => boolean, about: string) =>
  matcherSchema(about, choices).check(ctx => {
    const { value } = ctx
    if (isOther(value) || hasPlaceholder(value) || choices.some(choice => choice === value)) return
    ctx.issues.push({ code: 'invalid_value', values: [...choices], input: value, message: '' })
  })

const wordMatcher = (words: readonly string[], about: string) =>
  z.optional(choiceMatcher(words, value => typeof value !== 'string', about))
const isObject = (value: unknown) => typeof value === 'object' && value !== null

export const CheckSchema = z
  .strictObject({
    status: wordMatcher(['bot', 'pending', 'agent'], 'Who answers the user'),
    typing: z.optional(choiceMatcher([true, false], isObject, 'Whether the typing indicator is shown')),
    availability: wordMatcher(['OPEN', 'CLOSED'], 'Handover availability'),
    events: z.optional(z.strictObject(counts).check(described('Events so far in this chat, by name'))),
    transcript: z.optional(
      z
        .strictObject({
          last: rows('The conversation ends with these'),
          contains: rows('These are in it, in this order; others may stand between'),
          lacks: rows('None of these is in it'),
          length: z.optional(matcherSchema('How many messages there are', [4, { $gte: 2 }])),
        })
        .check(described('The conversation as the user sees it', { last: [{ user: 'Hello' }] })),
    ),
  })
  .check(ruled(value => lacking(value, ['status', 'typing', 'availability', 'events', 'transcript'])))
