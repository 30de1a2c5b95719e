/**
 * `handover-sim/contract`: the requests, responses and events of the platform as zod schemas and types, for building an
 * intermediary. The schemas use the installed zod, so they can be combined with schemas of the project.
 */

export {
  ALIASES,
  type Alias,
  AvailabilityRequest,
  AvailabilityResponse,
  ChatRequest,
  ChatResponse,
  ENDPOINTS,
  type Endpoint,
  type EndpointId,
  EndRequest,
  EndResponse,
  MessageRequest,
  MessageResponse,
  type Scope,
  StartRequest,
  StartResponse,
  SummaryResponse,
  TranscriptResponse,
  TypingResponse,
  TypingStartRequest,
} from './endpoints.ts'
export { ErrorBody } from './errors.ts'
export { MessageFromUser, WEBHOOK_EVENTS, WebhookEvent, type WebhookEventName } from './events.ts'
export {
  Attachment,
  AvailabilityReason,
  AvailabilityValue,
  Bot,
  Button,
  ChatRecord,
  ChatReference,
  MessageRecord,
  Sender,
  User,
} from './schemas.ts'
