/** Journal entries as the control API shows them: one schema per kind, told apart by `kind`. */
import * as z from 'zod/mini'
import { ALIASES, ENDPOINTS, type EndpointId } from '../../contract/endpoints.ts'
import { WEBHOOK_EVENTS, WebhookEvent, type WebhookEventName } from '../../contract/events.ts'
import { SIGN_MODES } from '../../contract/sign-modes.ts'
import { FAILURE_CODES } from '../../wording/delivery.ts'

export const EntryKind = z
  .enum(['api', 'event', 'delivery', 'driver', 'user', 'fault', 'note'])
  .check(z.meta({ id: 'EntryKind' }))

export const SignMode = z
  .enum(SIGN_MODES)
  .check(z.meta({ id: 'SignMode', description: 'How an event is signed; all but `valid` are wrong' }))

const headers = z.record(z.string(), z.string())
const chatId = z.optional(z.string())
const faults = z.optional(z.array(z.string()).check(z.describe('Names of the faults that were applied')))
const endpoint = z.enum(Object.keys(ENDPOINTS) as EndpointId[])
const event = z.enum(Object.keys(WEBHOOK_EVENTS) as WebhookEventName[])

const frame = {
  v: z.literal(1),
  seq: z.int().check(z.positive()),
  time: z.string().check(z.describe("ISO 8601 on the simulator's clock")),
  cause: z.nullable(z.int()).check(z.describe('Seq of the entry that caused this one')),
  at_ms: z.number().check(z.describe('Milliseconds on the wall since the simulator was made; for durations only')),
}

const ApiEntry = z
  .object({
    ...frame,
    kind: z.literal('api'),
    chat_id: chatId,
    endpoint: z.nullable(endpoint),
    method: z.string(),
    path: z.string(),
    alias: z.nullable(z.enum(ALIASES)),
    auth: z.enum(['valid', 'missing', 'malformed', 'unknown', 'wrong_scope', 'not_checked']),
    request: z.object({ headers, body: z.unknown(), bytes: z.int() }),
    status: z.int().check(z.describe('0 when a fault struck before there was an answer')),
    response: z.unknown(),
    findings: z.array(z.object({ rule: z.string(), message: z.string() })),
    unspecified: z
      .record(z.string(), z.unknown())
      .check(z.describe('Names of the assumptions the answer rests on, with the values of their knobs')),
    duration_ms: z.number(),
    follows: z.nullable(z.int()).check(z.describe('The latest webhook event of the chat before this call')),
    faults,
    answer_lost: z.optional(
      z.enum(['before', 'after']).check(z.describe('No answer went out; before: nothing was done, after: it was')),
    ),
  })
  .check(z.meta({ id: 'ApiEntry', description: 'A call of the platform and its answer' }))

const EventEntry = z
  .object({
    ...frame,
    kind: z.literal('event'),
    chat_id: z.string(),
    event,
    delivery_id: z.string(),
    payload: WebhookEvent,
  })
  .check(z.meta({ id: 'EventEntry', description: 'An event the platform has for the webhook' }))

const text = z.optional(z.string())
const Failure = z
  .object({
    code: z.enum(FAILURE_CODES),
    target: z.optional(z.string().check(z.describe('Host and port'))),
    system_code: z.optional(z.string().check(z.describe('Of the operating system or the HTTP client: `ECONNREFUSED`'))),
    detail: text,
    place: z.optional(z.string().check(z.describe('Where the webhook function threw'))),
    timeout_ms: z.optional(z.number()),
    status: z.optional(z.int()),
    event: text,
    followed: z.optional(z.boolean().check(z.describe('Whether redirects are followed'))),
  })
  .check(z.meta({ id: 'DeliveryFailure', description: 'Why an event is not acknowledged' }))

const DeliveryEntry = z
  .object({
    ...frame,
    kind: z.literal('delivery'),
    chat_id: chatId,
    delivery_id: z.string(),
    event: z.string(),
    attempt: z.int(),
    outcome: z.enum(['delivered', 'failed', 'skipped']),
    url: z.nullable(z.string()),
    request: z.object({ headers, body: z.string() }),
    status: z.nullable(z.int()),
    response: z.nullable(z.object({ headers, body: z.string(), truncated: z.boolean() })),
    duration_ms: z.number(),
    failure: z.optional(Failure),
    error: z.optional(z.string().check(z.describe('`failure` in words'))),
    retry_in_ms: z.optional(z.number()),
    triggered: z.optional(z.literal(true).check(z.describe('Made by hand, no event of the platform'))),
    sign: z.optional(SignMode),
    resent: z.optional(z.literal(true).check(z.describe('A past delivery, sent again by hand'))),
    faults,
    duplicate: z.optional(z.literal(true).check(z.describe('One more copy of the same bytes, on purpose'))),
  })
  .check(z.meta({ id: 'DeliveryEntry', description: 'One attempt to deliver an event' }))

const UserEntry = z
  .object({
    ...frame,
    kind: z.literal('user'),
    chat_id: z.string(),
    action: z.enum(['message', 'press']),
    text: z.optional(z.string()),
    button: z.optional(z.string()),
    message_id: z.nullable(z.string()),
    attachments: z.optional(z.array(z.object({ name: z.string(), type: z.string(), size_kb: z.int() }))),
  })
  .check(z.meta({ id: 'UserEntry', description: 'What the end user did' }))

const NoteEntry = z
  .looseObject({ ...frame, kind: z.literal('note'), chat_id: chatId, note: z.string() })
  .check(z.meta({ id: 'NoteEntry', description: 'Something worth knowing, by a stable name' }))

const Effect = z
  .looseObject({ respond: z.optional(z.object({ status: z.int() })) })
  .check(
    z.meta({ id: 'FaultEffect', description: 'The effects of the fault, as they were set; of `respond` the status' }),
  )

const FaultEntry = z
  .object({
    ...frame,
    kind: z.literal('fault'),
    chat_id: chatId,
    fault: z.string(),
    effect: Effect,
    hit: z.int().check(z.positive()),
    of: z.nullable(z.int()).check(z.describe('How many hits it has in all; null until it is cleared')),
    endpoint: z.optional(endpoint),
    event: z.optional(z.string()),
    delivery_id: z.optional(z.string()),
    not_applied: z.optional(
      z.array(z.string()).check(z.describe('Effects left out, because the webhook is a function')),
    ),
  })
  .check(
    z.meta({ id: 'FaultEntry', description: 'One hit of a fault; the cause is the call or event that it changed' }),
  )

const OpenEntry = z
  .looseObject({ ...frame, kind: z.literal('driver'), chat_id: chatId })
  .check(z.meta({ id: 'OpenEntry', description: 'By the agent driver' }))

export const Entry = z
  .union([ApiEntry, EventEntry, DeliveryEntry, UserEntry, NoteEntry, FaultEntry, OpenEntry])
  .check(z.meta({ id: 'Entry', description: 'What happened; keys and signatures are masked' }))
