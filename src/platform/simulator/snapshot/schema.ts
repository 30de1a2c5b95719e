/** Describes snapshots: one schema gives their types and checks them. Only a restore loads it; other files import its types. */
import * as z from 'zod/mini'
import { LATEST_MS } from '../../../base/runtime/clock.ts'
import { SIGN_MODES } from '../../contract/event-names.ts'
import { AvailabilityReason, AvailabilityValue, Button, Sender } from '../../contract/schemas.ts'
import { Fault, FaultName } from '../../faults/schema.ts'
import type { Entry } from '../../journal/entry.ts'

const word = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(0))
/** Milliseconds since 1970. */
const timeMs = z.int().check(z.gte(0), z.lte(LATEST_MS))
/** Microseconds since 1970; the largest exact number lies in the year 2255. */
const timeMicros = z.int().check(z.gte(0))
/** A duration in milliseconds. */
const durationMs = z.int().check(z.gte(0))
/** A time in ISO 8601. */
const isoTime = z.string().check(z.refine(text => !Number.isNaN(Date.parse(text)), { error: 'a time in ISO 8601' }))
const list = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item))

const Queue = z.strictObject({
  name: z.string(),
  availability: AvailabilityValue,
  reason: z.nullable(AvailabilityReason),
  updated: z.nullable(timeMicros),
})
const botShape = { id: z.int().check(z.positive()), name: z.string(), organization_id: z.int() }
const Bot = z.strictObject({ ...botShape, queues: list(Queue) })

const Message = z.strictObject({
  id: word,
  created: timeMicros,
  from: z.enum(['user', 'bot', 'agent']),
  name: z.string(),
  text: z.string(),
  other: z.nullable(z.string()),
  buttons: list(Button),
  /** Ids of `files`. */
  attachments: list(word),
  exchange_id: z.nullable(z.string()),
})

const maybeText = z.nullable(z.string())
const Takeover = z.strictObject({
  since: timeMicros,
  sender: z.nullable(z.looseObject(Sender.shape)),
  supports_attachment: z.boolean(),
  agent_language: maybeText,
})

const Chat = z.strictObject({
  id: word,
  user_id: z.string(),
  bot_id: z.int(),
  bot_name: z.optional(maybeText),
  language: z.string(),
  source: z.string(),
  persona: z.strictObject({ first_name: maybeText, last_name: maybeText, full_name: maybeText, gender: maybeText }),
  context: z.record(z.string(), z.unknown()),
  labels: list(z.string()),
  created: timeMicros,
  updated: timeMicros,
  active: z.boolean(),
  status: z.enum(['bot', 'pending', 'agent']),
  takeover: z.nullable(Takeover),
  requested_at: z.nullable(count),
  typing: z.boolean(),
  messages: list(Message),
  counter: count,
  idle_ends: count,
  /** `seq` of the latest webhook event of the chat. */
  last_event: z.nullable(count),
})

const File = z.strictObject({
  id: word,
  name: z.string(),
  type: z.string(),
  size_kb: count,
  created_ms: timeMs,
  /** Base64, checked when it is decoded. Only of uploaded files; the bytes of the others are made from their id. */
  base64: z.optional(z.string()),
})

const DeadlineAction = z.strictObject({
  key: word,
  at_ms: timeMs,
  kind: z.enum(['typing', 'idle', 'reply']),
  chat_id: word,
  text: z.optional(z.string()),
  buttons: z.optional(list(Button)),
})

const FaultRow = z
  .strictObject({
    name: FaultName,
    spec: Fault,
    seen: count,
    hits: count,
    holding: count,
    passing: list(z.readonly(z.tuple([z.string(), count]))),
  })
  .check(
    z.refine(({ name, spec }) => spec.name === undefined || spec.name === name, {
      error: 'must have the same name as its spec',
      params: { problem: 'conflict' },
    }),
  )

const Wire = z.strictObject({
  dripMs: durationMs,
  chunked: z.boolean(),
  headerCase: z.boolean(),
  resetAfterAnswer: z.boolean(),
})
const Applied = z.strictObject({
  faults: list(FaultName),
  form: z.strictObject({ sign: z.enum(SIGN_MODES), truncate: z.boolean(), wire: z.nullable(Wire) }),
  order: z.nullable(
    z.union([
      z.strictObject({ kind: z.enum(['delay', 'slow']), ms: durationMs }),
      z.strictObject({ kind: z.literal('hold'), passing: count }),
    ]),
  ),
  copies: z.strictObject({ count: z.int().check(z.gte(1), z.lte(100)), gapMs: durationMs }),
})

