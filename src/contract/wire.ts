/** Derives the types of calls, answers and events from their schemas. The build writes them out without zod. */
import type * as z from 'zod/mini'
import type { ENDPOINTS, EndpointId } from './endpoints.ts'
import type { WEBHOOK_EVENTS, WebhookEventName } from './events.ts'

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
