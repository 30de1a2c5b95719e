/** What a snapshot must look like before any of it is believed. Loaded with the first restore. */
import * as z from 'zod/mini'
import { AvailabilityReason, AvailabilityValue, Button } from '../../contract/schemas.ts'
import { SIGN_MODES } from '../../contract/sign-modes.ts'
import { Fault } from '../../faults/schema.ts'
import { SNAPSHOT_VERSION } from './shape.ts'

const word = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(0))
const time = z.number().check(z.gte(0))

const Queue = z.strictObject({
  name: z.string(),
  availability: AvailabilityValue,
  reason: z.nullable(AvailabilityReason),
  updated: z.nullable(time),
})
const botShape = { id: z.int().check(z.positive()), name: z.string(), organization_id: z.int() }
const Bot = z.strictObject({ ...botShape, queues: z.array(Queue) })

const Message = z.strictObject({
  id: word,
  created: time,
  from: z.enum(['user', 'bot', 'agent']),
  name: z.string(),
  text: z.string(),
  other: z.nullable(z.string()),
  buttons: z.array(Button),
  attachments: z.array(word),
  exchange_id: z.nullable(z.string()),
})

const maybeText = z.nullable(z.string())
const Takeover = z.strictObject({
  since: time,
  sender: z.nullable(
    z.looseObject({
      name: z.optional(z.string()),
      avatar: z.optional(z.string()),
      language_codes: z.optional(z.array(z.string())),
    }),
  ),
  supports_attachment: z.boolean(),
  agent_language: maybeText,
})

const Chat = z.strictObject({
  id: word,
  user_id: z.string(),
  bot_id: z.int(),
  language: z.string(),
  source: z.string(),
  persona: z.strictObject({ first_name: maybeText, last_name: maybeText, full_name: maybeText, gender: maybeText }),
  context: z.record(z.string(), z.unknown()),
  labels: z.array(z.string()),
  created: time,
  updated: time,
  active: z.boolean(),
  status: z.enum(['bot', 'pending', 'agent']),
  takeover: z.nullable(Takeover),
  requested_at: z.nullable(count),
  typing: z.boolean(),
  messages: z.array(Message),
  counter: count,
  idle_ends: count,
  last_event: z.nullable(count),
})

const File = z.strictObject({
  id: word,
  name: z.string(),
  type: z.string(),
  size_kb: count,
  created_ms: time,
  base64: z.optional(z.base64()),
})

const Deadline = z.strictObject({
  key: word,
  at_ms: time,
  kind: z.enum(['typing', 'idle', 'reply']),
  chat_id: word,
  text: z.optional(z.string()),
  buttons: z.optional(z.array(Button)),
})

const FaultRow = z.strictObject({
  name: word,
  spec: Fault,
  seen: count,
  hits: count,
  holding: count,
  passing: z.array(z.tuple([z.string(), count])),
})

const Wire = z.strictObject({
  dripMs: time,
  chunked: z.boolean(),
  headerCase: z.boolean(),
  resetAfterAnswer: z.boolean(),
})
const Struck = z.strictObject({
  names: word,
  form: z.strictObject({ sign: z.enum(SIGN_MODES), truncate: z.boolean(), wire: z.nullable(Wire) }),
  order: z.nullable(
    z.union([
      z.strictObject({ kind: z.enum(['delay', 'slow']), ms: time }),
      z.strictObject({ kind: z.literal('hold'), passing: count }),
    ]),
  ),
  copies: z.strictObject({ count: z.int().check(z.gte(1), z.lte(100)), gapMs: time }),
})

const Delivery = z
  .strictObject({
    chat_id: word,
    delivery_id: word,
    event: word,
    body: z.string(),
    seq: count,
    attempt: z.int().check(z.positive()),
    copy: z.boolean(),
    laned: z.boolean(),
    stage: z.enum(['waiting', 'sending', 'due', 'kept']),
    due: z.optional(z.strictObject({ at_ms: time, order: count, next: z.enum(['send', 'turn']) })),
    passing: count,
    struck: z.nullable(Struck),
  })
  .check(
    z.refine(({ stage, due }) => (stage === 'due') === (due !== undefined), { error: 'due stands beside stage due' }),
    z.refine(({ stage, copy, struck }) => struck !== null || (stage !== 'kept' && !copy), {
      error: 'struck cannot be null in what a fault keeps back or copies',
    }),
  )

const frame = {
  v: z.literal(1),
  seq: z.int().check(z.positive()),
  time: z.string(),
  cause: z.nullable(z.int()),
  at_ms: z.number(),
}
const headers = z.record(z.string(), z.string())
/** Of an entry as much as is read again: what is masked, and what is sent again by hand. */
const Entry = z.union([
  z.looseObject({ ...frame, kind: z.literal('api'), path: z.string(), request: z.looseObject({ headers }) }),
  z.looseObject({
    ...frame,
    kind: z.literal('delivery'),
    delivery_id: word,
    event: word,
    attempt: z.int(),
    url: z.nullable(z.string()),
    request: z.looseObject({ headers, body: z.string() }),
    response: z.nullable(z.looseObject({ headers })),
  }),
  z.looseObject({ ...frame, kind: z.enum(['event', 'driver', 'user', 'fault', 'note']) }),
])

const ReplacedKey = z.strictObject({
  key: word,
  bot_id: z.int(),
  scopes: z.array(z.enum(['handover', 'read_chats'])),
  until_ms: time,
})

export const SnapshotSchema = z.strictObject({
  v: z.literal(SNAPSHOT_VERSION),
  handover_sim: z.string(),
  taken_at: z.string(),
  seed: count,
  bot: z.strictObject(botShape),
  clock: z.strictObject({ mode: z.enum(['real', 'virtual']), now_ms: time, start_ms: z.optional(time) }),
  config: z.record(z.string(), z.unknown()),
  replaced_keys: z.optional(z.array(ReplacedKey)),
  bots: z.array(Bot),
  chats: z.array(Chat),
  files: z.array(File),
  deadlines: z.array(Deadline),
  counters: z.strictObject({ chats: count, summaries: count, triggered: count, faults: count }),
  faults: z.array(FaultRow),
  deliveries: z.array(Delivery),
  rate_limits: z.array(z.strictObject({ key: word, start_ms: time, calls: count })),
  going_on: z.strictObject({
    stamp: time,
    journal_stamp: time,
    random: z.int(),
    alarm_order: z.nullable(count),
  }),
  journal: z.strictObject({
    next_seq: z.int().check(z.positive()),
    at_ms: z.number(),
    entries: z.optional(z.array(Entry)),
  }),
})
