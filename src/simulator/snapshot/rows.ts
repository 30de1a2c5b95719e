/** Translates the state of a simulator into rows of a snapshot, and back. */
import type { ReplacedKey } from '../../api/keyring.ts'
import type { DeadlineAction, Deadlines } from '../../platform/deadlines.ts'
import type { BotState, Chat, Message, StoredFile } from '../../platform/state.ts'
import type { CapturedJob, DeliveryPhase } from '../../webhooks/job.ts'
import type { BotRow, ChatRow, DeadlineRow, DeliveryRow, FileRow, MessageRow, ReplacedKeyRow } from './schema.ts'

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
const camelCase = <Fields extends object>(fields: Fields) =>
  renamed(fields, name => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())) as InCamelCase<Fields>

export const botRow = ({ queues, ...bot }: BotState): BotRow => ({
  ...snakeCase(bot),
  queues: [...queues].map(([name, queue]) => ({ name, ...queue })),
})

export const botFromRow = ({ queues, ...row }: BotRow): BotState => ({
  ...camelCase(row),
  queues: new Map(queues.map(({ name, ...queue }) => [name, queue])),
})

export const fileRow = ({ bytes, ...file }: StoredFile): FileRow => ({
  ...snakeCase(file),
  ...(bytes === null ? {} : { base64: toBase64(bytes) }),
})

export const fileFromRow = ({ base64, ...row }: FileRow): StoredFile => ({
  ...camelCase(row),
  bytes: base64 === undefined ? null : fromBase64(base64),
})

const CHUNK = 8192

/** Browsers have no Buffer. */
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), char => char.charCodeAt(0))

export function chatRow({ words: _, persona, takeover, messages, ...chat }: Chat, lastEvent: number | null): ChatRow {
  return {
    ...snakeCase(chat),
    persona: snakeCase(persona),
    takeover: takeover && snakeCase(takeover),
    messages: messages.map(messageRow),
    last_event: lastEvent,
  }
}

/** The ids of the chat are drawn from `words`, which follow from its id and the seed. */
export function chatFromRow(row: ChatRow, words: Chat['words'], files: ReadonlyMap<string, StoredFile>): Chat {
  const { last_event: _, persona, takeover, messages, ...chat } = row
  return {
    ...camelCase(chat),
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

export const deadlineRow = ({ key, atMs, deadline }: ReturnType<Deadlines['list']>[number]): DeadlineRow => ({
  key,
  at_ms: atMs,
  ...snakeCase(deadline),
})

export function deadlineFromRow({ kind, chat_id: chatId, text = '', buttons = [] }: DeadlineRow): DeadlineAction {
  return kind === 'reply' ? { kind, chatId, text, buttons } : { kind, chatId }
}

/** `rank`: the place of a timer among all timers, so that equal states give equal rows. */
export function deliveryRow({ phase, faults, ...job }: CapturedJob, rank: (order: number) => number): DeliveryRow {
  const fields = { ...snakeCase(job), applied: faults }
  if (phase.kind !== 'scheduled') return { ...fields, phase: phase.kind }
  return { ...fields, phase: 'scheduled', due: { at_ms: phase.atMs, order: rank(phase.order), next: phase.next } }
}

export function jobFromRow(row: DeliveryRow): CapturedJob {
  const { phase: _, applied, ...job } = row
  return { ...camelCase(job), phase: phaseOf(row), faults: applied }
}

function phaseOf(row: DeliveryRow): DeliveryPhase {
  if (row.phase !== 'scheduled') return { kind: row.phase }
  const { at_ms: atMs, order, next } = row.due
  return { kind: 'scheduled', atMs, order, next }
}

export const replacedKeyRow = (key: ReplacedKey): ReplacedKeyRow => snakeCase(key)
export const replacedKeyFromRow = (row: ReplacedKeyRow): ReplacedKey => camelCase(row)
