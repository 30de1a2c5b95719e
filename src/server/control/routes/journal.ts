/** Reads, awaits and follows the journal, and writes a scenario from it. */

import * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { keysOf } from '../../../base/objects.ts'
import { suggest } from '../../../base/text/error-text.ts'
import { parseDuration } from '../../../base/text/quantities.ts'
import type { Redacted } from '../../../base/text/redactor.ts'
import { ENDPOINTS } from '../../../platform/contract/endpoints.ts'
import { WEBHOOK_EVENTS } from '../../../platform/contract/events.ts'
import { named } from '../../../platform/contract/schemas.ts'
import { type Entry, EntryKind, EntrySchema } from '../../../platform/journal/entry.ts'
import { WaitTimeoutError } from '../../../platform/journal/journal.ts'
import { shortEntry } from '../../../platform/journal/short-entry.ts'
import type { Core } from '../../../platform/simulator/core.ts'
import { presentEntry } from '../../../platform/wording/entry.ts'
import { eventStream, type OpenStreams } from '../event-stream.ts'
import { ControlProblem } from '../problems.ts'
import { CheckFix, PlayBody, PlayedScenario, type Readiness, ReadinessReport, ReadinessTrial } from '../readiness.ts'
import { RecordedScenario } from '../recorder.ts'
import {
  type ControlContext,
  ControlErrorBody,
  type ControlRequest,
  type ControlResponse,
  type ControlRoute,
  DurationSchema,
  NonEmptyText,
  ok,
  routesOf,
  SeqNumber,
} from '../route.ts'

const GetJournalQuery = z.strictObject({
  after: z.optional(SeqNumber.check(z.describe('Only entries with a greater seq'))),
  kind: z.optional(EntryKind),
  chat_id: z.optional(NonEmptyText),
  limit: z.optional(z.int().check(z.positive())),
})

const EventsQuery = z.strictObject({
  after: z.optional(SeqNumber),
  instance: z.optional(
    NonEmptyText.check(z.describe('Of the journal that `after` refers to; with another one the stream begins anew')),
  ),
  readiness: z.optional(z.enum(['on']).check(z.describe('Adds events about the checks of the certification'))),
})
type EventsQuery = z.infer<typeof EventsQuery>

const WaitQuery = z
  .strictObject({
    call: z.optional(z.enum(keysOf(ENDPOINTS)).check(z.describe('A call of this endpoint'))),
    event: z.optional(z.enum(keysOf(WEBHOOK_EVENTS))),
    note: z.optional(NonEmptyText),
    kind: z.optional(EntryKind),
    status: z.optional(z.int()),
    chat_id: z.optional(NonEmptyText),
    after: z.optional(SeqNumber),
    timeout: z.optional(DurationSchema),
  })
  .check(
    z.refine(({ call, event, note, kind }) => (call ?? event ?? note ?? kind) !== undefined, {
      error: 'must say what to wait for: call, event, note or kind, such as ?call=start',
      params: { problem: 'incomplete' },
    }),
  )
type WaitQuery = z.infer<typeof WaitQuery>

const JournalResponse = z
  .object({ entries: z.array(EntrySchema), first_seq: z.int(), next_seq: z.int() })
  .check(named('Journal', '`first_seq` is the oldest entry in the journal; above 1, older entries were dropped'))

const entries = z.array(EntrySchema)

const WaitTimeoutResponse = z
  .object({
    error: ControlErrorBody,
    nearest: z.object({ earlier: entries, other_chat: entries, same_chat: entries, last: entries }),
  })
  .check(
    named(
      'NotYet',
      'No entry matched in time. `nearest` lists matches at or before `after`, matches in other chats, other entries of this chat, and the last entries',
    ),
  )

const route = routesOf('journal')

export const HEARTBEAT_MS = 15_000
const MAX_STREAMS = 100

/** Throws when as many streams are open as a server may have. */
export function checkStreams({ count }: OpenStreams): void {
  if (count < MAX_STREAMS) return
  throw new ControlProblem(
    503,
    'too_many_streams',
    `A server has at most ${MAX_STREAMS} event streams at a time: close one, or read GET /_sim/journal?after=SEQ.`,
  )
}

