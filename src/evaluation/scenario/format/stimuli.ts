/** Defines the steps that do something: users, bots, agents and the environment, one schema for each verb. */
import * as z from 'zod/mini'
import { isMap } from '../../../base/objects.ts'
import { knownKeys, typed } from '../../../base/schemas/definitions.ts'
import { WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { Fault, type FaultFields } from '../../../platform/faults/schema.ts'
import { described } from '../../../platform/simulator/setting-schemas.ts'
import { namesIn } from '../interpolation.ts'
import { Buttons } from './checks.ts'
import {
  ACK,
  AVAILABILITY_VALUE,
  atLeast,
  type BrokenRule,
  conflict,
  DURATION,
  FLAG,
  incomplete,
  lacking,
  optionalStatic,
  PLACEHOLDER_SHAPE,
  present,
  REASON,
  RULE_TEXTS,
  ruled,
  SIGN,
  staticSchema,
  TIMES,
} from './fields.ts'
import { matcherOf } from './matchers.ts'

export const textSchema = (description: string, ...examples: unknown[]) =>
  z.string().check(described(description, ...examples))
export const optionalTextSchema = (description: string, ...examples: unknown[]) =>
  z.optional(textSchema(description, ...examples))
const ack = optionalStatic(ACK, 'The answer the webhook has to give. Default: 200', 200, 'any', 'non-2xx')
const async = optionalStatic(FLAG, 'Goes on without waiting for the webhook to answer')

const Attachment = z
  .strictObject({
    file: optionalTextSchema('A file beside the scenario', 'kvittering.pdf'),
    name: optionalTextSchema('File name', 'kvittering.pdf'),
    type: optionalTextSchema('Media type', 'application/pdf'),
    size_kb: optionalStatic(atLeast(0), 'Size in kilobytes; the bytes are made up', 87),
  })
  .check(
    ruled(value => {
      const { file, name, type, size_kb } = value
      if (file !== undefined) return size_kb === undefined ? undefined : conflict(RULE_TEXTS.sizeOfFile)
      const whole = name !== undefined && type !== undefined && size_kb !== undefined
      return whole ? undefined : incomplete(RULE_TEXTS.noAttachment)
    }),
  )

/** The chat window sends no empty message. */
const filledText = (description: string, ...examples: unknown[]) =>
  z.string().check(z.minLength(1), described(description, ...examples))

export const UserSchema = z.union([
  filledText('What the user writes', 'Hello'),
  z
    .strictObject({
      text: optionalTextSchema('What the user writes', 'Hello'),
      attach: z.optional(z.array(Attachment).check(z.minLength(1), described('Files the user sends'))),
      ack,
      async,
    })
    .check(
      ruled(
        value =>
          lacking(value, ['text', 'attach']) ??
          (value.text === '' && value.attach === undefined ? incomplete(RULE_TEXTS.emptyMessage) : undefined),
      ),
    ),
])

export const PressSchema = z.union([
  textSchema('A handover request button (`handover`), or the label of a button', 'handover'),
  z.strictObject({ button: textSchema('`handover`, or the label of a button', 'handover'), ack, async }),
])

export const BotSchema = z.union([
  textSchema('What the bot says', 'Need help?'),
  z.strictObject({ text: textSchema('What the bot says'), buttons: z.optional(Buttons) }),
])

export const AGENT_WORDS = ['accept', 'leave', 'type', 'stop', 'away', 'back'] as const

export const AgentSchema = z.union([
  z.enum(AGENT_WORDS).check(described('What the agent does', ...AGENT_WORDS)),
  z
    .strictObject({
      says: optionalTextSchema('What the agent writes', 'Hi!'),
      sees: z.optional(
        matcherOf('What has to be in the agent inbox: a text, or { text, attachments, request }', [
          'Hello',
          { request: true },
        ]),
      ),
      times: optionalStatic(TIMES, 'How often the agent sees it. Default: exactly once', 1),
      within: optionalStatic(DURATION, 'How long it may take. Default: timeouts.expect', '2s'),
      for: optionalStatic(DURATION, 'Watches this long for more of them', '500ms'),
      does: optionalTextSchema("A verb of the driver's own", 'transfer'),
      with: z.optional(z.record(z.string(), z.unknown()).check(described('Its parameters', { team: 'billing' }))),
    })
    .check(ruled(oneAgentVerb)),
])

function oneAgentVerb(map: Readonly<Record<string, unknown>>): BrokenRule | undefined {
  const [verb, ...others] = present(map, ['says', 'sees', 'does'])
  if (verb === undefined || others.length > 0) return incomplete(RULE_TEXTS.noAgentVerb(AGENT_WORDS))
  const [foreign] = verb === 'sees' ? [] : present(map, ['times', 'within', 'for'])
  if (foreign !== undefined) return conflict(RULE_TEXTS.foreignKey(foreign, 'sees'))
  return map.with !== undefined && verb !== 'does' ? conflict(RULE_TEXTS.foreignKey('with', 'does')) : undefined
}

export const AvailabilitySchema = z.union([
  staticSchema(AVAILABILITY_VALUE, 'Set in the workspace, not by the intermediary', 'CLOSED'),
  z.strictObject({
    availability: staticSchema(AVAILABILITY_VALUE, 'OPEN or CLOSED', 'CLOSED'),
    reason: optionalStatic(REASON, 'Why', 'BUSINESS_HOURS'),
  }),
])

export const DeliverSchema = z
  .strictObject({
    event: optionalTextSchema('Name of the event', ...Object.keys(WEBHOOK_EVENTS), 'SOMETHING NEW'),
    replay: optionalTextSchema('The bytes of the event this step (by id) caused, again', 's1'),
    body: z.optional(z.record(z.string(), z.unknown()).check(described('Fields of the payload, over the usual ones'))),
    sign: optionalStatic(SIGN, 'How it is signed. Default: valid', 'wrong-key'),
    ack,
    async,
  })
  .check(
    ruled(value => {
      const { event, replay, body } = value
      if ((event === undefined) === (replay === undefined)) return incomplete(RULE_TEXTS.eventOrReplay)
      return replay !== undefined && body !== undefined ? conflict(RULE_TEXTS.bodyOfReplay) : undefined
    }),
  )

const having = (name: string, schema: object) => ({ required: [name], properties: { [name]: schema } })

/** Fields that are texts also after interpolation. */
const TEXT_FIELDS = ['name', 'chat_id']

/** A fault with `$(...)`, which the compiler checks after interpolation. */
const FaultTemplate = z.unknown().check(
  ctx => {
    if (isMap(ctx.value) && namesIn(ctx.value).length > 0) return
    ctx.issues.push({ code: 'invalid_type', expected: 'object', input: ctx.value, message: '' })
  },
  z.meta({
    type: 'object',
    anyOf: [
      ...knownKeys(Fault, [])
        .filter(name => !TEXT_FIELDS.includes(name))
        .map(name => having(name, PLACEHOLDER_SHAPE)),
      having('respond', having('status', PLACEHOLDER_SHAPE)),
    ],
  }),
)

export const FaultSchema = typed<'clear' | { clear: string } | FaultFields>(
  z.union([
    z.literal('clear').check(described('Clears every fault')),
    z.strictObject({ clear: z.string().check(described('Name of the fault to clear', 'flaky')) }),
    Fault,
    FaultTemplate,
  ]),
)
