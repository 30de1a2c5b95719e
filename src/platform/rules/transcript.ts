/** Builds the records of a chat: the transcripts of the API (R-REC, R-MSG, E1, E9), and the view of its end user. */

import { isoMicros } from '../../base/runtime/timestamps.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import type { ChatRequest, ChatResponse, TranscriptResponse } from '../contract/endpoints.ts'
import type { Button, ChatRecord, MessageRecord } from '../contract/schemas.ts'
import { botName, botOf } from './chats.ts'
import { viewFile } from './events.ts'
import type { Chat, Message, PlatformContext } from './state.ts'
import { assumed, type Transaction } from './transaction.ts'

/** The answer of a transcript without its messages. */
export interface TranscriptOutline {
  /** Its list of messages is empty, and the last field of `chat`. */
  readonly answer: ChatResponse | TranscriptResponse
  /** The number of messages to show, from the first. */
  readonly count: number
  /** Fields after the messages. */
  readonly extra: Readonly<Record<string, string>> | null
}

export const chatOutline = (platform: PlatformContext, chat: Chat, transaction: Transaction): TranscriptOutline => ({
  answer: { chat: recordOutline(platform, chat, transaction) },
  count: chat.messages.length,
  extra: extraFields(platform),
})

/** The messages before the latest handover request; all messages without a request (E1.4). */
export function handoverOutline(
  platform: PlatformContext,
  chat: Chat,
  _request: ChatRequest,
  transaction: Transaction,
): TranscriptOutline {
  assumed(transaction, 'transcript.handover')
  const count = chat.requestedAt ?? chat.messages.length
  if (platform.knobs['transcript.handover'] === 'record') {
    const record = recordOutline(platform, chat, transaction)
    return { answer: { event: 'TRANSCRIPT', chat: record }, count, extra: extraFields(platform) }
  }
  return {
    answer: { event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: chat.botId, messages: [] } },
    count,
    extra: null,
  }
}

function recordOutline(platform: PlatformContext, chat: Chat, transaction: Transaction): ChatRecord {
  assumed(transaction, 'transcript.state', 'transcript.source')
  const bot = botOf(platform, chat)
  return {
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
    messages: [],
  }
}

/** Looks a word up in a list of `word=value`. */
function paired(pairs: readonly string[], name: string): string | undefined {
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

function extraFields({ knobs }: PlatformContext): Record<string, string> | null {
  const pairs = knobs['transcript.extra']
  return pairs.length === 0 ? null : Object.fromEntries(pairs.map(pair => pair.split(/=(.*)/s).slice(0, 2)))
}

function takenOver(platform: PlatformContext, chat: Chat, transaction: Transaction): string | boolean | null {
  if (chat.takeover === null) return null
  assumed(transaction, 'transcript.takenOver')
  const form = platform.knobs['transcript.takenOver']
  return form === 'null' ? null : form === 'true' ? true : isoMicros(chat.takeover.since)
}

/** In steps, because a chat may have tens of thousands of messages. */
export function* transcriptInSteps(
  platform: PlatformContext,
  chat: Chat,
  { answer, count, extra }: TranscriptOutline,
  transaction: Transaction,
): Generator<void, object> {
  const messages: MessageRecord[] = []
  for (const message of chat.messages.slice(0, count)) {
    assumed(transaction, ...assumedBy(message))
    messages.push(messageRecord(platform, message))
    yield
  }
  return { ...answer, chat: { ...answer.chat, messages, ...extra } }
}

export const messageRecord = ({ knobs }: PlatformContext, message: Message): MessageRecord => ({
  id: message.id,
  created: isoMicros(message.created),
  from_bot: message.from === 'bot' || (message.from === 'agent' && knobs['transcript.agentFromBot'] === 'on'),
  name: message.name,
  message: knobs['transcript.text'] === 'both' ? bothTexts(message) : message.text,
  buttons: [...message.buttons],
  exchange_id: message.exchangeId,
  exchange_type: message.exchangeId === null ? null : 'usersays',
})

/** The other side of a translation is on a line of its own. */
const bothTexts = ({ text, other }: Message): string => (other === null ? text : `${text}\n${other}`)

/** What the record of a message assumes. */
export function assumedBy({ from, exchangeId, other }: Message): readonly AssumptionName[] {
  const ofSender = from !== 'user' && exchangeId === null
  if (other === null) return ofSender ? ASSUMED.sender : ASSUMED.nothing
  return ofSender ? ASSUMED.both : ASSUMED.text
}

const ASSUMED = {
  nothing: [],
  sender: ['transcript.agentFromBot'],
  text: ['transcript.text'],
  both: ['transcript.agentFromBot', 'transcript.text'],
} satisfies Record<string, readonly AssumptionName[]>

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
