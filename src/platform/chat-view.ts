/** Shows a chat as its end user sees it. */
import type { Button } from '../contract/schemas.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import type { PlatformContext } from './context.ts'
import type { Chat, Message } from './state.ts'

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
  return { ...chatSummary(chat), messages: chat.messages.map(message => viewMessage(platform, message)) }
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

function viewMessage(platform: PlatformContext, message: Message): MessageView {
  return {
    id: message.id,
    from: message.from,
    name: message.name,
    text: message.text,
    ...(message.other === null ? {} : { original: message.other }),
    buttons: message.buttons,
    attachments: message.attachments.map(file => ({
      name: file.name,
      url: platform.links.file(file.id, file.name),
      type: file.type,
      size_kb: file.sizeKb,
    })),
    created: isoMicros(message.created),
  }
}