const DEFAULT_WAIT = '5s'
const WAS_RESET = 'The simulator was reset while the request waited'

/** Masks keys and signatures of an entry, adds its texts, and shortens its bodies. */
export const presentFor =
  ({ platform, secrets }: Core, bodyBytes?: number) =>
  (entry: Entry): Redacted<Entry> =>
    shortEntry(secrets.redactDeep(presentEntry(entry, platform.knobs['webhook.signatureHeader'])), bodyBytes)

async function wait(call: ControlRequest<WaitQuery, unknown>): Promise<ControlResponse> {
  const { core, query, signal, closing } = call
  const withinMs = parseDuration(query.timeout ?? DEFAULT_WAIT) ?? 0
  const options = { withinMs, signal, ...(query.after === undefined ? {} : { after: query.after }) }
  try {
    return ok(presentFor(core)(await core.journal.waitFor(entryMatcher(query), options)))
  } catch (error) {
    if (closing.aborted) throw new ControlProblem(503, 'closing', 'The simulator is closing.')
    if (error instanceof WaitTimeoutError) return timeoutResponse(core, query)
    throw new ControlProblem(409, 'reset', 'The simulator was reset while waiting.')
  }
}

/** Says what came instead: matches before `after`, in other chats, and other entries of the chat. */
function timeoutResponse(core: Core, { after, timeout = DEFAULT_WAIT, ...filters }: WaitQuery): ControlResponse {
  const { journal } = core
  const { chat_id, ...anyChat } = filters
  const kind = kindOf(filters)
  const entries = journal.query()
  const later = entries.filter(entry => entry.seq > (after ?? 0))
  const nearest = {
    earlier: entries.filter(entry => entry.seq <= (after ?? 0) && entryMatcher(filters)(entry)).slice(-NEAREST_COUNT),
    other_chat: chat_id === undefined ? [] : later.filter(entryMatcher(anyChat)).slice(-NEAREST_COUNT),
    same_chat: later
      .filter(entry => chat_id !== undefined && entry.chat_id === chat_id && (kind ?? entry.kind) === entry.kind)
      .slice(-NEAREST_COUNT),
    last: entries.slice(-5),
  }

  // `call "start", chat_id "c1", after seq 12`
  const words = Object.entries(filters).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  if (after !== undefined) words.push(`after seq ${after}`)
  // The names of notes are not checked before the wait, because they may come later.
  const notes = new Set(journal.query({ kind: 'note' }).map(({ note }) => note))
  const noteHint = filters.note === undefined || notes.has(filters.note) ? '.' : suggest(filters.note, [...notes])
  let hint = ''
  if (nearest.earlier.length > 0) hint = ` It matched earlier, with seq ${nearest.earlier.at(-1)?.seq}.`
  else if (nearest.other_chat.length > 0) hint = ` A matching entry is in chat ${nearest.other_chat.at(-1)?.chat_id}.`
  else if (nearest.same_chat.length > 0) hint = ' This chat has other entries of that kind.'
  const dropped = journal.firstSeq > 1 ? ` The journal has dropped entries up to seq ${journal.firstSeq - 1}.` : ''
  const message = `No entry within ${timeout}: ${words.join(', ')}${noteHint}${hint}${dropped}`

  const present = presentFor(core, NEAREST_BODY_BYTES)
  const presented = Object.entries(nearest).map(([name, entries]) => [name, entries.map(present)])
  return { status: 408, body: { error: { code: 'timeout', message }, nearest: Object.fromEntries(presented) } }
}

/** The seq to resume after: a reconnecting browser sends it as a header, other clients in the query. */
function resumeAfter({ header, query }: ControlRequest<EventsQuery, unknown>): number {
  const last = header('last-event-id')
  if (last !== undefined && /^\d{1,15}$/.test(last)) return Number(last)
  return query.after ?? 0
}

/** The header of a stream that has the instance of its journal. */
const INSTANCE_HEADER = 'x-handover-sim-instance'

