/** What the platform posts to the configured webhook: a union told apart by `event` (EV1-EV4, W5). */
import * as z from 'zod/mini'
import { Attachment, Bot, ChatReference, object, User } from './schemas.ts'

const about = { bot: Bot, chat: ChatReference, user: User }

const RequestingTakeover = object({ event: z.literal('REQUESTING TAKEOVER'), ...about }).check(
  z.meta({ id: 'RequestingTakeover', description: 'The user pressed a handover request button' }),
)

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

export const WebhookEvent = z.union([RequestingTakeover, MessageFromUser, AgentTypingStart, AgentTypingStop])
export type WebhookEvent = z.infer<typeof WebhookEvent>

/** One row per event: its schema, and whether only the status 200 acknowledges it (WH2). */
export const WEBHOOK_EVENTS = {
  'REQUESTING TAKEOVER': { schema: RequestingTakeover, demands200: true },
  'MESSAGE FROM USER': { schema: MessageFromUser, demands200: true },
  'AGENT TYPING START': { schema: AgentTypingStart, demands200: false },
  'AGENT TYPING STOP': { schema: AgentTypingStop, demands200: false },
} as const
export type WebhookEventName = keyof typeof WEBHOOK_EVENTS
