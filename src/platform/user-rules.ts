/** Applies the rules of user messages and button presses to a chat (ST2-ST5, ST11-ST12). */
import type { Button } from '../contract/schemas.ts'
import { isOpen } from './availability.ts'
import { answerUser, handoverLabel } from './bot.ts'
import { addMessage, addNotice, botOf, userName } from './chats.ts'
import type { PlatformContext } from './context.ts'
import { emitRequest, emitUserMessage } from './events.ts'
import type { Chat, StoredFile } from './state.ts'
import type { Transaction } from './transaction.ts'

/** The results of a user action: the id of the message it added and of the delivery it caused. */
export interface UserOutcome {
  readonly messageId: string | null
  readonly deliveryId: string | null
}

export interface UserMessage {
  readonly text: string
  readonly files: readonly StoredFile[]
  /** The text for the agent, translated when live translation is on. */
  readonly forAgent: string
}

export function userSays(
  platform: PlatformContext,
  chat: Chat,
  { text, files, forAgent }: UserMessage,
  transaction: Transaction,
): UserOutcome {
  const other = forAgent === text ? null : forAgent
  const message = addMessage(platform, chat, { from: 'user', name: userName(chat), text, other, attachments: files })
  const forwarded =
    chat.status === 'agent' || (chat.status === 'pending' && platform.knobs['request.forwardPending'] === 'on')
  const deliveryId = forwarded ? emitUserMessage(platform, chat, forAgent, files, transaction) : null
  if (chat.status !== 'agent') answerUser(platform, chat, text, transaction)
  return { messageId: message.id, deliveryId }
}

/** The buttons that the user can press, newest first, each label once. */
export function visibleButtons(chat: Chat): Button[] {
  const seen = new Map<string, Button>()
  for (const message of [...chat.messages].reverse()) {
    for (const button of message.buttons) {
      if (button.label !== undefined && !seen.has(button.label)) seen.set(button.label, button)
    }
  }
  return [...seen.values()]
}

export type ButtonPress =
  | { readonly kind: 'handover'; readonly label: string }
  | { readonly kind: 'link'; readonly label: string; readonly url: string }
  | { readonly kind: 'says'; readonly label: string }

/** Finds the button with a label; null when it is not visible. `handover` can always be pressed. */
export function findPress(chat: Chat, wanted: string): ButtonPress | null {
  const buttons = visibleButtons(chat)
  if (wanted === 'handover') {
    const label = buttons.find(button => button.handover === true)?.label
    return { kind: 'handover', label: label ?? handoverLabel(chat.language) }
  }
  const button = buttons.find(candidate => candidate.label === wanted)
  if (button === undefined) return null
  if (button.handover === true) return { kind: 'handover', label: wanted }
  return button.url === undefined ? { kind: 'says', label: wanted } : { kind: 'link', label: wanted, url: button.url }
}

/** ST4, ST5, ST22, ST23; a press that repeats a request follows `request.repeat`. */
export function requestHandover(platform: PlatformContext, chat: Chat, transaction: Transaction): UserOutcome {
  if (chat.status !== 'bot' && platform.knobs['request.repeat'] === 'ignore')
    return { messageId: null, deliveryId: null }
  if (!isOpen(platform, botOf(platform, chat))) return sayClosed(platform, chat, transaction)
  chat.requestedAt = chat.messages.length
  if (chat.status === 'agent') return { messageId: null, deliveryId: emitRequest(platform, chat, transaction) }
  chat.status = 'pending'
  const notice = addNotice(platform, chat, platform.knobs['messages.open'], transaction)
  return { messageId: notice.id, deliveryId: emitRequest(platform, chat, transaction) }
}

function sayClosed(platform: PlatformContext, chat: Chat, transaction: Transaction): UserOutcome {
  if (chat.status === 'agent') return { messageId: null, deliveryId: null }
  return { messageId: addNotice(platform, chat, platform.knobs['messages.closed'], transaction).id, deliveryId: null }
}
