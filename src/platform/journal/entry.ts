/** Describes the entries of the journal: one schema per kind gives the types, the OpenAPI document and the checks. Wire case: every language reads entries as JSON. */
import * as z from 'zod/mini'
import { keysOf } from '../../base/objects.ts'
import type { ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import { ALIASES } from '../contract/endpoint-routes.ts'
import { ENDPOINTS } from '../contract/endpoints.ts'
import type { SignMode } from '../contract/event-names.ts'
import { SignModeSchema, WEBHOOK_EVENTS, WebhookEvent } from '../contract/events.ts'
import type { DriverFailure } from './run-failures.ts'

const KINDS = ['api', 'event', 'delivery', 'driver', 'user', 'fault', 'note'] as const
export const EntryKind = z.enum(KINDS).check(z.meta({ id: 'EntryKind' }))
export type EntryKind = z.infer<typeof EntryKind>

const headers = z.record(z.string(), z.string())
const chatId = z.optional(z.string())
const text = z.optional(z.string())
const flag = (description: string) => z.optional(z.literal(true).check(z.describe(description)))
const observed = flag('Seen between two other programs by `npx handover-sim proxy`, and not simulated')
const faults = z.optional(z.array(z.string()).check(z.describe('Names of the faults that were applied')))
const endpoint = z.enum(keysOf(ENDPOINTS))

/** A time in ISO 8601. */
export const isoTime = z
  .string()
  .check(z.refine(text => !Number.isNaN(Date.parse(text)), { error: 'a time in ISO 8601' }))

/** What every entry has. */
const frame = {
  v: z.literal(1),
  seq: z.int().check(z.positive(), z.describe('1, 2, 3 ... in the order things happened')),
  time: isoTime.check(z.describe("ISO 8601 on the simulator's clock")),
  cause: z.nullable(z.int()).check(z.describe('Seq of the entry that caused this one; null when it came from outside')),
  at_ms: z.number().check(z.describe('Milliseconds on the wall since the simulator was made; for durations only')),
}

const CallRemark = z
  .object({ rule: z.string(), message: z.string() })
  .check(z.describe('Something the platform might forgive but a developer should know'))

const truncatedFrom = z.optional(
  z
    .object({ bytes: z.int(), sha256: z.string() })
    .check(
      z.describe(
        'Length and SHA-256 (hexadecimal) of the whole body as compact JSON or text, of which only the beginning is shown',
      ),
    ),
)

/** The text of a message is cut like a body. */
const ShownMessage = z
  .object({
    text: z.optional(z.string().check(z.describe('After live translation'))),
    name: z.optional(z.string().check(z.describe('Of the sender, when the call has none'))),
    truncated_from: truncatedFrom,
  })
  .check(z.describe('How the user saw the message, where that differs from the request'))

const api = {
  kind: z.literal('api'),
  chat_id: chatId,
  endpoint: z.nullable(endpoint),
  method: z.string(),
  path: z.string(),
  alias: z.nullable(z.enum(ALIASES)),
  auth: z.enum(['valid', 'missing', 'malformed', 'unknown', 'wrong_scope', 'not_checked']),
  request: z.object({ headers, body: z.unknown(), bytes: z.int(), truncated_from: truncatedFrom }),
  status: z.int().check(z.describe('0 when a fault prevented an answer')),
  response: z.unknown(),
  response_truncated_from: truncatedFrom,
  shown_to_user: z.optional(ShownMessage),
  findings: z.array(CallRemark),
  unspecified: z
    .record(z.string(), z.unknown())
    .check(z.describe('Assumptions the answer rests on, each with the value of its knob; null for one without a knob')),
  duration_ms: z.number(),
  follows: z.nullable(z.int()).check(z.describe('The latest webhook event of the chat before this call')),
  faults,
  answer_lost: z.optional(
    z.enum(['before', 'after']).check(z.describe('No answer went out; before: nothing was done, after: it was')),
  ),
  observed,
}

const event = {
  kind: z.literal('event'),
  chat_id: z.string(),
  event: z.enum(keysOf(WEBHOOK_EVENTS)),
  delivery_id: z.string(),
  payload: WebhookEvent,
  observed,
}

/** Why an event is not acknowledged. `wording/delivery.ts` has the words. */
export type DeliveryFailure =
  | ConnectionFailure
  | { readonly code: 'no_url' }
  /** A bug of the simulator; the note `internal_error` before it has the details. */
  | { readonly code: 'internal_error' }
  /** Too many events wait for the webhook, and this one would exceed `memoryLimit`. */
  | { readonly code: 'queue_full'; readonly limit_bytes: number }
  /** `location`: where it leads, when that is no address of HTTP. */
  | { readonly code: 'redirect'; readonly status: number; readonly followed: boolean; readonly location?: string }
  | { readonly code: 'not_acknowledged'; readonly status: number; readonly event: string }

/** All codes, so that the OpenAPI document lists them. */
const FAILURE_CODES: Readonly<Record<DeliveryFailure['code'], true>> = {
  connection_refused: true,
  connection_reset: true,
  connection_closed: true,
  connect_timeout: true,
  no_route: true,
  dns_not_found: true,
  dns_no_answer: true,
  no_tls: true,
  too_many_open_files: true,
  headers_too_long: true,
  tls: true,
  not_http: true,
  network: true,
  timeout: true,
  sender_closed: true,
  cancelled: true,
  no_sockets: true,
  function_threw: true,
  function_returned_no_response: true,
  function_reused_response: true,
  lambda_answer_invalid: true,
  no_url: true,
  internal_error: true,
  queue_full: true,
  redirect: true,
  not_acknowledged: true,
}

const Failure = z
  .object({
    code: z.enum(Object.keys(FAILURE_CODES)),
    target: z.optional(z.string().check(z.describe('Host and port'))),
    system_code: z.optional(z.string().check(z.describe('Of the operating system or the HTTP client: `ECONNREFUSED`'))),
    detail: text,
    place: z.optional(z.string().check(z.describe('Where the webhook function threw'))),
    timeout_ms: z.optional(z.number()),
    limit_bytes: z.optional(z.int()),
    status: z.optional(z.int()),
    event: text,
    followed: z.optional(z.boolean().check(z.describe('Whether redirects are followed'))),
    location: z.optional(z.string().check(z.describe('Where a redirect leads, when that is no address of HTTP'))),
  })
  .check(z.meta({ id: 'DeliveryFailure', description: 'Why an event is not acknowledged' }))

const delivery = {
  kind: z.literal('delivery'),
  chat_id: chatId,
  delivery_id: z.string(),
  event: z.string(),
  attempt: z.int().check(z.describe('1 for the first attempt')),
  outcome: z.enum(['delivered', 'failed', 'skipped']),
  url: z.nullable(z.string()),
  request: z.object({ headers, body: z.string(), truncated_from: truncatedFrom }),
  status: z.nullable(z.int()),
  response: z.nullable(z.object({ headers, body: z.string(), truncated: z.boolean(), truncated_from: truncatedFrom })),
  duration_ms: z.number(),
  failure: z.optional(Failure),
  retry_in_ms: z.optional(z.number().check(z.describe("Until the next attempt, on the simulator's clock"))),
  triggered: flag('A manual event; the platform did not send it'),
  sign: z.optional(SignModeSchema),
  resent: flag('A past delivery, sent again manually'),
  probe: z.optional(
    z
      .object({ of: z.string(), code: z.string(), detail: z.string() })
      .check(z.describe('It was sent to find out why the delivery `of` was refused; `code` is the mistake it has')),
  ),
  faults,
  duplicate: flag('One more copy of the same bytes, on purpose; copies are numbered from 2'),
  observed,
}

const user = {
  kind: z.literal('user'),
  chat_id: z.string(),
  action: z.enum(['message', 'press', 'close', 'delete']),
  text,
  button: text,
  text_for_agent: z.optional(z.string().check(z.describe('After live translation, where it differs from `text`'))),
  message_id: z.nullable(
    z
      .string()
      .check(
        z.describe(
          'Of the message that the act added; null for none, and for a message into a chat that the user has left',
        ),
      ),
  ),
  attachments: z.optional(z.array(z.object({ name: z.string(), url: z.string(), type: z.string(), size_kb: z.int() }))),
}

const note = {
  kind: z.literal('note'),
  chat_id: chatId,
  note: z.string().check(z.describe('A stable name such as `chat_created`, `bot_message`, `typing_hidden`, `evicted`')),
}

/** What a fault does, in the words of its specification. */
export interface FaultEffect {
  readonly latency?: string
  readonly respond?: { readonly status: number }
  readonly drop?: 'before' | 'after'
  readonly reset?: true
  readonly slow_body?: string
  readonly malformed?: true
  readonly delay?: string
  readonly slow?: string
  readonly swap?: true
  readonly hold?: number
  readonly sign?: SignMode
  readonly duplicate?: number
  readonly gap?: string
  readonly truncate?: true
  readonly drip?: string
  readonly reset_after_answer?: true
  readonly http?: readonly ('header-case' | 'chunked')[]
}

const Effect = z
  .looseObject({ respond: z.optional(z.object({ status: z.int() })) })
  .check(
    z.meta({ id: 'FaultEffect', description: 'The effects of the fault, as they were set; of `respond` the status' }),
  )

const fault = {
  kind: z.literal('fault'),
  chat_id: chatId,
  fault: z.string(),
  effect: Effect,
  hit: z.int().check(z.positive(), z.describe('1 for the first')),
  of: z.nullable(z.int()).check(z.describe('How many hits it has in all; null until it is cleared')),
  endpoint: z.optional(endpoint),
  event: text,
  delivery_id: text,
  not_applied: z.optional(z.array(z.string()).check(z.describe('Effects left out, because the webhook is a function'))),
}

const driver = { kind: z.literal('driver'), chat_id: chatId }

const named = <Schema extends z.ZodMiniType>(schema: Schema, id: string, description: string): Schema =>
  schema.check(z.meta({ id, description }))

/** An entry as the control API answers with it, and as journals and snapshots have it. */
export const EntrySchema = named(
  z.discriminatedUnion('kind', [
    named(z.object({ ...frame, ...api }), 'ApiEntry', 'A call of the platform and its answer'),
    named(z.object({ ...frame, ...event }), 'EventEntry', 'An event the platform has for the webhook'),
    named(
      z.object({ ...frame, ...delivery, error: z.optional(z.string().check(z.describe('`failure` in words'))) }),
      'DeliveryEntry',
      'One attempt to deliver an event',
    ),
    named(z.object({ ...frame, ...user }), 'UserEntry', 'What the end user did'),
    named(z.looseObject({ ...frame, ...note }), 'NoteEntry', 'Something worth knowing, by a stable name'),
    named(
      z.object({ ...frame, ...fault }),
      'FaultEntry',
      'One hit of a fault; its cause is the call or event it changed',
    ),
    named(z.looseObject({ ...frame, ...driver }), 'OpenEntry', 'By the agent driver'),
  ]),
  'Entry',
  'What happened; keys and signatures are masked',
)

/** The inferred type of these fields, immutable at every depth. */
type Content<Shape extends z.core.$ZodShape> = DeepReadonly<z.infer<z.ZodMiniObject<Shape>>>
type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T
type Details = { readonly [detail: string]: unknown }

export type ShownMessage = DeepReadonly<z.infer<typeof ShownMessage>>
/** Something that the platform accepted and a developer should know: the rule, and a sentence. `Finding` for users of the package. */
export interface CallRemark {
  readonly rule: string
  readonly message: string
}
export type EntryFrame = Content<typeof frame>
export type ApiContent = Content<typeof api>
export type EventContent = Content<typeof event>
export type DeliveryContent = Omit<Content<typeof delivery>, 'failure'> & { readonly failure?: DeliveryFailure }
export type UserContent = Content<typeof user>
export type NoteContent = Content<typeof note> & Details
export type FaultContent = Omit<Content<typeof fault>, 'effect'> & { readonly effect: FaultEffect } & Details
/** Written by the agent driver. */
export type OpenContent = Content<typeof driver> & { readonly failure?: DriverFailure } & Details

export type EntryContent =
  | ApiContent
  | EventContent
  | DeliveryContent
  | UserContent
  | NoteContent
  | FaultContent
  | OpenContent

export type Entry = EntryContent & EntryFrame
export type EntryOf<Kind extends EntryKind> = Extract<Entry, { kind: Kind }>
