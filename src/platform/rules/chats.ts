/** Creates chats, adds their messages, emits their webhook events (EV1-EV9), and finds the chat of a request. */

import { type IdForm, makeIdFrom } from '../../base/runtime/random.ts'
import type { WebhookEventName } from '../contract/event-names.ts'
import type { MessageFromUser, WebhookEvent } from '../contract/events.ts'
import type { Attachment, Button } from '../contract/schemas.ts'
import type { NoteContent } from '../journal/entry.ts'
import { sizeOf } from '../journal/journal.ts'
import { Refusal } from './refusal.ts'
import {
  type BotState,
  type Chat,
  type Message,
  note,
  type Persona,
  type PlatformContext,
  type PlatformState,
  type StoredFile,
  sizeOfChat,
  type Transaction,
} from './state.ts'

/** One message of the history that a chat begins with. */
export type ChatHistoryRow =
  | { readonly user: string }
  | { readonly bot: string; readonly buttons?: readonly Button[] }
  | { readonly agent: string; readonly text: string }

export interface NewChat {
  readonly id?: string
  readonly botId: number
  readonly language: string
  readonly source: string
  readonly userId?: string
  readonly persona: Persona
  readonly context: Record<string, unknown>
  readonly labels: readonly string[]
  readonly history: readonly ChatHistoryRow[]
  /** The name of the shipped conversation that the history comes from. */
  readonly transcript?: string
  /** The name of the bot in this chat, when it differs from that of the workspace. */
  readonly botName?: string | null
}

/** Throws `MemoryLimitError`. */
export function createChat(platform: PlatformContext, spec: NewChat, transaction: Transaction): Chat {
  const number = platform.state.chatCounter + 1
  const id = spec.id ?? platform.id(platform.knobs['ids.chat'], `chat ${number}`)
  const now = platform.stamp()
  const times = computeTimes(spec.history, now)
  const [created = 0] = times
  const chat: Chat = {
    id,
    userId: spec.userId ?? platform.id(platform.knobs['ids.user'], `user ${number}`),
    botId: spec.botId,
    botName: spec.botName ?? null,
    language: spec.language,
    source: spec.source,
    persona: spec.persona,
    context: spec.context,
    labels: spec.labels,
    created,
    updated: created,
    active: true,
    userLeft: null,
    status: 'bot',
    takeover: null,
    requestedAt: null,
    typing: false,
    messages: [],
    counter: 0,
    words: platform.words(id),
    idleEnds: 0,
  }
  platform.state.memory.add(sizeOfChat(chat))
  platform.state.chatCounter = number
  platform.state.chats.set(id, chat)
  spec.history.forEach((row, index) => void addHistory(platform, chat, row, times[index + 1]))
  chat.updated = now
  keepAlive(platform, chat)
  note(transaction, 'chat_created', id, describeNewChat(platform, chat, spec))
  return chat
}

/** What a reader of the journal needs to draw the chat. The messages of the history are not in the journal. */
const describeNewChat = (platform: PlatformContext, chat: Chat, { history, transcript }: NewChat) => ({
  language: chat.language,
  source: chat.source,
  user_id: chat.userId,
  user_name: userName(chat),
  bot_id: chat.botId,
  bot_name: botName(platform, chat),
  ...(transcript === undefined ? {} : { transcript }),
  ...(history.length === 0 ? {} : { history_count: history.length }),
})

function addHistory(platform: PlatformContext, chat: Chat, row: ChatHistoryRow, created?: number): Message {
  if ('user' in row) return addMessage(platform, chat, { from: 'user', name: userName(chat), text: row.user }, created)
  if ('bot' in row) return addBotReply(platform, chat, row.bot, row.buttons ?? [], created)
  return addMessage(platform, chat, { from: 'agent', name: row.agent, text: row.text }, created)
}

/** How long a message takes: the milliseconds before its first character, and for each. */
const PACE = { user: [4_000, 130], bot: [900, 12], agent: [6_000, 110] } as const
const MAX_PACE_MS = 75_000
/** The time between the last message of a history and now. */
const SINCE_LAST_MS = 9_000

