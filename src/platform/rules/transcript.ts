/** Builds the records of a chat: the transcripts of the API (R-REC, R-MSG, E1, E9), and the view of its end user. */

import { isoMicros } from '../../base/runtime/clock.ts'
import { makeIdFrom } from '../../base/runtime/random.ts'
import { inOrder, readButton, writeButton } from '../contract/buttons.ts'
import type { ChatRequest, ChatResponse, TranscriptResponse } from '../contract/endpoints.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { Button, ChatRecord, MessageRecord } from '../contract/schemas.ts'
import { isOpen } from './availability.ts'
import { botName, botOf, viewFile } from './chats.ts'
import type { Chat, Message, PlatformContext } from './state.ts'
import { assumed, type Transaction } from './state.ts'

/** The record of a chat with all its messages (E9). */
export const chatTranscript = (platform: PlatformContext, chat: Chat, transaction: Transaction): ChatResponse => ({
  chat: createChatRecord(platform, chat, messagesOf(platform, chat, chat.messages.length, transaction), transaction),
})

/** The messages before the latest handover request; all messages without a request (E1.4). */
export function handoverTranscript(
  platform: PlatformContext,
  chat: Chat,
  _request: ChatRequest,
  transaction: Transaction,
): TranscriptResponse {
  assumed(transaction, 'transcript.handover')
  const messages = messagesOf(platform, chat, chat.requestedAt ?? chat.messages.length, transaction)
  return platform.knobs['transcript.handover'] === 'record'
    ? { event: 'TRANSCRIPT', chat: createChatRecord(platform, chat, messages, transaction) }
    : { event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: chat.botId, messages } }
}

/** The records of so many messages, from the first. */
function messagesOf({ knobs }: PlatformContext, chat: Chat, count: number, transaction: Transaction): MessageRecord[] {
  const records: MessageRecord[] = []
  const hasClientFields = knobs['transcript.extra'].includes('client')
  for (const [index, message] of chat.messages.slice(0, count).entries()) {
    const { id, from, exchangeId, text, other, record } = message
    const isNotice = from === 'bot' && exchangeId === null
    if (isNotice) assumed(transaction, 'transcript.noticeExchange')
    if (from === 'agent') assumed(transaction, 'transcript.agentFromBot')
    if (other !== null) assumed(transaction, 'transcript.text')
    const fromBot = from === 'bot' || (from === 'agent' && knobs['transcript.agentFromBot'] === 'on')
    // The other side of a translation is on a line of its own.
    const shown = knobs['transcript.text'] === 'both' && other !== null ? `${text}\n${other}` : text
    // Intermediaries read the transcript of a chat again and again.
    const exchange =
      isNotice && knobs['transcript.noticeExchange'] === 'on' ? noticeExchange(knobs, chat, id) : exchangeId
    const exchangeType = exchangeTypeOf(knobs, chat, index)
    if (exchangeType !== null) assumed(transaction, 'transcript.exchangeType')
    const hasForm = from === 'bot' && message.buttons.length > 0
    if (hasForm) assumed(transaction, 'buttons.form')
    const isCurrent =
      record?.from_bot === fromBot &&
      record.message === shown &&
      record.exchange_id === exchange &&
      record.exchange_type === exchangeType &&
      'sender' in record === hasClientFields &&
      (!hasForm || 'button_type' in record.buttons[0]! === (knobs['buttons.form'] === 'typed'))
    if (!isCurrent) {
      const buttons = Object.freeze([...buttonsOf(knobs, chat, message)]) as Button[]
      // Frozen, because responses in the journal share it.
      message.record = Object.freeze({
        id,
        created: isoMicros(message.created),
        from_bot: fromBot,
        name: message.name,
        message: shown,
        buttons,
        exchange_id: exchange,
        exchange_type: exchangeType,
        ...(hasClientFields ? { sender: isNotice ? 'system' : from, ...CLIENT_FIELDS } : null),
      })
    }
    records.push(message.record!)
  }
  return records
}

