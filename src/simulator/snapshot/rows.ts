/** Chats, files and bots as rows of a snapshot, and back. */
import type { BotState, Chat, Message, StoredFile } from '../../platform/state.ts'
import type { BotRow, ChatRow, FileRow, MessageRow } from './shape.ts'

export const botRow = ({ id, name, organizationId, queues }: BotState): BotRow => ({
  id,
  name,
  organization_id: organizationId,
  queues: [...queues].map(([queue, set]) => ({ name: queue, ...set })),
})

export const botFromRow = ({ id, name, organization_id, queues }: BotRow): BotState => ({
  id,
  name,
  organizationId: organization_id,
  queues: new Map(queues.map(({ name: queue, ...set }) => [queue, set])),
})

export const fileRow = ({ id, name, type, sizeKb, bytes, createdMs }: StoredFile): FileRow => ({
  id,
  name,
  type,
  size_kb: sizeKb,
  created_ms: createdMs,
  ...(bytes === null ? {} : { base64: toBase64(bytes) }),
})

export const fileFromRow = ({ id, name, type, size_kb, created_ms, base64 }: FileRow): StoredFile => ({
  id,
  name,
  type,
  sizeKb: size_kb,
  bytes: base64 === undefined ? null : fromBase64(base64),
  createdMs: created_ms,
})

const CHUNK = 8192

/** Browsers have no Buffer. */
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), char => char.charCodeAt(0))

export function chatRow(chat: Chat, lastEvent: number | null): ChatRow {
  const { persona, takeover } = chat
  return {
    id: chat.id,
    user_id: chat.userId,
    bot_id: chat.botId,
    language: chat.language,
    source: chat.source,
    persona: {
      first_name: persona.firstName,
      last_name: persona.lastName,
      full_name: persona.fullName,
      gender: persona.gender,
    },
    context: chat.context,
    labels: chat.labels,
    created: chat.created,
    updated: chat.updated,
    active: chat.active,
    status: chat.status,
    takeover: takeover && {
      since: takeover.since,
      sender: takeover.sender,
      supports_attachment: takeover.supportsAttachment,
      agent_language: takeover.agentLanguage,
    },
    requested_at: chat.requestedAt,
    typing: chat.typing,
    messages: chat.messages.map(messageRow),
    counter: chat.counter,
    idle_ends: chat.idleEnds,
    last_event: lastEvent,
  }
}

/** `words` are what its ids are drawn from: they follow from its id and the seed. */
export function chatFromRow(row: ChatRow, words: Chat['words'], files: ReadonlyMap<string, StoredFile>): Chat {
  const { persona, takeover } = row
  return {
    id: row.id,
    userId: row.user_id,
    botId: row.bot_id,
    language: row.language,
    source: row.source,
    persona: {
      firstName: persona.first_name,
      lastName: persona.last_name,
      fullName: persona.full_name,
      gender: persona.gender,
    },
    context: row.context,
    labels: row.labels,
    created: row.created,
    updated: row.updated,
    active: row.active,
    status: row.status,
    takeover: takeover && {
      since: takeover.since,
      sender: takeover.sender,
      supportsAttachment: takeover.supports_attachment,
      agentLanguage: takeover.agent_language,
    },
    requestedAt: row.requested_at,
    typing: row.typing,
    messages: row.messages.map(message => messageFromRow(message, files)),
    counter: row.counter,
    idleEnds: row.idle_ends,
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
): Message => ({ ...message, attachments: attachments.map(id => files.get(id)!), exchangeId: exchange_id })
