/** Which lane a chat is, as the journal tells it. */
import type { Entry } from '../journal/entry.ts'

/** By chat id; null for chats the scenario did not open. */
export type ConversationOf = (chatId: string | undefined) => string | null

export function conversationsIn(entries: readonly Entry[]): ConversationOf {
  const conversations = new Map<string | undefined, string>()
  for (const entry of entries) {
    if (entry.kind === 'note' && entry.note === 'conversation')
      conversations.set(entry.chat_id, String(entry.conversation))
  }
  return chatId => conversations.get(chatId) ?? null
}