/** Drawn from the id of the notice, so that the knob can change at any time and no other id does. */
const noticeExchange = (knobs: Knobs, chat: Chat, messageId: string): string =>
  makeIdFrom(knobs['ids.exchange'], chat.words, `exchange ${messageId}`)

/** The buttons of the bot in the form of the platform. Those of an agent stay as they were sent. */
const buttonsOf = (knobs: Knobs, chat: Chat, { from, buttons }: Message): readonly Button[] =>
  from === 'bot'
    ? buttons.map((button, index) => writeButton(button, knobs['buttons.form'], index, chat.language))
    : buttons

/** Fields of a message in the platform's own clients that say nothing here; with `transcript.extra=client`, beside its sender. */
const CLIENT_FIELDS = {
  message_format: 'text',
  image_carousel: Object.freeze([]),
  video_source: null,
  reply_to_id: null,
  labels_triggered: Object.freeze([]),
  from_webhook: false,
  agent_joined: false,
  v: 1,
}

/** What kind of answer a message of the bot is (`transcript.exchangeType`); null for a message that belongs to no exchange. */
function exchangeTypeOf(knobs: Knobs, { messages }: Chat, index: number): string | null {
  const { exchangeId, buttons } = messages[index]!
  if (exchangeId === null) return null
  if (knobs['transcript.exchangeType'] === 'usersays') return 'usersays'
  const before = messages[index - 1]
  if (before === undefined) return 'greeting'
  if (buttons.some(({ handover }) => handover === true)) return 'fallback'
  return before.from === 'user' ? 'usersays' : 'dialogue'
}

function createChatRecord(
  platform: PlatformContext,
  chat: Chat,
  messages: MessageRecord[],
  transaction: Transaction,
): ChatRecord {
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
    messages,
    ...extraFields(platform),
  }
}

/** Looks a word up in a list of `word=value`. */
function paired(pairs: readonly string[], name: string): string | undefined {
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

function extraFields({ knobs }: PlatformContext): Record<string, string> | null {
  const pairs = knobs['transcript.extra'].filter(item => item.includes('='))
  return pairs.length === 0 ? null : Object.fromEntries(pairs.map(pair => pair.split(/=(.*)/s).slice(0, 2)))
}

function takenOver(platform: PlatformContext, chat: Chat, transaction: Transaction): string | boolean | null {
  if (chat.takeover === null) return null
  assumed(transaction, 'transcript.takenOver')
  const form = platform.knobs['transcript.takenOver']
  return form === 'null' ? null : form === 'true' ? true : isoMicros(chat.takeover.since)
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

/**
 * The buttons of a message that the user sees, in their order. While handover is closed, a button can be hidden: one that says
 * so (`hide_outside_business_hours`), and the bot's own one that asks for an agent (`request.closedButton`).
 */
export function shownButtons(platform: PlatformContext, chat: Chat, { from, buttons }: Message): readonly Button[] {
  const form = platform.knobs['buttons.form']
  if (buttons.length === 0 || isOpen(platform, botOf(platform, chat))) return inOrder(buttons, form)
  const isHidden = (button: Button) => {
    const { kind, hidesWhileClosed } = readButton(button, form)
    return hidesWhileClosed || (from === 'bot' && kind === 'handover' && hidesRequests(platform))
  }
  return inOrder(
    buttons.filter(button => !isHidden(button)),
    form,
  )
}

export const hidesRequests = ({ knobs }: PlatformContext): boolean => knobs['request.closedButton'] === 'hidden'

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
  return { ...chatSummary(chat), messages: chat.messages.map(message => viewMessage(platform, chat, message)) }
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

export function viewMessage(platform: PlatformContext, chat: Chat, message: Message): MessageView {
  return {
    id: message.id,
    from: message.from,
    name: message.name,
    text: message.text,
    ...(message.other === null ? {} : { original: message.other }),
    buttons: shownButtons(platform, chat, message),
    attachments: message.attachments.map(file => viewFile(platform, file)),
    created: isoMicros(message.created),
  }
}