/** The times of a chat and of its history, which ends shortly before `now`, in microseconds: as if people had typed it. */
function computeTimes(history: readonly ChatHistoryRow[], now: number): number[] {
  if (history.length === 0) return [now]
  const gaps = history.map(gapMs)
  const total = gaps.reduce((sum, gap) => sum + gap, SINCE_LAST_MS)
  let time = Math.max(0, now - total * 1000)
  return [time, ...gaps.map(gap => (time += gap * 1000))]
}

function gapMs(row: ChatHistoryRow, index: number): number {
  const [from, text] =
    'user' in row
      ? (['user', row.user] as const)
      : 'bot' in row
        ? (['bot', row.bot] as const)
        : (['agent', row.text] as const)
  const [first, perCharacter] = PACE[from]
  // Differs between messages, and is the same in every run.
  const uneven = (text.length * 37 + index * 311) % 1_000
  return Math.min(MAX_PACE_MS, first + text.length * perCharacter) + uneven
}

export const userName = (chat: Chat): string => chat.persona.fullName ?? 'User'

/** Numbers ids per chat, so that events in one chat do not change the ids of another. */
export const nextId = (chat: Chat, form: IdForm, what: string): string =>
  makeIdFrom(form, chat.words, `${what} ${++chat.counter}`)

export interface NewMessage {
  /** Default: a generated one. */
  readonly id?: string | undefined
  readonly from: Message['from']
  readonly name: string
  readonly text: string
  readonly other?: string | null
  readonly buttons?: readonly Button[]
  readonly attachments?: readonly StoredFile[]
  readonly exchangeId?: string | null
}

const NONE: readonly never[] = []

export function addMessage(
  platform: PlatformContext,
  chat: Chat,
  spec: NewMessage,
  created = platform.stamp(),
): Message {
  const message: Message = {
    id: spec.id ?? nextId(chat, platform.knobs['ids.message'], 'message'),
    created,
    seq: platform.journal.nextSeq,
    from: spec.from,
    name: spec.name,
    text: spec.text,
    other: spec.other ?? null,
    buttons: spec.buttons ?? NONE,
    attachments: spec.attachments ?? NONE,
    exchangeId: spec.exchangeId ?? null,
    record: null,
  }
  chat.messages.push(message)
  countMessage(platform.state, chat, message)
  chat.updated = message.created
  keepAlive(platform, chat)
  return message
}

/** The memory of a message beside its texts, in bytes. */
const MESSAGE_BYTES = 512

/** Counts a message among those of all chats, in the order in which they came. */
export function countMessage({ messageMemory }: PlatformState, chat: Chat, message: Message): void {
  messageMemory.order.push(chat)
  messageMemory.bytes += sizeOfMessage(message)
}

function sizeOfMessage({ text, other, name, buttons, attachments }: Message): number {
  let size = MESSAGE_BYTES + text.length + name.length + (other?.length ?? 0)
  if (buttons.length > 0) size += sizeOf(buttons)
  for (const { bytes } of attachments) size += MESSAGE_BYTES + (bytes?.length ?? 0)
  return size
}

/**
 * Drops the oldest messages of all chats, with their files, when all exceed the limit; the newest one stays. Returns a note
 * for the journal the first time.
 */
export function evictMessages({ state }: PlatformContext): NoteContent | null {
  const { messageMemory: memory, files } = state
  if (memory.bytes <= memory.limit) return null
  const counts = new Map<Chat, number>()
  // A little more than needed, so that the next messages evict nothing.
  const enough = memory.limit - memory.limit / 512
  while (memory.bytes > enough && memory.order.length - memory.first > 1) {
    const chat = memory.order[memory.first++]!
    const index = counts.get(chat) ?? 0
    counts.set(chat, index + 1)
    memory.bytes -= sizeOfMessage(chat.messages[index]!)
  }
  if (memory.first > memory.order.length / 2) {
    memory.order.splice(0, memory.first)
    memory.first = 0
  }
  for (const [chat, count] of counts) {
    for (const { attachments } of chat.messages.splice(0, count)) for (const { id } of attachments) files.delete(id)
    if (chat.requestedAt !== null) chat.requestedAt = Math.max(0, chat.requestedAt - count)
  }
  if (memory.isEvictionAnnounced || counts.size === 0) return null
  memory.isEvictionAnnounced = true
  return {
    kind: 'note',
    note: 'messages_evicted',
    setting: 'memoryLimit',
    message: `The transcripts keep ${memory.limit} bytes (memoryLimit); the oldest messages of all chats are being dropped.`,
  }
}

