/** Defines how a scenario describes a chat: the history it begins with, and the state a check expects. */
import * as z from 'zod/mini'
import { WEBHOOK_EVENTS } from '../../contract/events.ts'
import { Button } from '../../contract/schemas.ts'
import { described } from '../../files/setting-schemas.ts'
import { type BrokenRule, conflict, incomplete, lacking, present, RULE_TEXTS, ruled } from './map-rules.ts'
import { matcherOf } from './matchers.ts'

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