type Filters = Omit<WaitQuery, 'after' | 'timeout'>

function entryMatcher(filters: Filters): (entry: Entry) => boolean {
  const { call, event, note, status, chat_id } = filters
  const expected = { kind: kindOf(filters), endpoint: call, event, note, status, chat_id }
  const fields = Object.entries(expected)
  return entry => fields.every(([name, value]) => value === undefined || Reflect.get(entry, name) === value)
}

/** The kind that the filters imply; an explicit `kind` wins, so `event` can also select deliveries. */
const kindOf = ({ call, event, note, kind }: Filters): EntryKind | undefined =>
  kind ?? (call ? 'api' : note ? 'note' : event ? 'event' : undefined)

const NEAREST_COUNT = 3
const NEAREST_BODY_BYTES = 1024

export const JOURNAL_ROUTES: readonly ControlRoute[] = [
  route('GET /journal', {
    id: 'getJournal',
    summary: 'Lists journal entries, oldest first',
    query: GetJournalQuery,
    responses: { 200: { description: 'Entries', schema: JournalResponse } },
    run({ core, query: { after, kind, chat_id, limit } }) {
      const range = { after: after ?? 0, limit: limit ?? Number.POSITIVE_INFINITY }
      const entries = core.journal.query({ ...range, ...(kind && { kind }), ...(chat_id && { chatId: chat_id }) })
      const { firstSeq, nextSeq } = core.journal
      return ok({ entries: entries.map(presentFor(core)), first_seq: firstSeq, next_seq: nextSeq })
    },
  }),
  route('GET /wait', {
    id: 'waitFor',
    summary: 'Waits for the first matching entry',
    description: `Existing entries count as well, unless \`after\` excludes them. \`timeout\` is ${DEFAULT_WAIT} by default.`,
    query: WaitQuery,
    responses: {
      200: { description: 'The entry', schema: EntrySchema },
      408: { description: 'No entry matched in time; lists the nearest ones', schema: WaitTimeoutResponse },
      409: WAS_RESET,
      503: 'The simulator is closing',
    },
    run: wait,
  }),
  route('GET /events', {
    id: 'followEvents',
    summary: 'Streams every entry as it is appended',
    description:
      'Server-sent events, each with its seq as `id`. `Last-Event-ID` or `after` resumes; with `instance` also correctly after a restart. A reset is an event named `reset`, with the new instance. With `readiness=on`, each check whose state has changed is an event named `readiness`.',
    query: EventsQuery,
    responses: {
      200: { description: 'One entry as JSON per event', schema: null, type: 'text/event-stream' },
      503: `${MAX_STREAMS} streams are open`,
    },
    async run(call) {
      const { core, closing, streams } = call
      checkStreams(streams)
      const readiness = call.query.readiness === 'on' ? await call.readiness() : null
      const present = presentFor(core)
      const options = {
        journal: core.journal,
        closing,
        streams,
        present,
        heartbeatMs: HEARTBEAT_MS,
        derived: readiness?.changes(),
      }
      const currentInstance = () => core.numbering.instance()
      const headers = {
        'content-type': 'text/event-stream',
        'x-accel-buffering': 'no',
        [INSTANCE_HEADER]: currentInstance(),
      }
      const resumed = { after: resumeAfter(call), instance: call.query.instance, currentInstance }
      return new Response(eventStream({ ...options, ...resumed }), { headers })
    },
  }),
]

const RecordBody = z
  .strictObject({
    chat_ids: z.optional(
      z
        .array(NonEmptyText)
        .check(z.minLength(1), z.describe('By default every chat in which something happened in the range')),
    ),
    after: z.optional(SeqNumber.check(z.describe('Only entries after this seq'))),
    before: z.optional(SeqNumber.check(z.describe('Only entries before this seq'))),
    name: z.optional(NonEmptyText.check(z.describe('The name of the scenario; by default "Recorded conversation"'))),
    reads: z.optional(
      z.boolean().check(z.describe('Also expect the calls that only read: transcript, summarize and chat')),
    ),
    save: z.optional(
      z.boolean().check(z.describe('Also write a new file into the scenarios folder of the server, where it has one')),
    ),
  })
  .check(named('Recording', 'Which part of the journal becomes a scenario'))
