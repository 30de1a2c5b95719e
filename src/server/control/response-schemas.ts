/** Defines the responses of the control API. */
import * as z from 'zod/mini'
import { AvailabilityReason, AvailabilityValue, Button, named } from '../../contract/schemas.ts'
import { Fault } from '../../faults/schema.ts'
import { EntrySchema } from '../../journal/entry.ts'

export const CreateChatResponse = z
  .object({ chat_id: z.string(), user_id: z.string(), bot_id: z.int(), url: z.string() })
  .check(named('CreatedChat', '`url` is the address of the chat in the control API'))

const Attachment = z.object({ name: z.string(), url: z.string(), type: z.string(), size_kb: z.int() })
const summary = {
  chat_id: z.string(),
  user_id: z.string(),
  bot_id: z.int(),
  language: z.string(),
  source: z.string(),
  status: z.enum(['bot', 'pending', 'agent']),
  typing: z.boolean(),
  active: z.boolean(),
}
const ChatSummary = z.object(summary).check(named('ChatSummary', 'A chat without its messages'))
const MessageView = z
  .object({
    id: z.string(),
    from: z.enum(['user', 'bot', 'agent']),
    name: z.string(),
    text: z.string(),
    original: z.optional(z.string().check(z.describe('The other side of a live translation'))),
    buttons: z.array(Button),
    attachments: z.array(Attachment),
    created: z.string(),
  })
  .check(named('MessageView', 'One message as the end user sees it'))

export const ChatViewResponse = z
  .object({ ...summary, messages: z.array(MessageView) })
  .check(named('ChatView', 'A chat as its end user sees it, oldest message first'))
export const ChatListResponse = z
  .object({ chats: z.array(ChatSummary) })
  .check(named('Chats', 'Every chat, oldest first'))

const Ack = z
  .object({ status: z.nullable(z.int()), duration_ms: z.number(), error: z.optional(z.string()) })
  .check(named('Ack', 'The response of the webhook; `error` says why it does not acknowledge the event'))
export const ActionResponse = z
  .object({
    message_id: z.nullable(z.string()),
    delivery_id: z.nullable(z.string()),
    ack: z.optional(z.nullable(Ack)),
  })
  .check(named('ActionResult', '`ack` is present with `wait=ack`, and null when no event was sent'))

export const ManualEventResponse = z
  .object({ delivery_id: z.string(), ack: Ack })
  .check(named('ManualEventResult', 'The response of the webhook to an event that was sent manually'))

export const FaultResponse = z
  .object({
    ...Fault.shape,
    name: z.string(),
    hits: z.int(),
    of: z.nullable(z.int()).check(z.describe('How many hits it has in all; null until it is cleared')),
    used_up: z.boolean(),
    holding: z.int().check(z.describe('How many events it holds now')),
  })
  .check(named('NamedFault', 'A fault that is set, and its hits so far'))
export const FaultListResponse = z
  .object({ faults: z.array(FaultResponse) })
  .check(named('FaultList', 'In the order they were set'))
export const ClearedFaultsResponse = z
  .object({ cleared: z.array(FaultResponse) })
  .check(named('ClearedFaults', 'The faults that were removed'))

export const ConfigResponse = z
  .record(z.string(), z.unknown())
  .check(named('Config', 'The effective settings by name; keys are masked'))

export const QueueResponse = z
  .object({
    bot_id: z.int(),
    queue: z.string(),
    availability: AvailabilityValue,
    reason: z.nullable(AvailabilityReason),
    updated_at: z.nullable(z.string()),
    open: z.boolean(),
  })
  .check(named('Availability', '`open` also depends on the business hours'))

const clock = z.object({ mode: z.enum(['real', 'virtual']), now: z.string() })
export const StateResponse = z
  .object({
    version: z.string(),
    config: ConfigResponse,
    clock,
    availability: z.array(QueueResponse),
    chats: z.array(ChatSummary),
    journal: z.object({ first_seq: z.int(), next_seq: z.int() }),
  })
  .check(named('State', 'Effective config, availability and chats'))

export const HealthResponse = z
  .object({ status: z.enum(['live', 'ready', 'closing']), version: z.string() })
  .check(named('Health', 'Whether the server runs and accepts requests'))

