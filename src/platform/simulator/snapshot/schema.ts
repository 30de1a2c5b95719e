/** Describes snapshots: one schema gives their types and checks them. Only a restore loads it; other files import its types. */
import * as z from 'zod/mini'
import { LATEST_MS } from '../../../base/runtime/clock.ts'
import { AnyFields, AvailabilityReason, AvailabilityValue, Button, Sender } from '../../contract/schemas.ts'
import { Fault, FaultName } from '../../faults/schema.ts'
import { type Entry, EntrySchema, isoTime } from '../../journal/entry.ts'

const word = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(0))
/** Milliseconds since 1970. */
const timeMs = z.int().check(z.gte(0), z.lte(LATEST_MS))
/** Microseconds since 1970; the largest exact number lies in the year 2255. */
const timeMicros = z.int().check(z.gte(0))
const list = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item))

const Queue = z.strictObject({
  name: z.string(),
  availability: AvailabilityValue,
  reason: z.nullable(AvailabilityReason),
  updated: z.nullable(timeMicros),
})
const botShape = { id: z.int().check(z.positive()), name: z.string(), organizationId: z.int() }
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
  exchangeId: z.nullable(z.string()),
})

const maybeText = z.nullable(z.string())
const Takeover = z.strictObject({
  since: timeMicros,
  sender: z.nullable(z.looseObject(Sender.shape)),
  supportsAttachment: z.boolean(),
  agentLanguage: maybeText,
})

const Chat = z.strictObject({
  id: word,
  userId: z.string(),
  botId: z.int(),
  botName: maybeText,
  language: z.string(),
  source: z.string(),
  persona: z.strictObject({ firstName: maybeText, lastName: maybeText, fullName: maybeText, gender: maybeText }),
  context: z.record(z.string(), z.unknown()),
  labels: list(z.string()),
  created: timeMicros,
  updated: timeMicros,
  active: z.boolean(),
  userLeft: z._default(z.nullable(z.enum(['closed', 'deleted'])), null),
  status: z.enum(['bot', 'pending', 'agent']),
  takeover: z.nullable(Takeover),
  requestedAt: z.nullable(count),
  typing: z.boolean(),
  messages: list(Message),
  counter: count,
  idleEnds: count,
  /** `seq` of the latest webhook event of the chat. */
  lastEvent: z.nullable(count),
})

const File = z.strictObject({
  id: word,
  name: z.string(),
  type: z.string(),
  sizeKb: count,
  createdMs: timeMs,
  /** Base64, checked when it is decoded. Only of uploaded files; the bytes of the others are made from their id. */
  base64: z.nullable(z.string()),
})

const DeadlineAction = z.strictObject({
  key: word,
  atMs: timeMs,
  kind: z.enum(['typing', 'idle', 'reply']),
  chatId: word,
  text: z.optional(z.string()),
  buttons: z.optional(list(Button)),
})

const FaultRow = z
  .strictObject({
    name: FaultName,
    spec: Fault,
    seen: count,
    hits: count,
  })
  .check(
    z.refine(({ name, spec }) => spec.name === undefined || spec.name === name, {
      error: 'must have the same name as its spec',
      params: { problem: 'conflict' },
    }),
  )

/** An event that is not delivered yet. */
const Delivery = z.strictObject({
  chatId: word,
  deliveryId: word,
  event: word,
  body: z.string(),
  /** `seq` of its event. */
  seq: count,
  /** The next attempt. */
  attempt: z.int().check(z.positive()),
})

const ReplacedKey = z.strictObject({
  key: word,
  botId: z.int(),
  scopes: list(z.enum(['handover', 'read_chats'])),
  untilMs: timeMs,
})

const Clock = z.discriminatedUnion('mode', [
  z.strictObject({
    mode: z.literal('real'),
    nowMs: timeMs,
    paused: z.boolean(),
  }),
  z.strictObject({ mode: z.literal('virtual'), nowMs: timeMs, startMs: timeMs }),
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
  config: AnyFields,
  /** Replaced keys that still work for a while; only when the caller asked for keys. */
  replacedKeys: z.optional(list(ReplacedKey)),
  bots: list(Bot),
  chats: list(Chat),
  files: list(File),
  deadlines: list(DeadlineAction),
  counters: z.strictObject({ chats: count, summaries: count, triggered: count, faults: count }),
  faults: list(FaultRow),
  /** Events that are not delivered yet. */
  deliveries: list(Delivery),
  /** `key` is a role: `handover`, `bot`, or `more 1`, `more 2` ... */
  rateLimits: list(z.strictObject({ key: word, start: timeMs, calls: count })),
  /** The state of the generators of timestamps and random numbers. */
  continuation: z.strictObject({
    stamp: timeMicros,
    journalStamp: timeMicros,
    random: z.int(),
  }),
  journal: z.strictObject({
    nextSeq: z.int().check(z.positive()),
    atMs: z.number(),
    /** Only when the caller asked for the journal. */
    entries: z.optional(list(EntrySchema as z.ZodMiniType<unknown> as z.ZodMiniType<Entry>)),
  }),
})

/** The whole state of a simulator as JSON. */
export type Snapshot = z.infer<typeof SnapshotSchema>
