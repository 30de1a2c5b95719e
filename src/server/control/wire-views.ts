/** Converts views of the library, which are camelCase, to the JSON of the control API. */
import type { ChatView } from '../../platform/transcript.ts'
import type { Ack } from '../../simulator/chat-handle.ts'

export const wireAck = ({ status, durationMs, error }: Ack) => ({
  status,
  duration_ms: durationMs,
  ...(error === undefined ? {} : { error }),
})

export const wireSummary = ({ chatId, userId, botId, ...rest }: Omit<ChatView, 'messages'>) => ({
  chat_id: chatId,
  user_id: userId,
  bot_id: botId,
  ...rest,
})

export const wireChat = ({ messages, ...summary }: ChatView) => ({ ...wireSummary(summary), messages })