const deliveryShape = {
  chat_id: word,
  delivery_id: word,
  event: word,
  body: z.string(),
  /** `seq` of its event. */
  seq: count,
  attempt: z.int().check(z.positive()),
  copy: z.boolean(),
  at_head: z.boolean(),
  passing: count,
  applied: z.nullable(Applied),
}
const Due = z.strictObject({ at_ms: timeMs, order: count, next: z.enum(['send', 'turn']) })
const Delivery = z
  .discriminatedUnion('phase', [
    z.strictObject({ ...deliveryShape, phase: z.literal('scheduled'), due: Due }),
    z.strictObject({ ...deliveryShape, phase: z.enum(['waiting', 'sending', 'held']) }),
  ])
  .check(
    z.refine(({ phase, copy, applied }) => applied !== null || (phase !== 'held' && !copy), {
      error: 'must not have an applied of null: only a fault holds an event or copies it',
      params: { problem: 'conflict' },
    }),
  )

const frame = {
  v: z.literal(1),
  seq: z.int().check(z.positive()),
  time: isoTime,
  cause: z.nullable(z.int()),
  at_ms: z.number(),
}
const headers = z.record(z.string(), z.string())
/** Checks only what is read again: what masking and sending a delivery again need. */
const StoredEntry = z.union([
  z.looseObject({ ...frame, kind: z.literal('api'), path: z.string(), request: z.looseObject({ headers }) }),
  z.looseObject({
    ...frame,
    kind: z.literal('delivery'),
    delivery_id: word,
    event: word,
    attempt: z.int(),
    url: z.nullable(z.string()),
    request: z.looseObject({ headers, body: z.string() }),
    response: z.nullable(z.looseObject({ headers, body: z.string() })),
    failure: z.optional(z.looseObject({ code: z.string() })),
  }),
  z.looseObject({ ...frame, kind: z.enum(['event', 'driver', 'user', 'fault', 'note']) }),
]) as z.ZodMiniType<unknown> as z.ZodMiniType<Entry>

const ReplacedKey = z.strictObject({
  key: word,
  bot_id: z.int(),
  scopes: list(z.enum(['handover', 'read_chats'])),
  until_ms: timeMs,
})

const Clock = z.discriminatedUnion('mode', [
  z.strictObject({
    mode: z.literal('real'),
    now_ms: timeMs,
    start_ms: z.optional(z.undefined()),
    /** Only of a clock that stood still. */
    paused: z.optional(z.literal(true)),
  }),
  z.strictObject({ mode: z.literal('virtual'), now_ms: timeMs, start_ms: timeMs }),
])

export const SnapshotSchema = z.strictObject({
  v: z.literal(1),
  /** The version of handover-sim that took the snapshot. */
  handover_sim: z.string(),
  /** Wall clock. */
  taken_at: isoTime,
  seed: count,
  bot: z.strictObject(botShape),
  clock: Clock,
  /** All settings by name; keys are `***` unless the caller asked for them. */
  config: z.record(z.string(), z.unknown()),
  /** Replaced keys that still work for a while; only when the caller asked for keys. */
  replaced_keys: z.optional(list(ReplacedKey)),
  bots: list(Bot),
  chats: list(Chat),
  files: list(File),
  deadlines: list(DeadlineAction),
  counters: z.strictObject({ chats: count, summaries: count, triggered: count, faults: count }),
  faults: list(FaultRow),
  /** Events that have not arrived yet. */
  deliveries: list(Delivery),
  /** `key` is a role: `handover`, `bot`, or `more 1`, `more 2` ... */
  rate_limits: list(z.strictObject({ key: word, start_ms: timeMs, calls: count })),
  /** The state of the generators of timestamps and random numbers. */
  continuation: z.strictObject({
    stamp: timeMicros,
    journal_stamp: timeMicros,
    random: z.int(),
    deadline_timer_order: z.nullable(count),
  }),
  journal: z.strictObject({
    next_seq: z.int().check(z.positive()),
    at_ms: z.number(),
    /** Only when the caller asked for the journal. */
    entries: z.optional(list(StoredEntry)),
  }),
})

/** The whole state of a simulator as JSON. */
export type Snapshot = z.infer<typeof SnapshotSchema>
export type BotRow = z.infer<typeof Bot>
export type ChatRow = z.infer<typeof Chat>
export type MessageRow = z.infer<typeof Message>
export type FileRow = z.infer<typeof File>
export type DeadlineRow = z.infer<typeof DeadlineAction>
export type DeliveryRow = z.infer<typeof Delivery>