export const JournalResponse = z
  .object({ entries: z.array(EntrySchema), first_seq: z.int(), next_seq: z.int() })
  .check(named('Journal', '`first_seq` is the oldest entry that is kept; above 1, older entries were dropped'))

export const DeliveriesResponse = z
  .object({ deliveries: z.array(EntrySchema) })
  .check(named('Deliveries', 'Attempts, oldest first'))

export const SettledResponse = z
  .object({ settled: z.literal(true), next_seq: z.int() })
  .check(named('Settled', 'Nothing is in flight and no timer is due'))
export const ClockResponse = clock.check(named('ClockNow', 'The clock of the simulator'))
export const ResetResponse = z.object({ reset: z.literal(true) }).check(named('Reset', 'The simulator was reset'))

const key = z.string().check(z.describe('`***` unless `keys=true`'))
export const WorkspaceResponse = z
  .object({
    id: z.string(),
    name: z.nullable(z.string()),
    api_key: key,
    bot_api_key: key,
    bot_id: z.int(),
    webhook_secret: z.string().check(z.describe('The key that signs its webhooks: the same as `api_key`')),
    webhook_url: z.nullable(z.string()),
    url: z.string().check(z.describe('The base URL of the platform, the same for all workspaces')),
    control: z.string().check(z.describe('The base URL of its control API')),
  })
  .check(named('Workspace', 'A simulator of its own, selected by its API keys'))
export const WorkspaceListResponse = z
  .object({ workspaces: z.array(WorkspaceResponse) })
  .check(named('Workspaces', 'All workspaces except the default one'))
export const ClosedWorkspaceResponse = z
  .object({ closed: z.literal(true), id: z.string() })
  .check(named('WorkspaceClosed', 'Its keys are no longer valid'))

export const SnapshotResponse = z
  .looseObject({
    v: z.literal(1),
    handover_sim: z.string().check(z.describe('The version that captured it')),
    taken_at: z.string().check(z.describe('Wall-clock time, ISO 8601')),
    seed: z.int(),
    config: z.record(z.string(), z.unknown()),
  })
  .check(named('Snapshot', 'The whole state. Further fields depend on `v`: store them unchanged'))
export const RestoredResponse = z
  .object({
    restored: z.literal(true),
    handover_sim: z.string(),
    taken_at: z.string(),
    chats: z.int(),
    next_seq: z.int(),
  })
  .check(named('Restored', 'The restored snapshot; `next_seq` is the seq of the next journal entry'))

export const AssumptionsResponse = z
  .object({
    assumptions: z.array(
      z.object({
        name: z.string(),
        rule: z.string(),
        open: z.string(),
        behaviour: z.string(),
        knobs: z.array(z.object({ name: z.string(), value: z.unknown(), allowed: z.string() })),
      }),
    ),
  })
  .check(
    named(
      'Assumptions',
      'What the platform leaves open, what the simulator does instead, and the knobs that change it',
    ),
  )

export const IndexResponse = z
  .object({ name: z.string(), version: z.string(), routes: z.array(z.string()) })
  .check(named('Index', 'Name, version and routes'))

export const OpenApiResponse = z.looseObject({ openapi: z.string() }).check(named('OpenApiDocument', 'OpenAPI 3.1'))

const Issue = z.object({
  field: z.string(),
  message: z.string(),
  allowed: z.optional(z.union([z.string(), z.array(z.string())])),
})
const error = z.object({ code: z.string(), message: z.string(), issues: z.optional(z.array(Issue)) })
export const ControlErrorResponse = z.object({ error }).check(named('ControlError', 'Why the request was refused'))

export const WaitTimeoutResponse = z
  .object({
    error,
    nearest: z.object({
      earlier: z.array(EntrySchema),
      other_chat: z.array(EntrySchema),
      same_chat: z.array(EntrySchema),
      last: z.array(EntrySchema),
    }),
  })
  .check(
    named(
      'NotYet',
      'No entry matched in time. `nearest` lists matches at or before `after`, matches in other chats, other entries of this chat, and the last entries',
    ),
  )