/** Drops all messages of a chat, with their files. */
export function dropMessages({ state }: PlatformContext, chat: Chat): void {
  const { messageMemory: memory, files } = state
  for (const message of chat.messages) {
    memory.bytes -= sizeOfMessage(message)
    for (const { id } of message.attachments) files.delete(id)
  }
  // In place, because it may hold millions.
  let kept = 0
  for (const other of memory.order.slice(memory.first)) if (other !== chat) memory.order[kept++] = other
  memory.order.length = kept
  memory.first = 0
  chat.messages.length = 0
  if (chat.requestedAt !== null) chat.requestedAt = 0
}

/** Adds an answer of the bot's dialogue, which belongs to an exchange (R-MSG). */
export function addBotReply(
  platform: PlatformContext,
  chat: Chat,
  text: string,
  buttons: readonly Button[],
  created?: number,
): Message {
  const exchangeId = nextId(chat, platform.knobs['ids.exchange'], 'exchange')
  return addMessage(platform, chat, { from: 'bot', name: botName(platform, chat), text, buttons, exchangeId }, created)
}

/** Adds a notice of the bot about the handover; its exchange is a matter of transcripts (`transcript.noticeExchange`). */
export function addNotice(platform: PlatformContext, chat: Chat, text: string, transaction: Transaction): Message {
  const message = addMessage(platform, chat, { from: 'bot', name: botName(platform, chat), text })
  note(transaction, 'bot_message', chat.id, { message_id: message.id, text })
  return message
}

export function botById({ state }: PlatformContext, id: number): BotState {
  const bot = state.bots.get(id)
  if (bot === undefined) throw new Error(`The state has no bot ${id}.`)
  return bot
}

export const botName = (platform: PlatformContext, chat: Chat): string => chat.botName ?? botOf(platform, chat).name

export const botOf = (platform: PlatformContext, chat: Chat): BotState => botById(platform, chat.botId)

/** What every event about a chat says. */
function about(platform: PlatformContext, chat: Chat) {
  const { id, language, source } = chat
  return {
    bot: { id: botOf(platform, chat).id, name: botName(platform, chat) },
    chat: { _links: { self: `${platform.address.base}/api/v1/chats/${encodeURIComponent(id)}` }, id, language, source },
    user: { id: chat.userId },
  }
}

/** Returns the delivery id: an addition of the simulator, which control API and journal use, and payloads do not (`webhook.idHeader`). */
function emit(chat: Chat, payload: WebhookEvent, transaction: Transaction): string {
  const deliveryId = nextId(chat, 'uuid', 'delivery')
  const { event } = payload
  transaction.effects.push({ kind: 'event', chat_id: chat.id, event, delivery_id: deliveryId, payload })
  return deliveryId
}

/** Returns the delivery id. */
export const emitRequest = (platform: PlatformContext, chat: Chat, transaction: Transaction): string =>
  emit(chat, { event: 'REQUESTING TAKEOVER', ...about(platform, chat) }, transaction)

/** Returns the delivery id. */
export const emitUserMessage = (
  platform: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
  transaction: Transaction,
): string => emit(chat, messagePayload(platform, chat, text, files), transaction)

/** `attachments` is there only after a handover was started with support for it (EV5, `attachments.whenEmpty`). */
function messagePayload(
  platform: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
): MessageFromUser {
  const payload: MessageFromUser = { event: 'MESSAGE FROM USER', ...about(platform, chat), message: text }
  if (chat.takeover?.supportsAttachment !== true) return payload
  if (files.length === 0 && platform.knobs['attachments.whenEmpty'] === 'absent') return payload
  return { ...payload, attachments: files.map(file => viewFile(platform, file)) }
}

