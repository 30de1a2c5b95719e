/** Defines the request and response bodies of the nine endpoints; validation, documentation and types derive from this table. */
import * as z from 'zod/mini'
import { ENDPOINT_ROUTES, type EndpointId, type EndpointRoute } from './endpoint-routes.ts'
import type { WebhookEventName } from './event-names.ts'
import type { WEBHOOK_EVENTS } from './events.ts'

import { AvailabilityReason, AvailabilityValue, Button, ChatRecord, MessageRecord, object, Sender } from './schemas.ts'

const botId = z.int().check(z.describe('Bot identifier, an integer'))
const chatId = z.string().check(z.minLength(1), z.describe('Chat identifier, a string'))
const confirmation = <Event extends string>(event: Event) =>
  object({ event: z.literal(event), chat_id: z.string(), chatmessage_id: z.string() })

/** The body of transcript, summarize and typing_stop: a bot and its chat (E1.2, E2.2, E8.2). */
export const ChatRequest = object({ bot_id: botId, chat_id: chatId })
export type ChatRequest = z.infer<typeof ChatRequest>

/** The body of availability; `queue` defaults to `DEFAULT` (E3.2-E3.4). */
export const AvailabilityRequest = object({
  availability: AvailabilityValue,
  queue: z.optional(z.string()),
  reason: z.optional(AvailabilityReason),
})
export type AvailabilityRequest = z.infer<typeof AvailabilityRequest>

/** The body of start; `sender.language_codes` turns live translation on, `supports_attachment` defaults to false (E4.2-E4.4). */
export const StartRequest = object({
  bot_id: botId,
  chat_id: chatId,
  sender: z.optional(Sender),
  supports_attachment: z.optional(z.boolean()),
})
export type StartRequest = z.infer<typeof StartRequest>

/** The body of end (E5.2, E5.3). */
export const EndRequest = object({ bot_id: botId, chat_id: chatId, sender: z.optional(Sender) })
export type EndRequest = z.infer<typeof EndRequest>

/** The body of message; `sender` is expected but not required (E6.2-E6.4, R-SENDER.3). */
export const MessageRequest = object({
  bot_id: botId,
  chat_id: chatId,
  message: z.string(),
  sender: z.optional(Sender),
  buttons: z.optional(z.array(Button)),
})
export type MessageRequest = z.infer<typeof MessageRequest>

/** The body of typing_start; `timeout` is in milliseconds (E7.2). */
export const TypingStartRequest = object({
  bot_id: botId,
  chat_id: chatId,
  timeout: z.optional(z.int().check(z.positive(), z.describe('Milliseconds until the indicator hides itself'))),
})
export type TypingStartRequest = z.infer<typeof TypingStartRequest>

/** The response of transcript: the messages before the handover request, and further fields (E1.3, E1.4). */
export const TranscriptResponse = object({
  event: z.literal('TRANSCRIPT'),
  chat: z.looseObject({ id: z.string(), bot_id: z.int(), messages: z.array(MessageRecord) }),
})
export type TranscriptResponse = z.infer<typeof TranscriptResponse>

/** The response of summarize (E2.3). */
export const SummaryResponse = object({ event: z.literal('SUMMARIZED'), chat_id: z.string(), summary: z.string() })
export type SummaryResponse = z.infer<typeof SummaryResponse>

/** The response of availability; `bot_id` is a string here, `updated_at` a time in the form of `time.format` (E3.5, E3.6). */
export const AvailabilityResponse = object({
  event: z.literal('HANDOVER AVAILABILITY UPDATED'),
  bot_id: z.string(),
  queue: z.string(),
  availability: AvailabilityValue,
  updated_at: z.string(),
})
export type AvailabilityResponse = z.infer<typeof AvailabilityResponse>

/** The response of start (E4.5). */
export const StartResponse = confirmation('TAKEOVER STARTED')
export type StartResponse = z.infer<typeof StartResponse>

/** The response of end (E5.4). */
export const EndResponse = confirmation('TAKEOVER ENDED')
export type EndResponse = z.infer<typeof EndResponse>

/** The response of message (E6.7). */
export const MessageResponse = confirmation('MESSAGE SENT TO USER')
export type MessageResponse = z.infer<typeof MessageResponse>

/** The response of typing_start and typing_stop. It is not published: an empty object, or an event with `typing.response=event`. */
export const TypingResponse = object({ event: z.optional(z.string()), chat_id: z.optional(z.string()) })
export type TypingResponse = z.infer<typeof TypingResponse>

/** The response of chat, the transcript endpoint (E9.3). */
export const ChatResponse = object({ chat: ChatRecord })
export type ChatResponse = z.infer<typeof ChatResponse>

/** One endpoint of the platform. `body` is null for a GET request. */
export interface Endpoint extends EndpointRoute {
  readonly body: z.ZodMiniType | null
  readonly response: z.ZodMiniType
}

const endpoint = <Id extends EndpointId, Body extends z.ZodMiniType | null, Response extends z.ZodMiniType>(
  id: Id,
  body: Body,
  response: Response,
) => ({ ...ENDPOINT_ROUTES[id], body, response }) as const

/**
 * The endpoints by id, with the schemas of their bodies (E1-E9).
 *
 * @example
 * ENDPOINTS.start.body.parse({ bot_id: 1042, chat_id: 'c1' })
 */
export const ENDPOINTS = {
  transcript: endpoint('transcript', ChatRequest, TranscriptResponse),
  summarize: endpoint('summarize', ChatRequest, SummaryResponse),
  availability: endpoint('availability', AvailabilityRequest, AvailabilityResponse),
  start: endpoint('start', StartRequest, StartResponse),
  end: endpoint('end', EndRequest, EndResponse),
  message: endpoint('message', MessageRequest, MessageResponse),
  typing_start: endpoint('typing_start', TypingStartRequest, TypingResponse),
  typing_stop: endpoint('typing_stop', ChatRequest, TypingResponse),
  chat: endpoint('chat', null, ChatResponse),
} as const satisfies Record<EndpointId, Endpoint>

type Endpoints = typeof ENDPOINTS

/** The name of a call. */
export type CallId = EndpointId

/** The body of each call; `chat` is a GET request without one. */
export type CallBodies = {
  [Id in EndpointId]: Endpoints[Id]['body'] extends z.ZodMiniType
    ? z.infer<Endpoints[Id]['body']>
    : Record<string, never>
}

/** The successful answer to each call. */
export type CallResponses = { [Id in EndpointId]: z.infer<Endpoints[Id]['response']> }

/** The payload of each webhook event. */
export type EventPayloads = { [Name in WebhookEventName]: z.infer<(typeof WEBHOOK_EVENTS)[Name]['schema']> }
