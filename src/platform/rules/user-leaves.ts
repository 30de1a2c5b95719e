/** Lets the user leave a chat: close it or delete its log, and come back. Says what calls for such a chat get (`chat.closed`, `chat.deleted`). */
import { dropMessages } from './chats.ts'
import { clearTypingOn } from './handover.ts'
import { Refusal } from './refusal.ts'
import { assumed, type Chat, note, type PlatformContext, type Transaction } from './state.ts'

/** Does nothing when the chat is as the act leaves it. */
export function leaveChat(
  platform: PlatformContext,
  chat: Chat,
  how: 'closed' | 'deleted',
  transaction: Transaction,
): void {
  if (chat.userLeft === how || chat.userLeft === 'deleted') return
  chat.userLeft = how
  chat.active = false
  platform.state.deadlines.delete(`idle ${chat.id}`)
  if (how === 'deleted') dropMessages(platform, chat)
  const isEnded = chat.status !== 'bot' && endsHandover(platform, how)
  const handover = chat.status === 'bot' ? 'none' : isEnded ? 'ended' : 'kept'
  if (isEnded) {
    clearTypingOn(platform, chat, 'end', transaction)
    chat.status = 'bot'
    chat.takeover = null
  }
  note(transaction, 'chat_ended', chat.id, { why: how, handover })
}

/** A call that refuses `end` must leave no handover behind, because nobody could end it. */
const endsHandover = ({ knobs }: PlatformContext, how: 'closed' | 'deleted'): boolean =>
  knobs['chat.closed'] !== 'kept' || (how === 'deleted' && knobs['chat.deleted'] === '404')

/** Whether a user who has left comes back by writing or pressing in the chat (`chat.reopens`). */
export function comeBack({ knobs }: PlatformContext, chat: Chat, transaction: Transaction): boolean {
  if (knobs['chat.reopens'] === 'off') return false
  chat.userLeft = null
  chat.active = true
  note(transaction, 'chat_reopened', chat.id)
  return true
}

/** Refuses a call for a chat whose user has left, when the platform would. Reads of a closed chat are answered. */
export function requirePresence(
  { knobs }: PlatformContext,
  chat: Chat,
  isRead: boolean,
  transaction: Transaction,
  field = 'chat_id',
): void {
  const isGone = chat.userLeft === 'deleted' && knobs['chat.deleted'] === '404'
  const open = chat.userLeft === 'deleted' && (isGone || isRead) ? 'chat.deleted' : 'chat.closed'
  assumed(transaction, open)
  if (!isGone && (isRead || knobs['chat.closed'] !== '404')) return
  const done = chat.userLeft === 'deleted' ? 'has deleted' : 'has closed'
  const message = `The user ${done} the chat ${JSON.stringify(chat.id)}.`
  throw new Refusal('user_left', message, { field })
}