export const viewFile = ({ address }: PlatformContext, { id, name, type, sizeKb }: StoredFile): Attachment => ({
  name,
  url: `${address.base}/files/${address.filePrefix}${id}/${encodeURIComponent(name)}`,
  type,
  size_kb: sizeKb,
})

export function emitTyping(
  platform: PlatformContext,
  chat: Chat,
  event: 'AGENT TYPING START' | 'AGENT TYPING STOP',
  transaction: Transaction,
): void {
  if (platform.knobs['typing.webhook'] !== 'off') emit(chat, { event, chat_id: chat.id }, transaction)
}

/** Builds the payload that the platform would send for this chat now, with the latest message of the user. Changes nothing. */
export function buildPayload(platform: PlatformContext, chat: Chat, event: WebhookEventName): WebhookEvent {
  if (event === 'REQUESTING TAKEOVER') return { event, ...about(platform, chat) }
  if (event !== 'MESSAGE FROM USER') return { event, chat_id: chat.id }
  const last = chat.messages.findLast(({ from }) => from === 'user')
  return messagePayload(platform, chat, last?.other ?? last?.text ?? 'Hello', last?.attachments ?? [])
}

/** Marks a chat whose user has not left as active; with `chat.idleTimeout`, restarts its idle deadline. */
function keepAlive(platform: PlatformContext, chat: Chat): void {
  if (chat.userLeft !== null) return
  chat.active = true
  if (platform.knobs['chat.idleTimeout'] !== null) expireAfter(platform, chat, platform.nowMs())
}

function expireAfter(platform: PlatformContext, chat: Chat, fromMs: number): void {
  const idle = platform.knobs['chat.idleTimeout']
  const key = `idle ${chat.id}`
  if (idle === null) platform.state.deadlines.delete(key)
  else platform.state.deadlines.set(key, fromMs + idle, { kind: 'idle', chatId: chat.id })
}

/** Sets the idle deadlines of all chats again, counted from their latest message, after `chat.idleTimeout` may have changed. */
export function refreshIdle(platform: PlatformContext): void {
  for (const chat of platform.state.chats.values()) {
    if (chat.active) expireAfter(platform, chat, Math.floor(chat.updated / 1000))
  }
}

/** Finds the chat of a request; throws a refusal unless bot, chat and key belong together (A5, `errors.idMismatch`). */
export function requireChat(platform: PlatformContext, keyBotId: number, botId: number, chatId: string): Chat {
  if (!platform.state.bots.has(botId)) {
    const botIds = [...platform.state.bots.keys()].join(', ')
    throw new Refusal('bot_not_found', `bot_id ${botId} is not a bot of this simulator; known: ${botIds}.`, {
      field: 'bot_id',
    })
  }
  const chat = platform.state.chats.get(chatId)
  if (chat === undefined) throw unknownChat(platform, chatId, `chat_id ${JSON.stringify(chatId)}`, 'chat_id')
  if (chat.botId !== botId)
    throw idMismatch(
      platform,
      `chat_id ${JSON.stringify(chat.id)} belongs to bot ${chat.botId}, not to bot_id ${botId}.`,
      'bot_id',
    )
  if (keyBotId !== botId)
    throw idMismatch(platform, `The API key belongs to bot ${keyBotId}, not to bot_id ${botId}.`, 'bot_id')
  return chat
}

export function unknownChat({ state }: PlatformContext, id: string, named: string, field: string): Refusal {
  const why = state.forgotten.has(id) ? ' any more: it was removed when the simulator was reset' : ''
  return new Refusal('chat_not_found', `${named} is not a chat here${why}.`, { field })
}

/** The status is the knob `errors.idMismatch`. */
export function idMismatch({ knobs }: PlatformContext, message: string, field: string): Refusal {
  return new Refusal('id_mismatch', message, { field, status: Number(knobs['errors.idMismatch']) })
}
