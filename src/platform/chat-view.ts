/** A chat as its end user sees it: what the control API and the library show. */
import type { Button } from '../contract/schemas.ts'
import { isoMicros } from '../runtime/timestamps.ts'
import type { PlatformContext } from './context.ts'
import type { Chat, Message } from './state.ts'

export interface AttachmentView {
  readonly name: string
  readonly url: string
  readonly type: string
  readonly size_kb: number
}

export interface MessageView {
  readonly id: string
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  readonly text: string
  /** The other side of a live translation. */
  readonly original?: string
  readonly buttons: readonly Button[]
  readonly attachments: readonly AttachmentView[]
  readonly created: string
}

export interface ChatView {
  readonly chat_id: string
  readonly user_id: string
  readonly bot_id: number
  readonly language: string
  readonly source: string
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  readonly active: boolean
  readonly messages: readonly MessageView[]
}

export function viewChat(platform: PlatformContext, chat: Chat): ChatView {
  return { ...chatSummary(chat), messages: chat.messages.map(message => viewMessage(platform, message)) }
}

export const chatSummary = (chat: Chat): Omit<ChatView, 'messages'> => ({
  chat_id: chat.id,
  user_id: chat.userId,
  bot_id: chat.botId,
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
