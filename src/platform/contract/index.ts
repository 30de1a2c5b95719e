/**
 * `handover-sim/contract`: the requests, responses and events of the platform as zod schemas and types, for building an
 * intermediary. The schemas use the installed zod, so they can be combined with schemas of the project.
 */

export { ALIASES, type Alias, type EndpointId, type Scope } from './endpoint-routes.ts'
export {
  AvailabilityRequest,
  AvailabilityResponse,
  ChatRequest,
  ChatResponse,
  ENDPOINTS,
  type Endpoint,
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
} from './endpoints.ts'
export type { WebhookEventName } from './event-names.ts'
export { MessageFromUser, WEBHOOK_EVENTS, WebhookEvent } from './events.ts'
export {
  Attachment,
  AvailabilityReason,
  AvailabilityValue,
  Bot,
  Button,
  ChatRecord,
  ChatReference,
  ErrorBody,
  MessageRecord,
  Sender,
  User,
} from './schemas.ts'
