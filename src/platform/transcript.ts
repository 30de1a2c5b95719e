/** A chat as the transcript endpoints show it (R-REC, R-MSG, E1, E9). */
import type { ChatResponse, TranscriptResponse } from '../contract/requests.ts'
import type { ChatRecord, MessageRecord } from '../contract/schemas.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import { botOf } from './chats.ts'
import type { PlatformContext } from './context.ts'
import type { Chat, Message } from './state.ts'
import { assumed, type Tx } from './transaction.ts'

export function chatTranscript(room: PlatformContext, chat: Chat, tx: Tx): ChatResponse {
  return { chat: record(room, chat, chat.messages, tx) }
}

/** The conversation before the latest handover request, all of it when there was none. */
export function handoverTranscript(room: PlatformContext, chat: Chat, tx: Tx): TranscriptResponse {
  assumed(tx, 'transcript.handover')
  const messages = chat.messages.slice(0, chat.requestedAt ?? chat.messages.length)
  if (room.knobs['transcript.handover'] === 'record') {
    return { event: 'TRANSCRIPT', chat: record(room, chat, messages, tx) }
  }
  const rows = messages.map(message => messageRecord(room, message, tx))
  return { event: 'TRANSCRIPT', chat: { id: chat.id, bot_id: chat.botId, messages: rows } }
}

function record(room: PlatformContext, chat: Chat, messages: readonly Message[], tx: Tx): ChatRecord {
  assumed(tx, 'transcript.state', 'transcript.source')
  const bot = botOf(room, chat)
  return {
    active: chat.active,
    bot_id: chat.botId,
    organization_id: bot.organizationId,
    bot_name: bot.name,
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
    source: paired(room.knobs['transcript.source'], chat.source) ?? chat.source,
    state: paired(room.knobs['transcript.state'], chat.status) ?? 'chatting',
    taken_over: takenOver(room, chat, tx),
    updated: isoMicros(chat.updated),
    messages: messages.map(message => messageRecord(room, message, tx)),
    ...extraFields(room),
  }
}

/** Looks a word up in a list of `word=value`. */
function paired(pairs: readonly string[], name: string): string | undefined {
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

function extraFields(room: PlatformContext): Record<string, string> {
  return Object.fromEntries(room.knobs['transcript.extra'].map(pair => pair.split(/=(.*)/s).slice(0, 2)))
}

function takenOver(room: PlatformContext, chat: Chat, tx: Tx): string | boolean | null {
  if (chat.takeover === null) return null
  assumed(tx, 'transcript.takenOver')
  const form = room.knobs['transcript.takenOver']
  return form === 'null' ? null : form === 'true' ? true : isoMicros(chat.takeover.since)
}

function messageRecord(room: PlatformContext, message: Message, tx: Tx): MessageRecord {
  if (message.from !== 'user' && message.exchangeId === null) assumed(tx, 'transcript.agentFromBot')
  if (message.other !== null) assumed(tx, 'transcript.text')
  return {
    id: message.id,
    created: isoMicros(message.created),
    from_bot: message.from === 'bot' || (message.from === 'agent' && room.knobs['transcript.agentFromBot'] === 'on'),
    name: message.name,
    message: transcriptText(room, message),
    buttons: [...message.buttons],
    exchange_id: message.exchangeId,
    exchange_type: message.exchangeId === null ? null : 'usersays',
  }
}

/** With `transcript.text` set to `both`, adds the other side of a translation on a line of its own. */
function transcriptText(room: PlatformContext, message: Message): string {
  const both = message.other !== null && room.knobs['transcript.text'] === 'both'
  return both ? `${message.text}\n${message.other}` : message.text
}
