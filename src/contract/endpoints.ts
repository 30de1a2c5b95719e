/** Lists the nine endpoints; routing, validation, documentation and types are derived from this table. */
import type * as z from 'zod/mini'
import {
  AvailabilityRequest,
  AvailabilityResponse,
  ChatRequest,
  ChatResponse,
  EndRequest,
  EndResponse,
  MessageRequest,
  MessageResponse,
  StartRequest,
  StartResponse,
  SummaryResponse,
  TranscriptResponse,
  TypingResponse,
  TypingStartRequest,
} from './requests.ts'

/** `handover`: the key of the handover settings page (A2). `read_chats`: a bot API key with 'Read chats' (A3). */
export type Scope = 'handover' | 'read_chats'

/** One endpoint of the platform. `body` is null for a GET request. */
export interface Endpoint {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** As the platform writes it, trailing slash included; `{chatId}` is the only parameter. */
  readonly path: string
  readonly scope: Scope
  /** The rule of docs/platform.md that describes it. */
  readonly rule: string
  readonly summary: string
  readonly body: z.ZodMiniType | null
  readonly response: z.ZodMiniType
}

/**
 * The endpoints by id, with the schemas of their bodies (E1-E9).
 *
 * @example
 * ENDPOINTS.start.body.parse({ bot_id: 1042, chat_id: 'c1' })
 */
export const ENDPOINTS = {
  transcript: {
    id: 'transcript',
    method: 'POST',
    path: '/api/v2/handover/transcript',
    scope: 'handover',
    rule: 'E1',
    summary: 'Get handover transcript',
    body: ChatRequest,
    response: TranscriptResponse,
  },
  summarize: {
    id: 'summarize',
    method: 'POST',
    path: '/api/v2/handover/summarize',
    scope: 'handover',
    rule: 'E2',
    summary: 'Summarize chat',
    body: ChatRequest,
    response: SummaryResponse,
  },
  availability: {
    id: 'availability',
    method: 'POST',
    path: '/api/v2/handover/availability',
    scope: 'handover',
    rule: 'E3',
    summary: 'Set handover availability',
    body: AvailabilityRequest,
    response: AvailabilityResponse,
  },
  start: {
    id: 'start',
    method: 'POST',
    path: '/api/v2/handover/start',
    scope: 'handover',
    rule: 'E4',
    summary: 'Start handover',
    body: StartRequest,
    response: StartResponse,
  },
  end: {
    id: 'end',
    method: 'POST',
    path: '/api/v2/handover/end',
    scope: 'handover',
    rule: 'E5',
    summary: 'End handover',
    body: EndRequest,
    response: EndResponse,
  },
  message: {
    id: 'message',
    method: 'POST',
    path: '/api/v2/handover/message/',
    scope: 'handover',
    rule: 'E6',
    summary: 'Send message to user',
    body: MessageRequest,
    response: MessageResponse,
  },
  typing_start: {
    id: 'typing_start',
    method: 'POST',
    path: '/api/v2/handover/typing_start',
    scope: 'handover',
    rule: 'E7',
    summary: 'Agent typing start',
    body: TypingStartRequest,
    response: TypingResponse,
  },
  typing_stop: {
    id: 'typing_stop',
    method: 'POST',
    path: '/api/v2/handover/typing_stop',
    scope: 'handover',
    rule: 'E8',
    summary: 'Agent typing stop',
    body: ChatRequest,
    response: TypingResponse,
  },
  chat: {
    id: 'chat',
    method: 'GET',
    path: '/api/v1/chats/{chatId}',
    scope: 'read_chats',
    rule: 'E9',
    summary: 'Get chat transcript',
    body: null,
    response: ChatResponse,
  },
} as const satisfies Record<string, Endpoint>
/** The id of an endpoint: a key of `ENDPOINTS`. */
export type EndpointId = keyof typeof ENDPOINTS

/** The two spellings of the handover paths (V2, W7). */
export const ALIASES = ['handover', 'takeover'] as const
/** One of the two spellings. */
export type Alias = (typeof ALIASES)[number]
