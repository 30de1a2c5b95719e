/** Captures the whole state of a simulator in one synchronous step, so that its parts belong to the same moment. Rows are made later. */

import { wallTime } from '../../../base/runtime/clock.ts'
import { latin1Text } from '../../../base/runtime/encoding.ts'
import { copyJson, type Lazy, LazyList, LazyText } from '../../../base/text/json-pieces.ts'
import type { Redactor } from '../../../base/text/redactor.ts'
import { keyRoles } from '../../api/keyring.ts'
import { formatKnobs } from '../../contract/knobs.ts'
import { VERSION } from '../../contract/version.ts'
import { maskEntry } from '../../journal/mask.ts'
import type { BotState, Chat, DeadlineAction, Deadlines, Message, StoredFile } from '../../rules/state.ts'
import type { CapturedJob } from '../../webhooks/job.ts'
import type { Core } from '../core.ts'
import { effectiveConfig } from '../settings.ts'
import type { BotRow, ChatRow, DeadlineRow, DeliveryRow, FileRow, MessageRow, Snapshot } from './schema.ts'

export const SNAPSHOT_VERSION = 1

export interface SnapshotOptions {
  /** Includes the API keys. Without them a restore keeps the keys of the simulator it restores. */
  readonly keys?: boolean
  /** Includes the journal. Without it a restored journal is empty and continues with the next `seq`. */
  readonly journal?: boolean
}

/** The result is plain JSON and shares no object with the simulator. */
export function captureSnapshot(core: Core, options: SnapshotOptions = {}): Snapshot {
  const copy = copyJson<Snapshot>(captureLazily(core, options))
  return options.keys ? copy : withoutSecrets(core, copy)
}

function withoutSecrets({ secrets }: Core, snapshot: Snapshot): Snapshot {
  const files = snapshot.files.map(({ base64, ...file }) => ({
    ...secrets.redactDeep(file),
    ...(base64 === undefined ? {} : { base64 }),
  }))
  return { ...secrets.redactDeep({ ...snapshot, files: [] }), files }
}

/**
 * A snapshot whose rows of what never changes, such as messages, are made when they are written. Without `keys`, the
 * writer replaces secrets in all parts; those in files are replaced already.
 */
export function captureLazily(core: Core, options: SnapshotOptions): Lazy<Snapshot> {
  const { platform, identity } = core
  const deliveries = core.dispatcher.capture()
  const deadlineOrder = core.deadlineTimer.order()
  const rank = ranking(deliveries.jobs, deadlineOrder)
  const faults = core.faultRegistry.capture()
  return {
    v: SNAPSHOT_VERSION,
    handover_sim: VERSION,
    taken_at: wallTime(),
    seed: identity.seed,
    bot: snakeCase(identity.bot),
    clock: clockOf(core),
    config: configOf(core, options),
    ...(options.keys ? { replaced_keys: core.keyring.replaced().map(snakeCase) } : {}),
    bots: [...platform.state.bots.values()].map(botRow),
    chats: [...platform.state.chats.values()].map(chat => chatRow(chat, core.lastEvent.get(chat.id) ?? null)),
    files: lazyRows([...platform.state.files.values()], file => fileRow(file, options.keys ? null : core.secrets)),
    deadlines: platform.state.deadlines.list().map(deadlineRow),
    counters: {
      chats: platform.state.chatCounter,
      summaries: platform.state.summaryCounter,
      triggered: deliveries.triggered,
      faults: faults.made,
    },
    faults: faults.rules.map(({ name, spec, progress }) => ({ name, spec, ...progress })),
    deliveries: deliveries.jobs.map(job => deliveryRow(job, rank)),
    rate_limits: rateLimits(core),
    continuation: {
      stamp: core.stamps.last(),
      journal_stamp: core.journalStamps.last(),
      random: deliveries.random,
      deadline_timer_order: deadlineOrder === null ? null : rank(deadlineOrder),
    },
    journal: journalOf(core, options),
  }
}

const lazyRows = <Item, Row>(items: readonly Item[], row: (item: Item) => Row): LazyList<Row> =>
  new LazyList(function* () {
    for (const item of items) yield row(item)
  })

/** Numbers timers by their order, so that equal states give equal snapshots. */
function ranking(jobs: readonly CapturedJob[], deadlineTimer: number | null): (order: number) => number {
  const due = jobs.flatMap(({ phase }) => (phase.kind === 'scheduled' ? [phase.order] : []))
  const sorted = [...due, ...(deadlineTimer === null ? [] : [deadlineTimer])].sort((a, b) => a - b)
  const ranks = new Map(sorted.map((order, rank) => [order, rank]))
  return order => ranks.get(order) ?? 0
}

const clockOf = ({ clock }: Core): Snapshot['clock'] =>
  clock.mode === 'virtual'
    ? { mode: clock.mode, now_ms: clock.now(), start_ms: clock.startMs() }
    : { mode: clock.mode, now_ms: clock.now(), ...(clock.isPaused() ? { paused: true } : {}) }

function configOf(core: Core, { keys }: SnapshotOptions): Record<string, unknown> {
  const { seed: _, clock: __, 'bot.id': ___, 'bot.name': ____, ...config } = effectiveConfig(core)
  return keys ? { ...config, ...formatKnobs(core.platform.knobs) } : config
}

/** Names each key by its role, because the key itself is a secret. */
function rateLimits({ rateLimit, platform }: Core) {
  const roles = new Map(keyRoles(platform.knobs).map(({ role, key }) => [key, role]))
  return [...rateLimit.windows()].flatMap(([key, { start, calls }]) => {
    const role = roles.get(key)
    return role === undefined ? [] : [{ key: role, start_ms: start, calls }]
  })
}