type RecordBody = z.infer<typeof RecordBody>

const NO_RECORDER = 'The program that runs this server records no scenarios.'

export const RECORD_ROUTES: readonly ControlRoute[] = [
  route('POST /record', {
    id: 'recordScenario',
    summary: 'Writes a scenario from what happened, and tries it',
    description:
      'Steps are what users did, what agents did (as the calls of the intermediary show it) and what was set; expectations are the calls. Nothing changes in the simulator.',
    body: RecordBody,
    example: { name: 'Lost parcel' },
    responses: {
      200: { description: 'The scenario file', schema: RecordedScenario },
      404: 'There is no such chat; lists the latest ones',
      409: 'There is nothing to record, or the journal has dropped entries of the range',
      422: 'The body is invalid, or the range is too long',
      503: 'The simulator is closing',
    },
    async run({ core, body, loadRecorder, recordings, signal }) {
      if (loadRecorder === undefined) throw new ControlProblem(409, 'no_recorder', NO_RECORDER)
      const { recordScenario, writeScenario } = await loadRecorder()
      const { chat_ids: chatIds, after, before, name, reads = false, save = false }: RecordBody = body
      const request = { chatIds, after, before, name, reads }
      const scenario = await recordings(() => recordScenario(core, request, signal))
      return ok({ ...scenario, file: save && writeScenario !== undefined ? writeScenario(scenario) : null })
    },
  }),
]

const NO_CHECKS = 'The program that runs this server judges no checks, or this is a workspace'

async function readinessOf({ readiness }: ControlContext): Promise<Readiness> {
  const loaded = readiness()
  if (loaded === null) throw new ControlProblem(409, 'no_readiness', `${NO_CHECKS}.`)
  return loaded
}

export const READINESS_ROUTES: readonly ControlRoute[] = [
  route('GET /readiness', {
    id: 'getReadiness',
    summary: 'Says which checks of the certification were seen right, seen wrong, or not seen yet',
    description:
      'The traffic so far is judged by the functions of the checks; the latest that shows something about a check decides.',
    responses: { 200: { description: 'All checks', schema: ReadinessReport }, 409: NO_CHECKS },
    run: async context => ok((await readinessOf(context)).report()),
  }),
  route('GET /readiness/:id/fix', {
    id: 'getCheckFix',
    summary: 'Says how to fix what a check finds, with examples in several languages',
    responses: { 200: { description: 'From its help page', schema: CheckFix }, 404: 'There is no such check' },
    run: async context => ok((await readinessOf(context)).fix(context.param('id'))),
  }),
  route('POST /readiness/:id/try', {
    id: 'tryCheck',
    summary: 'Runs one check against the webhook, beside the simulator, whose chats and journal stay as they are',
    responses: {
      200: { description: 'The result, with the journal of the trial', schema: ReadinessTrial },
      404: 'There is no such check',
      409: 'There is no webhook or no agent driver for it, or another check is being tried',
    },
    run: async context => ok(await (await readinessOf(context)).tryCheck(context.param('id'), context.signal)),
  }),
  route('POST /plays', {
    id: 'playScenario',
    summary: 'Runs a scenario against the webhook, beside the simulator, whose chats and journal stay as they are',
    description:
      'For one virtual user: many requests may be open at once, and closing one ends its run. Of several scenarios in a text, the first one is run.',
    body: PlayBody,
    maxBytes: BUDGETS.playBytes,
    example: { builtin: 'happy-path.yaml' },
    responses: {
      200: { description: 'The verdict, with times', schema: PlayedScenario },
      409: 'There is no webhook, or a check is being tried',
      422: 'It is no scenario, or no agent driver',
      429: 'As many run as `start --plays` allows',
    },
    run: async context => ok(await (await readinessOf(context)).play(context.body, context.signal)),
  }),
]
