/** What users, bots, agents and the surroundings do, one schema per verb. */
import * as z from 'zod/mini'
import { WEBHOOK_EVENTS } from '../../contract/events.ts'
import { knownKeys } from '../../contract/known-keys.ts'
import { Fault, type FaultSpec } from '../../faults/schema.ts'
import { isMap } from '../../files/is-map.ts'
import { described } from '../../files/setting-schemas.ts'
import { namesIn } from '../interpolation.ts'
import { Buttons } from './chat.ts'
import { type BrokenRule, conflict, incomplete, lacking, RULES, ruled } from './map-rules.ts'
import { matcherOf } from './matchers.ts'
import {
  ACK,
  AVAILABILITY,
  atLeast,
  DURATION,
  type DurationWritten,
  FILLED_SHAPE,
  FLAG,
  held,
  REASON,
  SIGN,
  TIMES,
  type TimesWritten,
} from './values.ts'

export const text = (description: string, ...examples: unknown[]) =>
  z.string().check(described(description, ...examples))
export const optionalText = (description: string, ...examples: unknown[]) => z.optional(text(description, ...examples))
const ack = z.optional(
  held<number | 'any' | 'non-2xx'>(ACK, 'The answer the webhook has to give. Default: 200', 200, 'any', 'non-2xx'),
)
const async = z.optional(held<boolean>(FLAG, 'Goes on without waiting for the webhook to answer'))

const Attachment = z
  .strictObject({
    file: optionalText('A file beside the scenario', 'kvittering.pdf'),
    name: optionalText('File name', 'kvittering.pdf'),
    type: optionalText('Media type', 'application/pdf'),
    size_kb: z.optional(held<number>(atLeast(0), 'Size in kilobytes; the bytes are made up', 87)),
  })
  .check(
    ruled(value => {
      const { file, name, type, size_kb } = (value ?? {}) as Record<string, unknown>
      if (file !== undefined) return size_kb === undefined ? undefined : conflict(RULES.sizeOfFile)
      const whole = name !== undefined && type !== undefined && size_kb !== undefined
      return whole ? undefined : incomplete(RULES.noAttachment)
    }),
  )

export const User = z.union([
  text('What the user writes', 'Hello'),
  z
    .strictObject({
      text: optionalText('What the user writes', 'Hello'),
      attach: z.optional(z.array(Attachment).check(z.minLength(1), described('Files the user sends'))),
      ack,
      async,
    })
    .check(ruled(value => lacking(value, ['text', 'attach']))),
])

export const Press = z.union([
  text('A handover request button (`handover`), or the label of a button', 'handover'),
  z.strictObject({ button: text('`handover`, or the label of a button', 'handover'), ack, async }),
])

export const Bot = z.union([
  text('What the bot says', 'Need help?'),
  z.strictObject({ text: text('What the bot says'), buttons: z.optional(Buttons) }),
])

export const AGENT_WORDS = ['accept', 'leave', 'type', 'stop', 'away', 'back'] as const

export const Agent = z.union([
  z.enum(AGENT_WORDS).check(described('What the agent does', ...AGENT_WORDS)),
  z
    .strictObject({
      says: optionalText('What the agent writes', 'Hi!'),
      sees: z.optional(
        matcherOf('What has to be in the agent inbox: a text, or { text, attachments, request }', [
          'Hello',
          { request: true },
        ]),
      ),
      times: z.optional(held<TimesWritten>(TIMES, 'How often the agent sees it. Default: exactly once', 1)),
      within: z.optional(held<DurationWritten>(DURATION, 'How long it may take. Default: timeouts.expect', '2s')),
      for: z.optional(held<DurationWritten>(DURATION, 'Watches this long for more of them', '500ms')),
      does: optionalText("A verb of the driver's own", 'transfer'),
      with: z.optional(z.record(z.string(), z.unknown()).check(described('Its parameters', { team: 'billing' }))),
    })
    .check(ruled(oneDeed)),
])

function oneDeed(value: unknown): BrokenRule | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const map = value as Record<string, unknown>
  const deeds = ['says', 'sees', 'does'].filter(name => map[name] !== undefined)
  if (deeds.length !== 1) return incomplete(RULES.noDeed(AGENT_WORDS))
  const foreign = ['times', 'within', 'for'].find(name => map[name] !== undefined && deeds[0] !== 'sees')
  if (foreign !== undefined) return conflict(RULES.foreignKey(foreign, 'sees'))
  return map.with !== undefined && deeds[0] !== 'does' ? conflict(RULES.foreignKey('with', 'does')) : undefined
}

export const Availability = z.union([
  held<'OPEN' | 'CLOSED'>(AVAILABILITY, 'Set in the workspace, not by the intermediary', 'CLOSED'),
  z.strictObject({
    availability: held<'OPEN' | 'CLOSED'>(AVAILABILITY, 'OPEN or CLOSED', 'CLOSED'),
    reason: z.optional(held<'AGENT_AVAILABILITY' | 'BUSINESS_HOURS' | 'OTHER'>(REASON, 'Why', 'BUSINESS_HOURS')),
  }),
])

export const Deliver = z
  .strictObject({
    event: optionalText('Name of the event', ...Object.keys(WEBHOOK_EVENTS), 'SOMETHING NEW'),
    replay: optionalText('The bytes of the event this step (by id) caused, again', 's1'),
    body: z.optional(z.record(z.string(), z.unknown()).check(described('Fields of the payload, over the usual ones'))),
    sign: z.optional(held<string>(SIGN, 'How it is signed. Default: valid', 'wrong-key')),
    ack,
    async,
  })
  .check(
    ruled(value => {
      const { event, replay, body } = (value ?? {}) as Record<string, unknown>
      if ((event === undefined) === (replay === undefined)) return incomplete(RULES.eventOrReplay)
      return replay !== undefined && body !== undefined ? conflict(RULES.bodyOfReplay) : undefined
    }),
  )

const having = (name: string, schema: object) => ({ required: [name], properties: { [name]: schema } })

/** Texts anyway, filled or not. */
const TEXTS = ['name', 'chat_id']

/** With `$(...)` in it, it is held against the schema once that is filled. */
const Later = z.unknown().check(
  ctx => {
    if (isMap(ctx.value) && namesIn(ctx.value).length > 0) return
    ctx.issues.push({ code: 'invalid_type', expected: 'object', input: ctx.value, message: '' })
  },
  z.meta({
    type: 'object',
    anyOf: [
      ...knownKeys(Fault, [])
        .filter(name => !TEXTS.includes(name))
        .map(name => having(name, FILLED_SHAPE)),
      having('respond', having('status', FILLED_SHAPE)),
    ],
  }),
)

export const FaultStep = z.union([
  z.literal('clear').check(described('Clears every fault')),
  z.strictObject({ clear: z.string().check(described('Name of the fault to clear', 'flaky')) }),
  Fault,
  Later,
]) as unknown as z.ZodMiniType<'clear' | { clear: string } | FaultSpec>
