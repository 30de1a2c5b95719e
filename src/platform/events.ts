/** The payloads the webhook gets (EV1-EV9). */
import type { MessageFromUser, WebhookEvent, WebhookEventName } from '../contract/events.ts'
import type { Attachment } from '../contract/schemas.ts'
import { botOf, nextId } from './chats.ts'
import type { PlatformContext } from './context.ts'
import type { Chat, StoredFile } from './state.ts'
import { emit, type Tx } from './transaction.ts'

function about(room: PlatformContext, chat: Chat) {
  const bot = botOf(room, chat)
  return {
    bot: { id: bot.id, name: bot.name },
    chat: { _links: { self: room.links.chat(chat.id) }, id: chat.id, language: chat.language, source: chat.source },
    user: { id: chat.userId },
  }
}

/** Delivery ids are ours alone: the control API and the journal use them, payloads do not (`webhook.idHeader`). */
const deliveryId = (chat: Chat): string => nextId(chat, 'uuid', 'delivery')

export function emitRequest(room: PlatformContext, chat: Chat, tx: Tx): string {
  const id = deliveryId(chat)
  emit(tx, chat.id, id, requestPayload(room, chat))
  return id
}

const requestPayload = (room: PlatformContext, chat: Chat): WebhookEvent => ({
  event: 'REQUESTING TAKEOVER',
  ...about(room, chat),
})

export function emitUserMessage(
  room: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
  tx: Tx,
): string {
  const id = deliveryId(chat)
  emit(tx, chat.id, id, messagePayload(room, chat, text, files))
  return id
}

function messagePayload(
  room: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
): MessageFromUser {
  const attachments = announcedFiles(room, chat, files)
  const payload: MessageFromUser = { event: 'MESSAGE FROM USER', ...about(room, chat), message: text }
  return attachments === null ? payload : { ...payload, attachments }
}

/** The key `attachments` is there only when the handover was started with support for it (EV5, `attachments.whenEmpty`). */
function announcedFiles(room: PlatformContext, chat: Chat, files: readonly StoredFile[]): Attachment[] | null {
  if (chat.takeover?.supportsAttachment !== true) return null
  if (files.length === 0 && room.knobs['attachments.whenEmpty'] === 'absent') return null
  return files.map(file => ({
    name: file.name,
    url: room.links.file(file.id, file.name),
    type: file.type,
    size_kb: file.sizeKb,
  }))
}

export function emitTyping(
  room: PlatformContext,
  chat: Chat,
  event: 'AGENT TYPING START' | 'AGENT TYPING STOP',
  tx: Tx,
): void {
  if (room.knobs['typing.webhook'] === 'off') return
  emit(tx, chat.id, deliveryId(chat), { event, chat_id: chat.id })
}

/** What the platform would send of this chat as it stands; for a message, the latest the user wrote. Changes nothing. */
export function payloadOf(room: PlatformContext, chat: Chat, event: WebhookEventName): WebhookEvent {
  if (event === 'REQUESTING TAKEOVER') return requestPayload(room, chat)
  if (event !== 'MESSAGE FROM USER') return { event, chat_id: chat.id }
  const said = chat.messages.findLast(({ from }) => from === 'user')
  return messagePayload(room, chat, said === undefined ? 'Hello' : (said.other ?? said.text), said?.attachments ?? [])
}
