/** The chat as it should be. */
import * as z from 'zod/mini'
import { WEBHOOK_EVENTS } from '../../contract/events.ts'
import { described } from '../../files/setting-schemas.ts'
import { lacking, ruled } from './map-rules.ts'
import { matcherOf } from './matchers.ts'
import { CheckRow } from './transcript.ts'

const EVENTS = Object.keys(WEBHOOK_EVENTS)
const counts = Object.fromEntries(
  EVENTS.map(event => [event, z.optional(matcherOf(`How many ${event} so far in this chat`, [1]))]),
)

const rows = (description: string) => z.optional(z.array(CheckRow).check(described(description, [{ user: 'Hello' }])))

/** A word, unless it is a matcher or filled in later. */
const one = (words: readonly string[], description: string) =>
  matcherOf(description, words).check(ctx => {
    const { value } = ctx
    if (typeof value !== 'string' || value.includes('$(') || words.includes(value)) return
    ctx.issues.push({ code: 'invalid_value', values: [...words], input: value, message: '' })
  })

const yesOrNo = (description: string) =>
  matcherOf(description, [true, false]).check(ctx => {
    const { value } = ctx
    if (typeof value === 'boolean' || isMap(value) || (typeof value === 'string' && value.includes('$('))) return
    ctx.issues.push({ code: 'invalid_value', values: [true, false], input: value, message: '' })
  })

const isMap = (value: unknown) => typeof value === 'object' && value !== null

export const Check = z
  .strictObject({
    status: z.optional(one(['bot', 'pending', 'agent'], 'Who answers the user')),
    typing: z.optional(yesOrNo('Whether the typing indicator is shown')),
    availability: z.optional(one(['OPEN', 'CLOSED'], 'Handover availability')),
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
