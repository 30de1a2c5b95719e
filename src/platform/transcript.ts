/** Builds the records of a chat: the transcripts of the API (R-REC, R-MSG, E1, E9), and the view of its end user. */
import type { ChatRequest, ChatResponse, TranscriptResponse } from '../contract/endpoints.ts'
import type { Button, ChatRecord, MessageRecord } from '../contract/schemas.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import { botName, botOf } from './chats.ts'
import { viewFile } from './events.ts'
import type { Chat, Message, PlatformContext } from './state.ts'
import { assumed, type Transaction } from './transaction.ts'

/** In steps, because a chat may have tens of thousands of messages; the same for `handoverTranscript`. */
export function* chatTranscript(
  platform: PlatformContext,
  chat: Chat,
  transaction: Transaction,
): Generator<void, ChatResponse> {
  return { chat: yield* record(platform, chat, [...chat.messages], transaction) }
}

/** The messages before the latest handover request; all messages without a request (E1.4). */
export function* handoverTranscript(
  platform: PlatformContext,
  chat: Chat,
  _request: ChatRequest,
  transaction: Transaction,
): Generator<void, TranscriptResponse> {
  assumed(transaction, 'transcript.handover')
  const messages = chat.messages.slice(0, chat.requestedAt ?? chat.messages.length)
  if (platform.knobs['transcript.handover'] === 'record') {
    return { event: 'TRANSCRIPT', chat: yield* record(platform, chat, messages, transaction) }
  }
  const rows = yield* messageRecords(platform, messages, transaction)
  return { event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: chat.botId, messages: rows } }
}

function* record(
  platform: PlatformContext,
  chat: Chat,
  messages: readonly Message[],
  transaction: Transaction,
): Generator<void, ChatRecord> {
  assumed(transaction, 'transcript.state', 'transcript.source')
  const bot = botOf(platform, chat)
  const fields = {
    active: chat.active,
    bot_id: chat.botId,
    organization_id: bot.organizationId,
    bot_name: botName(platform, chat),
    comments: [],
    context: chat.context,
    created: isoMicros(chat.created),
    first_name: chat.persona.firstName,
    full_name: chat.persona.fullName,
    gender: chat.persona.gender,
    id: chat.id,
    labels: [...chat.labels],
    language_code: chat.language,
    last_name: chat.persona.lastName,
    recipient_id: chat.userId,
    source: paired(platform.knobs['transcript.source'], chat.source) ?? chat.source,
    state: paired(platform.knobs['transcript.state'], chat.status) ?? 'chatting',
    taken_over: takenOver(platform, chat, transaction),
    updated: isoMicros(chat.updated),
  }
  const records = yield* messageRecords(platform, messages, transaction)
  return { ...fields, messages: records, ...extraFields(platform) }
}

function* messageRecords(
  platform: PlatformContext,
  messages: readonly Message[],
  transaction: Transaction,
): Generator<void, MessageRecord[]> {
  const records: MessageRecord[] = []
  for (const message of messages) {
    records.push(messageRecord(platform, message, transaction))
    yield
  }
  return records
}

/** Looks a word up in a list of `word=value`. */
function paired(pairs: readonly string[], name: string): string | undefined {
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

function extraFields(platform: PlatformContext): Record<string, string> {
  return Object.fromEntries(platform.knobs['transcript.extra'].map(pair => pair.split(/=(.*)/s).slice(0, 2)))
}

function takenOver(platform: PlatformContext, chat: Chat, transaction: Transaction): string | boolean | null {
  if (chat.takeover === null) return null
  assumed(transaction, 'transcript.takenOver')
  const form = platform.knobs['transcript.takenOver']
  return form === 'null' ? null : form === 'true' ? true : isoMicros(chat.takeover.since)
}

function messageRecord(platform: PlatformContext, message: Message, transaction: Transaction): MessageRecord {
  if (message.from !== 'user' && message.exchangeId === null) assumed(transaction, 'transcript.agentFromBot')
  if (message.other !== null) assumed(transaction, 'transcript.text')
  return {
    id: message.id,
    created: isoMicros(message.created),
    from_bot:
      message.from === 'bot' || (message.from === 'agent' && platform.knobs['transcript.agentFromBot'] === 'on'),
    name: message.name,
    message: transcriptText(platform, message),
    buttons: [...message.buttons],
    exchange_id: message.exchangeId,
    exchange_type: message.exchangeId === null ? null : 'usersays',
  }
}

/** With `transcript.text` set to `both`, adds the other side of a translation on a line of its own. */
function transcriptText(platform: PlatformContext, message: Message): string {
  const both = message.other !== null && platform.knobs['transcript.text'] === 'both'
  return both ? `${message.text}\n${message.other}` : message.text
}

/** A file in a message, in the shape that webhook events use (R-ATT). */
export interface AttachmentView {
  readonly name: string
  readonly url: string
  readonly type: string
  /** Kilobytes. */
  readonly size_kb: number
}

/** A message as the end user sees it. */
export interface MessageView {
  readonly id: string
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  readonly text: string
  /** The text before or after live translation: the one that the user does not see. */
  readonly original?: string
  readonly buttons: readonly Button[]
  readonly attachments: readonly AttachmentView[]
  /** ISO 8601 on the simulator's clock. */
  readonly created: string
}

/** A chat as its end user sees it. */
export interface ChatView {
  readonly chatId: string
  readonly userId: string
  readonly botId: number
  readonly language: string
  readonly source: string
  /** Who answers: the bot, the bot with a handover request pending, or an agent. */
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  readonly active: boolean
  /** Oldest first. */
  readonly messages: readonly MessageView[]
}

export function viewChat(platform: PlatformContext, chat: Chat): ChatView {
  return { ...chatSummary(chat), messages: chat.messages.map(message => viewMessage(platform, message)) }
}

export const chatSummary = (chat: Chat): Omit<ChatView, 'messages'> => ({
  chatId: chat.id,
  userId: chat.userId,
  botId: chat.botId,
  language: chat.language,
  source: chat.source,
  status: chat.status,
  typing: chat.typing,
  active: chat.active,
})

export function viewMessage(platform: PlatformContext, message: Message): MessageView {
  return {
    id: message.id,
    from: message.from,
    name: message.name,
    text: message.text,
    ...(message.other === null ? {} : { original: message.other }),
    buttons: message.buttons,
    attachments: message.attachments.map(file => viewFile(platform, file)),
    created: isoMicros(message.created),
  }
}
