/** Shows and hides the typing indicator of a chat (E7, E8). */
import type { ChatRequest, TypingResponse, TypingStartRequest } from '../contract/endpoints.ts'
import type { PlatformContext } from './context.ts'
import { emitTyping } from './events.ts'
import type { Chat } from './state.ts'
import { assumed, note, type Transaction } from './transaction.ts'

const deadlineKey = (chat: Chat) => `typing ${chat.id}`

export function startTyping(
  platform: PlatformContext,
  chat: Chat,
  request: TypingStartRequest,
  transaction: Transaction,
): TypingResponse {
  if (chat.typing) assumed(transaction, 'typing.again')
  chat.typing = true
  platform.state.deadlines.delete(deadlineKey(chat))
  if (request.timeout !== undefined) {
    platform.state.deadlines.set(deadlineKey(chat), platform.nowMs() + request.timeout, {
      kind: 'typing',
      chatId: chat.id,
    })
  }
  emitTyping(platform, chat, 'AGENT TYPING START', transaction)
  return typingAnswer(platform, chat, 'AGENT TYPING START', transaction)
}

export function stopTyping(
  platform: PlatformContext,
  chat: Chat,
  _request: ChatRequest,
  transaction: Transaction,
): TypingResponse {
  clearTyping(platform, chat)
  emitTyping(platform, chat, 'AGENT TYPING STOP', transaction)
  return typingAnswer(platform, chat, 'AGENT TYPING STOP', transaction)
}

/** Hides the indicator when the timeout of typing_start has elapsed (E7.4, L5). */
export function typingTimedOut(platform: PlatformContext, chat: Chat, transaction: Transaction): void {
  if (!chat.typing) return
  clearTyping(platform, chat)
  note(transaction, 'typing_hidden', chat.id, { why: 'timeout' })
  emitTyping(platform, chat, 'AGENT TYPING STOP', transaction)
}

/** Hides the indicator for the causes that `typing.clearOn` lists; this emits no event. */
export function clearTypingOn(
  platform: PlatformContext,
  chat: Chat,
  cause: 'end' | 'message',
  transaction: Transaction,
): void {
  if (!chat.typing || !platform.knobs['typing.clearOn'].includes(cause)) return
  clearTyping(platform, chat)
  note(transaction, 'typing_hidden', chat.id, { why: cause })
}

function clearTyping(platform: PlatformContext, chat: Chat): void {
  chat.typing = false
  platform.state.deadlines.delete(deadlineKey(chat))
}

function typingAnswer(platform: PlatformContext, chat: Chat, event: string, transaction: Transaction): TypingResponse {
  assumed(transaction, 'typing.response')
  if (chat.status !== 'agent') assumed(transaction, 'typing.idle')
  return platform.knobs['typing.response'] === 'event' ? { event, chat_id: chat.id } : {}
}
