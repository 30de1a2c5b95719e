/** The plain types of the wire are those of its schemas. Nothing here runs: `npm run types` reads it. */
import type * as z from 'zod/mini'
import type { ENDPOINTS, EndpointId } from '../../src/contract/endpoints.ts'
import type { WEBHOOK_EVENTS, WebhookEventName } from '../../src/contract/events.ts'
import type { CallBodies, CallId, CallResponses, EventPayloads } from '../../src/contract/wire.ts'

type Flat<T> = T extends readonly (infer Item)[]
  ? Flat<Item>[]
  : T extends object
    ? { [Key in keyof T]: Flat<T[Key]> }
    : T
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type All<T extends true> = T

type Table = typeof ENDPOINTS
type BodyOf<Id extends EndpointId> = Table[Id]['body'] extends z.ZodMiniType
  ? z.infer<Table[Id]['body']>
  : Record<string, never>
type ResponseOf<Id extends EndpointId> = z.infer<Table[Id]['response']>
type EventOf<Name extends WebhookEventName> = z.infer<(typeof WEBHOOK_EVENTS)[Name]['schema']>

type True<Keys extends string> = { [Key in Keys]: true }
type Bodies = { [Id in EndpointId]: Same<Flat<CallBodies[Id]>, Flat<BodyOf<Id>>> }
type Responses = { [Id in EndpointId]: Same<Flat<CallResponses[Id]>, Flat<ResponseOf<Id>>> }
type Events = { [Name in WebhookEventName]: Same<Flat<EventPayloads[Name]>, Flat<EventOf<Name>>> }

/** One that differs stands there as false. */
export type Checked = [
  All<Same<CallId, EndpointId>>,
  All<Same<keyof EventPayloads, WebhookEventName>>,
  All<Same<Bodies, True<EndpointId>>>,
  All<Same<Responses, True<EndpointId>>>,
  All<Same<Events, True<WebhookEventName>>>,
]
