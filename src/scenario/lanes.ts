/** Which lane a chat is, as the journal tells it. */
import type { Entry } from '../journal/entry.ts'

/** By chat id; null for chats the scenario did not open. */
export type LaneOf = (chatId: string | undefined) => string | null

export function lanesIn(entries: readonly Entry[]): LaneOf {
  const lanes = new Map<string | undefined, string>()
  for (const entry of entries) {
    if (entry.kind === 'note' && entry.note === 'lane') lanes.set(entry.chat_id, String(entry.lane))
  }
  return chatId => lanes.get(chatId) ?? null
}
