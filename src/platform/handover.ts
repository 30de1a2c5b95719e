/** Start, end and messages of a handover (ST6-ST16, E4-E6). */
import type {
  EndRequest,
  EndResponse,
  MessageRequest,
  MessageResponse,
  StartRequest,
  StartResponse,
} from '../contract/requests.ts'
import type { Sender } from '../contract/schemas.ts'
import { isOpen } from './availability.ts'
import { addMessage, addNotice, botOf } from './chats.ts'
import type { PlatformContext } from './context.ts'
import { invalidParameter, Refusal } from './refusal.ts'
import type { Chat } from './state.ts'
import { assumed, find, note, type Tx } from './transaction.ts'
import { agentLanguage } from './translation.ts'
import { clearTypingOn } from './typing.ts'

const AGENT = 'An agent'
const named = (template: string, sender: Sender | null | undefined): string =>
  template.replaceAll('{name}', () => sender?.name ?? AGENT)

export function startHandover(room: PlatformContext, chat: Chat, request: StartRequest, tx: Tx): StartResponse {
  mayStart(room, chat, tx)
  const sender = request.sender ?? null
  const wasThere = chat.status === 'agent'
  chat.status = 'agent'
  chat.takeover = {
    since: room.stamp(),
    sender,
    supportsAttachment: request.supports_attachment ?? false,
    agentLanguage: agentLanguage(room, chat, sender?.language_codes),
  }
  const notice = addNotice(room, chat, named(room.knobs['messages.entering'], sender), tx)
  note(tx, wasThere ? 'takeover_replaced' : 'taken_over', chat.id, { by: sender?.name ?? null })
  return { event: 'TAKEOVER STARTED', chat_id: chat.id, chatmessage_id: notice.id }
}

function mayStart(room: PlatformContext, chat: Chat, tx: Tx): void {
  if (chat.status === 'agent') {
    assumed(tx, 'start.again')
    if (room.knobs['start.again'] === '409') throw conflict('The chat is already taken over.')
  }
  if (chat.status === 'bot') {
    assumed(tx, 'start.unrequested')
    if (room.knobs['start.unrequested'] === '409') throw conflict('Nobody requested a handover in this chat.')
  }
  if (isOpen(room, botOf(room, chat))) return
  assumed(tx, 'availability.closedBlocksStart')
  if (room.knobs['availability.closedBlocksStart'] === 'on') throw conflict('Handover is closed.')
}

const conflict = (message: string) => new Refusal('conflict', message)

export function endHandover(room: PlatformContext, chat: Chat, request: EndRequest, tx: Tx): EndResponse {
  if (chat.status !== 'agent') return endIdle(room, chat, tx)
  clearTypingOn(room, chat, 'end', tx)
  const sender = request.sender ?? chat.takeover?.sender
  chat.status = 'bot'
  chat.takeover = null
  const notice = addNotice(room, chat, named(room.knobs['messages.left'], sender), tx)
  note(tx, 'handed_back', chat.id, { by: sender?.name ?? null })
  return { event: 'TAKEOVER ENDED', chat_id: chat.id, chatmessage_id: notice.id }
}

/** Answers an end with nothing to end: a waiting request goes on waiting, and the id is in no transcript. */
function endIdle(room: PlatformContext, chat: Chat, tx: Tx): EndResponse {
  assumed(tx, 'end.idle')
  if (room.knobs['end.idle'] === '409') throw conflict('The chat is not taken over.')
  clearTypingOn(room, chat, 'end', tx)
  find(tx, 'E5', 'end for a chat that is not taken over.')
  const id = room.id(room.knobs['ids.message'], `idle end ${chat.id} ${++chat.idleEnds}`)
  return { event: 'TAKEOVER ENDED', chat_id: chat.id, chatmessage_id: id }
}

/** `shown` is the text in the user's language (translated when live translation is on). */
export function sendMessage(
  room: PlatformContext,
  chat: Chat,
  request: MessageRequest,
  shown: string,
  tx: Tx,
): MessageResponse {
  const sender = request.sender
  const message = addMessage(room, chat, {
    from: 'agent',
    name: sender?.name ?? chat.takeover?.sender?.name ?? AGENT,
    text: shown,
    other: shown === request.message ? null : request.message,
    buttons: request.buttons ?? [],
  })
  clearTypingOn(room, chat, 'message', tx)
  return { event: 'MESSAGE SENT TO USER', chat_id: chat.id, chatmessage_id: message.id }
}

/** What is judged before anything is translated or written. */
export function checkMessage(room: PlatformContext, chat: Chat, request: MessageRequest, tx: Tx): void {
  if (chat.status !== 'agent') {
    assumed(tx, 'message.requiresTakeover')
    if (room.knobs['message.requiresTakeover'] === 'on') throw conflict('The chat is not taken over.')
  }
  if (request.message === '') {
    assumed(tx, 'message.allowEmpty')
    if (room.knobs['message.allowEmpty'] === 'off') throw invalid(room, 'message', 'message must not be empty.')
  }
  checkSender(room, request, tx)
  if (request.buttons !== undefined) checkButtons(room, request, tx)
}

const invalid = (room: PlatformContext, field: string, message: string) =>
  invalidParameter(room.knobs, message, { field })

/** A sender is expected on message, though nothing calls it required. */
function checkSender(room: PlatformContext, request: MessageRequest, tx: Tx): void {
  const { sender } = request
  const missing = !sender
    ? 'sender'
    : sender.name === undefined
      ? 'sender.name'
      : sender.avatar === undefined
        ? 'sender.avatar'
        : null
  if (missing === null) return
  assumed(tx, 'strict.sender')
  if (room.knobs['strict.sender'] === 'on') throw invalid(room, missing, `${missing} is expected on message.`)
  find(tx, 'R-SENDER.4', `${missing} is missing: the user cannot see whom the message comes from.`)
}

/** The strict form of `buttons.schema` wants a label, and text fields that are text. */
function checkButtons(room: PlatformContext, request: MessageRequest, tx: Tx): void {
  assumed(tx, 'buttons.schema')
  if (room.knobs['buttons.schema'] === 'any') return
  request.buttons?.forEach((button, index) => {
    if (!button.label) throw invalid(room, `buttons[${index}].label`, `buttons[${index}].label must be a text.`)
  })
}
