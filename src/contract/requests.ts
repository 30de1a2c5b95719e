/** Request and response bodies of the nine endpoints. Unknown fields are judged in `api/`, not here (`api.unknownFields`). */
import * as z from 'zod/mini'
import { AvailabilityReason, AvailabilityValue, Button, ChatRecord, MessageRecord, object, Sender } from './schemas.ts'

const botId = z.int().check(z.describe('Bot identifier, an integer'))
const chatId = z.string().check(z.minLength(1), z.describe('Chat identifier, a string'))
const confirmation = <Event extends string>(event: Event) =>
  object({ event: z.literal(event), chat_id: z.string(), chatmessage_id: z.string() })

export const ChatRequest = object({ bot_id: botId, chat_id: chatId })
export type ChatRequest = z.infer<typeof ChatRequest>

export const AvailabilityRequest = object({
  availability: AvailabilityValue,
  queue: z.optional(z.string()),
  reason: z.optional(AvailabilityReason),
})
export type AvailabilityRequest = z.infer<typeof AvailabilityRequest>

export const StartRequest = object({
  bot_id: botId,
  chat_id: chatId,
  sender: z.optional(Sender),
  supports_attachment: z.optional(z.boolean()),
})
export type StartRequest = z.infer<typeof StartRequest>

export const EndRequest = object({ bot_id: botId, chat_id: chatId, sender: z.optional(Sender) })
export type EndRequest = z.infer<typeof EndRequest>

export const MessageRequest = object({
  bot_id: botId,
  chat_id: chatId,
  message: z.string(),
  sender: z.optional(Sender),
  buttons: z.optional(z.array(Button)),
})
export type MessageRequest = z.infer<typeof MessageRequest>

export const TypingStartRequest = object({
  bot_id: botId,
  chat_id: chatId,
  timeout: z.optional(z.int().check(z.positive(), z.describe('Milliseconds until the indicator hides itself'))),
})
export type TypingStartRequest = z.infer<typeof TypingStartRequest>

export const TranscriptResponse = object({
  event: z.literal('TRANSCRIPT'),
  chat: z.looseObject({ id: z.string(), bot_id: z.int(), messages: z.array(MessageRecord) }),
})
export type TranscriptResponse = z.infer<typeof TranscriptResponse>

export const SummaryResponse = object({ event: z.literal('SUMMARIZED'), chat_id: z.string(), summary: z.string() })
export type SummaryResponse = z.infer<typeof SummaryResponse>

export const AvailabilityResponse = object({
  event: z.literal('HANDOVER AVAILABILITY UPDATED'),
  bot_id: z.string(),
  queue: z.string(),
  availability: AvailabilityValue,
  updated_at: z.string(),
})
export type AvailabilityResponse = z.infer<typeof AvailabilityResponse>

export const StartResponse = confirmation('TAKEOVER STARTED')
export type StartResponse = z.infer<typeof StartResponse>

export const EndResponse = confirmation('TAKEOVER ENDED')
export type EndResponse = z.infer<typeof EndResponse>

export const MessageResponse = confirmation('MESSAGE SENT TO USER')
export type MessageResponse = z.infer<typeof MessageResponse>

/** Nothing is published about this body (`typing.response`): an empty object, or by knob an event. */
export const TypingResponse = object({ event: z.optional(z.string()), chat_id: z.optional(z.string()) })
export type TypingResponse = z.infer<typeof TypingResponse>

export const ChatResponse = object({ chat: ChatRecord })
export type ChatResponse = z.infer<typeof ChatResponse>
