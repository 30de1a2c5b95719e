/** Builds the payloads of webhook events and emits the events (EV1-EV9). */
import type { WebhookEventName } from '../contract/event-names.ts'
import type { MessageFromUser, WebhookEvent } from '../contract/events.ts'
import type { Attachment } from '../contract/schemas.ts'
import { botName, botOf } from './chats.ts'
import { EventRecord } from './event-record.ts'
import type { Chat, PlatformContext, StoredFile } from './state.ts'
import type { Transaction } from './transaction.ts'

function about(platform: PlatformContext, chat: Chat) {
  const bot = botOf(platform, chat)
  return {
    bot: { id: bot.id, name: botName(platform, chat) },
    chat: { _links: { self: platform.links.chat(chat.id) }, id: chat.id, language: chat.language, source: chat.source },
    user: { id: chat.userId },
  }
}

function emit(chat: Chat, payload: WebhookEvent, transaction: Transaction): EventRecord {
  const event = new EventRecord(chat, ++chat.counter, payload)
  transaction.effects.push(event)
  return event
}

/** Returns the delivery id. */
export const emitRequest = (platform: PlatformContext, chat: Chat, transaction: Transaction): string =>
  emit(chat, requestPayload(platform, chat), transaction).deliveryId

const requestPayload = (platform: PlatformContext, chat: Chat): WebhookEvent => ({
  event: 'REQUESTING TAKEOVER',
  ...about(platform, chat),
})

/** Returns the delivery id. */
export const emitUserMessage = (
  platform: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
  transaction: Transaction,
): string => emit(chat, messagePayload(platform, chat, text, files), transaction).deliveryId

function messagePayload(
  platform: PlatformContext,
  chat: Chat,
  text: string,
  files: readonly StoredFile[],
): MessageFromUser {
  const attachments = attachmentsOf(platform, chat, files)
  const payload: MessageFromUser = { event: 'MESSAGE FROM USER', ...about(platform, chat), message: text }
  return attachments === null ? payload : { ...payload, attachments }
}

/** The value of `attachments`; null, without the key, unless the handover was started with support for it (EV5, `attachments.whenEmpty`). */
function attachmentsOf(platform: PlatformContext, chat: Chat, files: readonly StoredFile[]): Attachment[] | null {
  if (chat.takeover?.supportsAttachment !== true) return null
  if (files.length === 0 && platform.knobs['attachments.whenEmpty'] === 'absent') return null
  return files.map(file => viewFile(platform, file))
}

export const viewFile = ({ links }: PlatformContext, { id, name, type, sizeKb }: StoredFile): Attachment => ({
  name,
  url: links.file(id, name),
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
export function payloadOf(platform: PlatformContext, chat: Chat, event: WebhookEventName): WebhookEvent {
  if (event === 'REQUESTING TAKEOVER') return requestPayload(platform, chat)
  if (event !== 'MESSAGE FROM USER') return { event, chat_id: chat.id }
  const last = chat.messages.findLast(({ from }) => from === 'user')
  return messagePayload(platform, chat, last?.other ?? last?.text ?? 'Hello', last?.attachments ?? [])
}
