/** Rows of a conversation, as a chat begins with them and as a check looks for them. */
import * as z from 'zod/mini'
import { Button } from '../../contract/schemas.ts'
import { described } from '../../files/setting-schemas.ts'
import { type BrokenRule, conflict, incomplete, RULES, ruled } from './map-rules.ts'
import { matcherOf } from './matchers.ts'

const SPEAKERS = ['user', 'bot', 'agent'] as const

function oneSpeaker(value: unknown): BrokenRule | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const row = value as Record<string, unknown>
  const who = SPEAKERS.filter(name => row[name] !== undefined)
  if (who.length !== 1) return incomplete(RULES.noSpeaker)
  if (row.text !== undefined && who[0] !== 'agent') return conflict(RULES.textOfOthers)
  if (row.buttons !== undefined && who[0] !== 'bot') return conflict(RULES.buttonsOfOthers)
  return undefined
}

function complete(value: unknown): BrokenRule | undefined {
  const row = value as Record<string, unknown> | null
  const lacks = typeof row === 'object' && row?.agent !== undefined && row.text === undefined
  return oneSpeaker(value) ?? (lacks ? incomplete(RULES.noText) : undefined)
}

export const Buttons = z
  .array(Button)
  .check(described('Buttons of the message', [{ label: 'Talk to us', handover: true }]))

export const HistoryRow = z
  .strictObject({
    user: z.optional(z.string().check(described('The user wrote this'))),
    bot: z.optional(z.string().check(described('The bot said this'))),
    agent: z.optional(z.string().check(described('Name of the agent who said `text`'))),
    text: z.optional(z.string().check(described('What the agent said'))),
    buttons: z.optional(Buttons),
  })
  .check(ruled(complete))

export const CheckRow = z
  .strictObject({
    user: z.optional(matcherOf('The user wrote this', ['Hello'])),
    bot: z.optional(matcherOf('The bot said this')),
    agent: z.optional(matcherOf('Name of the agent', [{ $any: true }])),
    text: z.optional(matcherOf('What the agent said')),
    buttons: z.optional(matcherOf('Buttons of the bot message')),
  })
  .check(ruled(oneSpeaker))
