/** Chats and the messages in them. */
import type { Button } from '../contract/schemas.ts'
import { type IdForm, makeIdFrom } from '../runtime/ids.ts'
import type { PlatformContext } from './context.ts'
import { Refusal } from './refusal.ts'
import type { BotState, Chat, Message, Persona, StoredFile } from './state.ts'
import { note, type Tx } from './transaction.ts'

/** What stands in a chat from the start, in the rows scenarios use. */
export type HistoryRow =
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
  readonly history: readonly HistoryRow[]
}

export function createChat(room: PlatformContext, spec: NewChat, tx: Tx): Chat {
  const number = ++room.state.chatCounter
  const id = spec.id ?? room.id(room.knobs['ids.chat'], `chat ${number}`)
  const created = room.stamp()
  const chat: Chat = {
    id,
    userId: spec.userId ?? room.id(room.knobs['ids.user'], `user ${number}`),
    botId: spec.botId,
    language: spec.language,
    source: spec.source,
    persona: spec.persona,
    context: spec.context,
    labels: spec.labels,
    created,
    updated: created,
    active: true,
    status: 'bot',
    takeover: null,
    requestedAt: null,
    typing: false,
    messages: [],
    counter: 0,
    words: room.words(id),
    idleEnds: 0,
  }
  room.state.chats.set(id, chat)
  for (const row of spec.history) addHistory(room, chat, row)
  keepAlive(room, chat)
  note(tx, 'chat_created', id, { language: chat.language, source: chat.source, user_id: chat.userId })
  return chat
}

function addHistory(room: PlatformContext, chat: Chat, row: HistoryRow): void {
  if ('user' in row) addMessage(room, chat, { from: 'user', name: userName(chat), text: row.user })
  else if ('bot' in row) addBotReply(room, chat, row.bot, row.buttons ?? [])
  else addMessage(room, chat, { from: 'agent', name: row.agent, text: row.text })
}

export const userName = (chat: Chat): string => chat.persona.fullName ?? 'User'

/** Ids are numbered per chat, so that a message elsewhere shifts none here. */
export const nextId = (chat: Chat, form: IdForm, what: string): string =>
  makeIdFrom(form, chat.words, `${what} ${++chat.counter}`)

export interface NewMessage {
  readonly from: Message['from']
  readonly name: string
  readonly text: string
  readonly other?: string | null
  readonly buttons?: readonly Button[]
  readonly attachments?: readonly StoredFile[]
  readonly exchangeId?: string | null
}

const NONE: readonly never[] = []

export function addMessage(room: PlatformContext, chat: Chat, spec: NewMessage): Message {
  const message: Message = {
    id: nextId(chat, room.knobs['ids.message'], 'message'),
    created: room.stamp(),
    from: spec.from,
    name: spec.name,
    text: spec.text,
    other: spec.other ?? null,
    buttons: spec.buttons ?? NONE,
    attachments: spec.attachments ?? NONE,
    exchangeId: spec.exchangeId ?? null,
  }
  chat.messages.push(message)
  chat.updated = message.created
  keepAlive(room, chat)
  return message
}

/** An answer of the bot's dialogue: it belongs to an exchange (R-MSG). */
export function addBotReply(room: PlatformContext, chat: Chat, text: string, buttons: readonly Button[]): Message {
  const exchangeId = nextId(chat, room.knobs['ids.exchange'], 'exchange')
  return addMessage(room, chat, { from: 'bot', name: botOf(room, chat).name, text, buttons, exchangeId })
}

/** A notice of the bot about the handover itself: no exchange (`transcript.agentFromBot`). */
export function addNotice(room: PlatformContext, chat: Chat, text: string, tx: Tx): Message {
  const message = addMessage(room, chat, { from: 'bot', name: botOf(room, chat).name, text })
  note(tx, 'bot_message', chat.id, { message_id: message.id, text })
  return message
}

export const botOf = (room: PlatformContext, chat: Chat): BotState => room.state.bots.get(chat.botId)!

/** With `chat.idleTimeout`, a chat without new messages ends. */
function keepAlive(room: PlatformContext, chat: Chat): void {
  chat.active = true
  if (room.knobs['chat.idleTimeout'] !== null) expireAfter(room, chat, room.nowMs())
}

function expireAfter(room: PlatformContext, chat: Chat, fromMs: number): void {
  const idle = room.knobs['chat.idleTimeout']
  const key = `idle ${chat.id}`
  if (idle === null) room.state.deadlines.delete(key)
  else room.state.deadlines.set(key, fromMs + idle, { kind: 'idle', chatId: chat.id })
}

/** After the knob may have changed: every chat counts from its latest message. */
export function refreshIdle(room: PlatformContext): void {
  for (const chat of room.state.chats.values()) {
    if (chat.active) expireAfter(room, chat, Math.floor(chat.updated / 1000))
  }
}

/** The chat a request means: known bot, known chat, belonging together and to the key (A5, `errors.idMismatch`). */
export function requireChat(room: PlatformContext, keyBotId: number, botId: number, chatId: string): Chat {
  if (!room.state.bots.has(botId)) {
    const known = [...room.state.bots.keys()].join(', ')
    throw new Refusal('bot_not_found', `bot_id ${botId} is not a bot here; known: ${known}.`, { field: 'bot_id' })
  }
  const chat = room.state.chats.get(chatId)
  if (chat === undefined) throw unknownChat(room, chatId, `chat_id ${JSON.stringify(chatId)}`, 'chat_id')
  if (chat.botId !== botId || keyBotId !== botId) throw mismatch(room, chat, keyBotId, botId)
  return chat
}

export function unknownChat({ state }: PlatformContext, id: string, named: string, field: string): Refusal {
  const late = state.forgotten.has(id) ? ' any more: it was one before the simulator was reset' : ''
  return new Refusal('chat_not_found', `${named} is not a chat here${late}.`, { field })
}

function mismatch(room: PlatformContext, chat: Chat, keyBotId: number, botId: number): Refusal {
  const status = Number(room.knobs['errors.idMismatch'])
  const why =
    chat.botId !== botId
      ? `chat_id ${JSON.stringify(chat.id)} belongs to bot ${chat.botId}, not to bot_id ${botId}.`
      : `The API key belongs to bot ${keyBotId}, not to bot_id ${botId}.`
  return new Refusal('id_mismatch', why, { field: 'bot_id', status })
}