function journalOf({ journal, platform }: Core, { keys, journal: wanted }: SnapshotOptions): Lazy<Snapshot['journal']> {
  const ending = { next_seq: journal.nextSeq, at_ms: journal.atMs }
  if (!wanted) return ending
  const signatureHeader = platform.knobs['webhook.signatureHeader']
  return {
    ...ending,
    entries: lazyRows(journal.query(), entry => (keys ? entry : maskEntry(entry, signatureHeader))),
  }
}

type Snake<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name
type Camel<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest> & string>}` : Name
type InSnakeCase<Fields> = { [Name in keyof Fields as Snake<Name> & string]: Fields[Name] }
type InCamelCase<Fields> = { [Name in keyof Fields as Camel<Name> & string]: Fields[Name] }

const renamed = (fields: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]))

/** Renames the fields of the object, not those of the values in it. */
const snakeCase = <Fields extends object>(fields: Fields) =>
  renamed(fields, name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)) as InSnakeCase<Fields>
export const camelCase = <Fields extends object>(fields: Fields) =>
  renamed(fields, name => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())) as InCamelCase<Fields>

const botRow = ({ queues, ...bot }: BotState): BotRow => ({
  ...snakeCase(bot),
  queues: [...queues].map(([name, queue]) => ({ name, ...queue })),
})

export const botFromRow = ({ queues, ...row }: BotRow): BotState => ({
  ...camelCase(row),
  queues: new Map(queues.map(({ name, ...queue }) => [name, queue])),
})

/** Secrets in the bytes are replaced before these are encoded, because `***` is no base64. */
const fileRow = ({ bytes, ...file }: StoredFile, secrets: Redactor | null): Lazy<FileRow> => ({
  ...snakeCase(file),
  ...(bytes === null ? {} : { base64: new LazyText(() => base64Parts(bytes, secrets)) }),
})

const PART_BYTES = 49_152

function* binaryParts(bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield latin1Text(bytes.subarray(at, at + PART_BYTES))
}

/** Three bytes become four characters, so the other bytes of a part are encoded with the next one. */
function* base64Parts(bytes: Uint8Array, secrets: Redactor | null): Generator<string> {
  let rest = ''
  for (const part of secrets === null ? binaryParts(bytes) : secrets.redactParts(binaryParts(bytes))) {
    rest += part
    const whole = rest.length - (rest.length % 3)
    yield btoa(rest.slice(0, whole))
    rest = rest.slice(whole)
  }
  yield btoa(rest)
}

/** `bytes` are those of `base64`, decoded. */
export const fileFromRow = ({ base64: _, ...row }: FileRow, bytes: Uint8Array | null): StoredFile => ({
  ...camelCase(row),
  bytes,
})

function chatRow({ words: _, persona, takeover, messages, ...chat }: Chat, lastEvent: number | null): Lazy<ChatRow> {
  return {
    ...snakeCase(chat),
    persona: snakeCase(persona),
    takeover: takeover && snakeCase(takeover),
    messages: lazyRows([...messages], messageRow),
    last_event: lastEvent,
  }
}

/** The ids of the chat are drawn from `words`, which follow from its id and the seed. */
export function chatFromRow(row: ChatRow, words: Chat['words'], files: ReadonlyMap<string, StoredFile>): Chat {
  const { last_event: _, persona, takeover, messages, ...chat } = row
  return {
    ...camelCase(chat),
    botName: chat.bot_name ?? null,
    persona: camelCase(persona),
    takeover: takeover && camelCase(takeover),
    messages: messages.map(message => messageFromRow(message, files)),
    words,
  }
}

const messageRow = ({ exchangeId, attachments, ...message }: Message): MessageRow => ({
  ...message,
  attachments: attachments.map(({ id }) => id),
  exchange_id: exchangeId,
})

const messageFromRow = (
  { exchange_id, attachments, ...message }: MessageRow,
  files: ReadonlyMap<string, StoredFile>,
): Message => ({ ...message, attachments: attachments.flatMap(id => files.get(id) ?? []), exchangeId: exchange_id })

const deadlineRow = ({ key, atMs, deadline }: ReturnType<Deadlines['list']>[number]): DeadlineRow => ({
  key,
  at_ms: atMs,
  ...snakeCase(deadline),
})

export function deadlineFromRow({ kind, chat_id: chatId, text = '', buttons = [] }: DeadlineRow): DeadlineAction {
  return kind === 'reply' ? { kind, chatId, text, buttons } : { kind, chatId }
}

/** `rank`: the place of a timer among all timers, so that equal states give equal rows. */
function deliveryRow({ phase, faults, ...job }: CapturedJob, rank: (order: number) => number): DeliveryRow {
  const fields = { ...snakeCase(job), applied: faults && copyJson<NonNullable<typeof faults>>(faults) }
  if (phase.kind !== 'scheduled') return { ...fields, phase: phase.kind }
  return { ...fields, phase: 'scheduled', due: { at_ms: phase.atMs, order: rank(phase.order), next: phase.next } }
}

export function jobFromRow(row: DeliveryRow): CapturedJob {
  if (row.phase !== 'scheduled') return { ...fieldsFromRow(row), phase: { kind: row.phase } }
  const { due, ...job } = row
  return { ...fieldsFromRow(job), phase: { kind: row.phase, ...camelCase(due) } }
}

const fieldsFromRow = <Row extends object>({
  phase: _,
  applied: faults,
  ...job
}: Row & Pick<DeliveryRow, 'phase' | 'applied'>) => ({ ...camelCase(job), faults })
