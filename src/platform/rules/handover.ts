/** Applies the calls of the agent to a chat: start, end, message and typing (ST6-ST16, E4-E8). */
import { formatValue } from '../../base/schemas/explain-issues.ts'
import { botTexts, noticeText } from '../contract/bot-texts.ts'
import { findUnknownForm } from '../contract/buttons.ts'
import type {
  ChatRequest,
  EndRequest,
  EndResponse,
  MessageRequest,
  MessageResponse,
  StartRequest,
  StartResponse,
  TypingResponse,
  TypingStartRequest,
} from '../contract/endpoints.ts'
import type { Sender } from '../contract/schemas.ts'
import type { ShownMessage } from '../journal/entry.ts'
import { isOpen } from './availability.ts'
import { addMessage, addNotice, botOf, emitTyping } from './chats.ts'
import { agentLanguage } from './engines.ts'
import { invalidParameter, Refusal } from './refusal.ts'
import type { Chat, PlatformContext } from './state.ts'
import { addFinding, assumed, note, type Transaction } from './state.ts'

const NOT_TAKEN_OVER = 'The chat is not taken over.'
const NO_BUTTONS: readonly never[] = []

const agentName = (chat: Chat, sender: Sender | null | undefined): string =>
  sender?.name ?? botTexts(chat.language).agent

const notice = (
  { knobs }: PlatformContext,
  name: 'entering' | 'left',
  chat: Chat,
  sender: Sender | null | undefined,
): string =>
  noticeText(knobs[`messages.${name}`], name, chat.language).replaceAll('{name}', () => agentName(chat, sender))

export function startHandover(
  platform: PlatformContext,
  chat: Chat,
  request: StartRequest,
  transaction: Transaction,
): StartResponse {
  mayStart(platform, chat, transaction)
  const sender = request.sender ?? null
  const wasThere = chat.status === 'agent'
  chat.status = 'agent'
  chat.takeover = {
    since: platform.stamp(),
    sender,
    supportsAttachment: request.supports_attachment ?? false,
    agentLanguage: agentLanguage(platform, chat, sender?.language_codes),
  }
  const { id } = addNotice(platform, chat, notice(platform, 'entering', chat, sender), transaction)
  note(transaction, wasThere ? 'takeover_replaced' : 'taken_over', chat.id, { by: sender?.name ?? null })
  return { event: 'TAKEOVER STARTED', chat_id: chat.id, chatmessage_id: id }
}

function mayStart(platform: PlatformContext, chat: Chat, transaction: Transaction): void {
  if (chat.status === 'agent') {
    assumed(transaction, 'start.again')
    if (platform.knobs['start.again'] === '409') throw conflict('The chat is already taken over.')
  }
  if (chat.status === 'bot') {
    assumed(transaction, 'start.unrequested')
    if (platform.knobs['start.unrequested'] === '409')
      throw conflict('The user has not requested a handover in this chat.')
  }
  if (isOpen(platform, botOf(platform, chat))) return
  assumed(transaction, 'availability.closedBlocksStart')
  if (platform.knobs['availability.closedBlocksStart'] === 'on') throw conflict('Handover is closed.')
}

const conflict = (message: string) => new Refusal('conflict', message)

export function endHandover(
  platform: PlatformContext,
  chat: Chat,
  request: EndRequest,
  transaction: Transaction,
): EndResponse {
  if (chat.status !== 'agent') return endIdle(platform, chat, transaction)
  clearTypingOn(platform, chat, 'end', transaction)
  const sender = request.sender ?? chat.takeover?.sender
  chat.status = 'bot'
  chat.takeover = null
  const { id } = addNotice(platform, chat, notice(platform, 'left', chat, sender), transaction)
  note(transaction, 'handed_back', chat.id, { by: sender?.name ?? null })
  return { event: 'TAKEOVER ENDED', chat_id: chat.id, chatmessage_id: id }
}

/** Answers `end` for a chat that is not taken over: a pending request stays pending, and the id is in no transcript. */
function endIdle(platform: PlatformContext, chat: Chat, transaction: Transaction): EndResponse {
  assumed(transaction, 'end.idle')
  if (platform.knobs['end.idle'] === '409') throw conflict(NOT_TAKEN_OVER)
  clearTypingOn(platform, chat, 'end', transaction)
  // The intermediary cannot know that a handover ended because the user left.
  if (chat.userLeft === null) addFinding(transaction, 'E5', 'end for a chat that is not taken over.')
  const id = platform.id(platform.knobs['ids.message'], `idle end ${chat.id} ${++chat.idleEnds}`)
  return { event: 'TAKEOVER ENDED', chat_id: chat.id, chatmessage_id: id }
}

