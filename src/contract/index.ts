/**
 * `handover-sim/contract`: the requests, responses and events of the platform as zod schemas and types, for building an
 * intermediary. The schemas use the installed zod, so they can be combined with schemas of the project.
 */

export { ALIASES, type Alias, ENDPOINTS, type Endpoint, type EndpointId, type Scope } from './endpoints.ts'
export { ErrorBody } from './errors.ts'
export { MessageFromUser, WEBHOOK_EVENTS, WebhookEvent, type WebhookEventName } from './events.ts'
export {
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
