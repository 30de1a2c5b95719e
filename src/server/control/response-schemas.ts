/** What the control API gives. */
import * as z from 'zod/mini'
import { AvailabilityReason, AvailabilityValue, Button, named } from '../../contract/schemas.ts'
import { Fault } from '../../faults/schema.ts'
import { EntrySchema } from '../../journal/entry.ts'

export const CreateChatResponse = z
  .object({ chat_id: z.string(), user_id: z.string(), bot_id: z.int(), url: z.string() })
  .check(named('CreatedChat', '`url` is where the control API shows the chat'))

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
  .check(named('MessageView', 'One message in the window of the end user'))

export const ChatViewResponse = z
  .object({ ...summary, messages: z.array(MessageView) })
  .check(named('ChatView', 'A chat as its end user sees it, oldest message first'))
export const ChatListResponse = z
  .object({ chats: z.array(ChatSummary) })
  .check(named('Chats', 'Every chat, oldest first'))

const Ack = z
  .object({ status: z.nullable(z.int()), duration_ms: z.number(), error: z.optional(z.string()) })
  .check(named('Ack', 'What the webhook answered; `error` says why that is no acknowledgement'))
export const ActionResponse = z
  .object({
    message_id: z.nullable(z.string()),
    delivery_id: z.nullable(z.string()),
    ack: z.optional(z.nullable(Ack)),
  })
  .check(named('ActionResult', '`ack` is there when it was waited for, and null when no event was due'))

export const ManualEventResponse = z
  .object({ delivery_id: z.string(), ack: Ack })
  .check(named('ManualEventResult', 'What the webhook answered to an event sent by hand'))

export const FaultResponse = z
  .object({
    ...Fault.shape,
    name: z.string(),
    hits: z.int(),
    of: z.nullable(z.int()).check(z.describe('How many hits it has in all; null until it is cleared')),
    used_up: z.boolean(),
    holding: z.int().check(z.describe('How many events it holds now')),
  })
  .check(named('NamedFault', 'A fault that was set, and what it did so far'))
export const FaultListResponse = z
  .object({ faults: z.array(FaultResponse) })
  .check(named('FaultList', 'In the order they were set'))
export const ClearedFaultsResponse = z
  .object({ cleared: z.array(FaultResponse) })
  .check(named('ClearedFaults', 'What is not set any more'))

export const ConfigResponse = z
  .record(z.string(), z.unknown())
  .check(named('Config', 'Everything in force by name; keys are masked'))

export const QueueResponse = z
  .object({
    bot_id: z.int(),
    queue: z.string(),
    availability: AvailabilityValue,
    reason: z.nullable(AvailabilityReason),
    updated_at: z.nullable(z.string()),
    open: z.boolean(),
  })
  .check(named('Availability', '`open` takes the business hours into account as well'))

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
  .check(named('State', 'Config in force, availability and chats'))

export const HealthResponse = z
  .object({ status: z.enum(['live', 'ready', 'closing']), version: z.string() })
  .check(named('Health', 'Whether it runs, and whether it takes requests'))

export const JournalResponse = z
  .object({ entries: z.array(EntrySchema), first_seq: z.int(), next_seq: z.int() })
  .check(named('Journal', '`first_seq` is the oldest still kept: above 1, older ones are gone'))

export const DeliveriesResponse = z
  .object({ deliveries: z.array(EntrySchema) })
  .check(named('Deliveries', 'Attempts, oldest first'))

export const SettledResponse = z
  .object({ settled: z.literal(true), next_seq: z.int() })
  .check(named('Settled', 'Nothing is in flight and no timer is due'))
export const ClockResponse = clock.check(named('ClockNow', 'The clock of the simulator'))
export const ResetResponse = z.object({ reset: z.literal(true) }).check(named('Reset', 'Everything is forgotten'))

const key = z.string().check(z.describe('`***` unless it was asked for'))
export const WorkspaceResponse = z
  .object({
    id: z.string(),
    name: z.nullable(z.string()),
    api_key: key,
    bot_api_key: key,
    bot_id: z.int(),
    webhook_secret: z.string().check(z.describe('What its webhooks are signed with: the same as `api_key`')),
    webhook_url: z.nullable(z.string()),
    url: z.string().check(z.describe('Where the platform is: the same for all')),
    control: z.string().check(z.describe('Where its own control API begins')),
  })
  .check(named('Workspace', 'A simulator of its own; calls find it by its keys'))
export const WorkspaceListResponse = z
  .object({ workspaces: z.array(WorkspaceResponse) })
  .check(named('Workspaces', 'Every workspace but the default one'))
export const ClosedWorkspaceResponse = z
  .object({ closed: z.literal(true), id: z.string() })
  .check(named('WorkspaceClosed', 'Its keys open nothing any more'))

export const SnapshotResponse = z
  .looseObject({
    v: z.literal(1),
    handover_sim: z.string().check(z.describe('The version that took it')),
    taken_at: z.string().check(z.describe('On the wall, ISO 8601')),
    seed: z.int(),
    config: z.record(z.string(), z.unknown()),
  })
  .check(named('Snapshot', 'The whole state. What else is in it may change with `v`: keep it, do not read it'))
export const RestoredResponse = z
  .object({
    restored: z.literal(true),
    handover_sim: z.string(),
    taken_at: z.string(),
    chats: z.int(),
    next_seq: z.int(),
  })
  .check(named('Restored', 'What was restored; `next_seq` is that of the next journal entry'))

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
  .check(named('Index', 'What can be asked here'))

export const OpenApiResponse = z.looseObject({ openapi: z.string() }).check(named('OpenApiDocument', 'OpenAPI 3.1'))

const Issue = z.object({
  field: z.string(),
  message: z.string(),
  allowed: z.optional(z.union([z.string(), z.array(z.string())])),
})
const error = z.object({ code: z.string(), message: z.string(), issues: z.optional(z.array(Issue)) })
export const ControlErrorResponse = z.object({ error }).check(named('ControlError', 'What was refused and why'))

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
      'It did not come in time. Nearest: the same at or before `after`, in another chat, something else in this chat, the last entries',
    ),
  )