/** `shown` is the text in the user's language (translated when live translation is on). */
export function sendMessage(
  platform: PlatformContext,
  chat: Chat,
  request: MessageRequest,
  shown: string,
  transaction: Transaction,
): MessageResponse {
  const sender = request.sender
  const message = addMessage(platform, chat, {
    from: 'agent',
    name: sender?.name ?? agentName(chat, chat.takeover?.sender),
    text: shown,
    other: shown === request.message ? null : request.message,
    buttons: request.buttons ?? NO_BUTTONS,
  })
  clearTypingOn(platform, chat, 'message', transaction)
  return { event: 'MESSAGE SENT TO USER', chat_id: chat.id, chatmessage_id: message.id }
}

/** What the user sees of a message that its call does not say; null for most messages. */
export function shownToUser(chat: Chat, { message, sender }: MessageRequest, shown: string): ShownMessage | null {
  const isNamed = typeof sender?.name === 'string'
  if (isNamed && shown === message) return null
  return {
    ...(shown === message ? {} : { text: shown }),
    ...(isNamed ? {} : { name: agentName(chat, chat.takeover?.sender) }),
  }
}

/** Refuses an invalid message before it is translated or added. */
export function checkMessage(
  platform: PlatformContext,
  chat: Chat,
  request: MessageRequest,
  transaction: Transaction,
): void {
  if (chat.status !== 'agent') {
    assumed(transaction, 'message.requiresTakeover')
    if (platform.knobs['message.requiresTakeover'] === 'on') throw conflict(NOT_TAKEN_OVER)
  }
  if (request.message === '') {
    assumed(transaction, 'message.allowEmpty')
    if (platform.knobs['message.allowEmpty'] === 'off') throw invalid(platform, 'message', 'message must not be empty.')
  }
  checkSender(platform, request, transaction)
  if (request.buttons !== undefined) checkButtons(platform, request, transaction)
}

const invalid = (platform: PlatformContext, field: string, message: string) =>
  invalidParameter(platform.knobs, message, { field })

/** A sender is expected on `message`, but it is not required (R-SENDER.3). */
function checkSender(platform: PlatformContext, request: MessageRequest, transaction: Transaction): void {
  const { sender } = request
  const missing = !sender
    ? 'sender'
    : sender.name === undefined
      ? 'sender.name'
      : sender.avatar === undefined
        ? 'sender.avatar'
        : null
  if (missing === null) return
  assumed(transaction, 'strict.sender')
  if (platform.knobs['strict.sender'] === 'on') throw invalid(platform, missing, `${missing} is expected on message.`)
  addFinding(transaction, 'R-SENDER.4', `${missing} is missing: the user cannot see whom the message comes from.`)
}

/** With `buttons.schema=strict`, every button is one that a known client shows. */
function checkButtons(platform: PlatformContext, request: MessageRequest, transaction: Transaction): void {
  assumed(transaction, 'buttons.schema')
  if (platform.knobs['buttons.schema'] === 'any') return
  assumed(transaction, 'buttons.form')
  const form = platform.knobs['buttons.form']
  request.buttons?.forEach((button, index) => {
    const problem = findUnknownForm(button, form)
    if (problem === null) return
    const field = `buttons[${index}].${problem.field}`
    const why = form === 'typed' ? "the platform's own clients show no other button" : 'the user sees only the label'
    const message = `${field} must be ${problem.expected}, got ${formatValue(button[problem.field])}: ${why} (buttons.schema=strict).`
    throw invalid(platform, field, message)
  })
}

const deadlineKey = (chat: Chat) => `typing ${chat.id}`

export function startTyping(
  platform: PlatformContext,
  chat: Chat,
  request: TypingStartRequest,
  transaction: Transaction,
): TypingResponse {
  if (chat.typing) assumed(transaction, 'typing.again')
  chat.typing = true
  // Replaces the deadline of the chat; without a timeout it has none.
  const { state, nowMs } = platform
  if (request.timeout === undefined) state.deadlines.delete(deadlineKey(chat))
  else state.deadlines.set(deadlineKey(chat), nowMs() + request.timeout, { kind: 'typing', chatId: chat.id })

  emitTyping(platform, chat, 'AGENT TYPING START', transaction)
  return typingResponse(platform, chat, 'AGENT TYPING START', transaction)
}

export function stopTyping(
  platform: PlatformContext,
  chat: Chat,
  _request: ChatRequest,
  transaction: Transaction,
): TypingResponse {
  clearTyping(platform, chat)
  emitTyping(platform, chat, 'AGENT TYPING STOP', transaction)
  return typingResponse(platform, chat, 'AGENT TYPING STOP', transaction)
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

function typingResponse(
  platform: PlatformContext,
  chat: Chat,
  event: string,
  transaction: Transaction,
): TypingResponse {
  assumed(transaction, 'typing.response')
  if (chat.status !== 'agent') assumed(transaction, 'typing.idle')
  return platform.knobs['typing.response'] === 'event' ? { event, chat_id: chat.id } : {}
}
