/** The typing indicator in the user's window (E7, E8). */
import type { ChatRequest, TypingResponse, TypingStartRequest } from '../contract/requests.ts'
import type { PlatformContext } from './context.ts'
import { emitTyping } from './events.ts'
import type { Chat } from './state.ts'
import { assumed, note, type Tx } from './transaction.ts'

const deadlineKey = (chat: Chat) => `typing ${chat.id}`

export function startTyping(room: PlatformContext, chat: Chat, request: TypingStartRequest, tx: Tx): TypingResponse {
  if (chat.typing) assumed(tx, 'typing.again')
  chat.typing = true
  room.state.deadlines.delete(deadlineKey(chat))
  if (request.timeout !== undefined) {
    room.state.deadlines.set(deadlineKey(chat), room.nowMs() + request.timeout, { kind: 'typing', chatId: chat.id })
  }
  emitTyping(room, chat, 'AGENT TYPING START', tx)
  return typingAnswer(room, chat, 'AGENT TYPING START', tx)
}

export function stopTyping(room: PlatformContext, chat: Chat, _request: ChatRequest, tx: Tx): TypingResponse {
  clearTyping(room, chat)
  emitTyping(room, chat, 'AGENT TYPING STOP', tx)
  return typingAnswer(room, chat, 'AGENT TYPING STOP', tx)
}

/** The time given with typing_start has passed (L5). */
export function typingTimedOut(room: PlatformContext, chat: Chat, tx: Tx): void {
  if (!chat.typing) return
  clearTyping(room, chat)
  note(tx, 'typing_hidden', chat.id, { why: 'timeout' })
  emitTyping(room, chat, 'AGENT TYPING STOP', tx)
}

/** What `typing.clearOn` lists hides the indicator without an event of its own. */
export function clearTypingOn(room: PlatformContext, chat: Chat, cause: 'end' | 'message', tx: Tx): void {
  if (!chat.typing || !room.knobs['typing.clearOn'].includes(cause)) return
  clearTyping(room, chat)
  note(tx, 'typing_hidden', chat.id, { why: cause })
}

function clearTyping(room: PlatformContext, chat: Chat): void {
  chat.typing = false
  room.state.deadlines.delete(deadlineKey(chat))
}

function typingAnswer(room: PlatformContext, chat: Chat, event: string, tx: Tx): TypingResponse {
  assumed(tx, 'typing.response')
  if (chat.status !== 'agent') assumed(tx, 'typing.idle')
  return room.knobs['typing.response'] === 'event' ? { event, chat_id: chat.id } : {}
}
