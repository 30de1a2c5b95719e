/** Defines the events that the platform sends to the webhook: a union with the discriminator `event` (EV1-EV9, W5). */
import * as z from 'zod/mini'
import { EVENT_NAMES, SIGN_MODES, type WebhookEventName } from './event-names.ts'
import { Attachment, Bot, ChatReference, object, User } from './schemas.ts'

const about = { bot: Bot, chat: ChatReference, user: User }

const RequestingTakeover = object({ event: z.literal('REQUESTING TAKEOVER'), ...about }).check(
  z.meta({ id: 'RequestingTakeover', description: 'The user pressed a handover request button' }),
)

/** A message of the user during a takeover; `attachments` only when the handover supports them (EV4-EV6). */
export const MessageFromUser = object({
  event: z.literal('MESSAGE FROM USER'),
  ...about,
  message: z.string(),
  attachments: z.optional(z.array(Attachment)),
}).check(z.meta({ id: 'MessageFromUser', description: 'The user wrote while an agent has the chat' }))
export type MessageFromUser = z.infer<typeof MessageFromUser>

const AgentTypingStart = object({ event: z.literal('AGENT TYPING START'), chat_id: z.string() }).check(
  z.meta({ id: 'AgentTypingStart', description: 'Associated with typing_start (typing.webhook)' }),
)

const AgentTypingStop = object({ event: z.literal('AGENT TYPING STOP'), chat_id: z.string() }).check(
  z.meta({ id: 'AgentTypingStop', description: 'Associated with typing_stop (typing.webhook)' }),
)

/**
 * Any event of the platform, as posted to the webhook (EV1).
 *
 * @example
 * const event = WebhookEvent.parse(await request.json())
 * if (event.event === 'MESSAGE FROM USER') console.log(event.message)
 */
export const WebhookEvent = z.discriminatedUnion('event', [
  RequestingTakeover,
  MessageFromUser,
  AgentTypingStart,
  AgentTypingStop,
])
export type WebhookEvent = z.infer<typeof WebhookEvent>

const event = <Name extends WebhookEventName, Schema extends z.ZodMiniType>(name: Name, schema: Schema) =>
  ({ schema, ...EVENT_NAMES[name] }) as const

/** The events by name: the schema of each, and whether only the status 200 acknowledges it (WH2, WH3). */
export const WEBHOOK_EVENTS = {
  'REQUESTING TAKEOVER': event('REQUESTING TAKEOVER', RequestingTakeover),
  'MESSAGE FROM USER': event('MESSAGE FROM USER', MessageFromUser),
  'AGENT TYPING START': event('AGENT TYPING START', AgentTypingStart),
  'AGENT TYPING STOP': event('AGENT TYPING STOP', AgentTypingStop),
} as const

export const SignModeSchema = z
  .enum(SIGN_MODES)
  .check(z.meta({ id: 'SignMode', description: 'How an event is signed; all but `valid` are wrong on purpose' }))
