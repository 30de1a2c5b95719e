/** Performs the actions of the end user (ST2-ST5, ST11-ST12): in order per chat, with one journal entry each. */

import { type Awaitable, andThen, type InOrder } from '../../base/runtime/activity.ts'
import { suggest } from '../../base/text/error-text.ts'
import { botTexts, noticeText } from '../contract/bot-texts.ts'
import { type ReadButton, readButton } from '../contract/buttons.ts'
import type { Button } from '../contract/schemas.ts'
import type { UserContent } from '../journal/entry.ts'
import { isOpen } from './availability.ts'
import { addBotReply, addMessage, addNotice, botOf, emitRequest, emitUserMessage, userName, viewFile } from './chats.ts'
import { type Engines, toAgent, translated } from './engines.ts'
import { checkFile, type NewFile, storeFile } from './files.ts'
import { Refusal } from './refusal.ts'
import type { BotReply, Chat, PlatformContext, StoredFile } from './state.ts'
import { createTransaction, type Effect, note, type Transaction } from './state.ts'
import { hidesRequests, shownButtons } from './transcript.ts'
import { comeBack, leaveChat } from './user-leaves.ts'

export interface UserPorts {
  readonly platform: PlatformContext
  readonly engines: Engines
  readonly inOrder: InOrder
  commit(action: UserContent, effects: readonly Effect[]): void
  /** A number that grows with every reset. */
  readonly epoch: { readonly count: number }
  /** Registers asynchronous work; call the returned function when it has ended. */
  inFlight(): () => void
}

export interface UserInput {
  readonly text: string
  readonly attach?: readonly NewFile[]
}

export interface UserActions {
  says(chatId: string, input: UserInput): Awaitable<UserOutcome>
  press(chatId: string, button: string): Awaitable<UserOutcome>
  closes(chatId: string): Awaitable<UserOutcome>
  /** Deletes the log of the chat, and closes it. */
  deletes(chatId: string): Awaitable<UserOutcome>
}

/** The action is not possible; `code` is an error code of the control API. */
export class UserProblem extends Error {
  override readonly name = 'UserProblem'
  readonly code: 'chat_not_found' | 'unknown_button' | 'inactive_button' | 'invalid_message'
  constructor(code: UserProblem['code'], message: string) {
    super(message)
    this.code = code
  }
}

export function createUserActions(ports: UserPorts): UserActions {
  const { platform } = ports

  function chatOf(id: string): Chat {
    const chat = platform.state.chats.get(id)
    if (chat === undefined) throw new UserProblem('chat_not_found', `There is no chat ${JSON.stringify(id)}.`)
    return chat
  }

  /** Runs one action of a chat at a time. After a reset `check` throws, so that no action reaches a chat created later. */
  function inTurn(chatId: string, run: (check: () => void) => Awaitable<UserOutcome>): Awaitable<UserOutcome> {
    const epoch = ports.epoch.count
    const check = () => {
      if (ports.epoch.count !== epoch) throw new Error('The simulator was reset while the user acted.')
    }
    const outcome = ports.inOrder(chatId, () => {
      check()
      return run(check)
    })
    return outcome instanceof Promise ? counted(outcome) : outcome
  }

  async function counted(outcome: Promise<UserOutcome>): Promise<UserOutcome> {
    const ended = ports.inFlight()
    try {
      return await outcome
    } finally {
      ended()
    }
  }

  function says(chatId: string, input: UserInput): Awaitable<UserOutcome> {
    chatOf(chatId)
    checkMessage(input)
    return inTurn(chatId, check => {
      const chat = chatOf(chatId)
      const isTranslated = (chat.takeover?.agentLanguage ?? null) !== null
      const forAgent = isTranslated ? translated(ports.engines, toAgent(chat, input.text), input.text) : input.text
      return andThen(forAgent, text => {
        check()
        return write(chat, input, text)
      })
    })
  }

  function write(chat: Chat, input: UserInput, forAgent: string): UserOutcome {
    const transaction = createTransaction()
    if (chat.userLeft !== null && !comeBack(platform, chat, transaction)) return lose(chat, input)
    const files = storeAll(platform, chat, input.attach ?? [])
    const outcome = userSays(platform, chat, { text: input.text, files, forAgent }, transaction)
    const content = {
      kind: 'user',
      chat_id: chat.id,
      action: 'message',
      text: input.text,
      ...(forAgent === input.text ? {} : { text_for_agent: forAgent }),
      message_id: outcome.messageId,
      ...(files.length === 0 ? {} : { attachments: files.map(file => viewFile(platform, file)) }),
    } as const
    ports.commit(content, transaction.effects)
    return outcome
  }

  function press(chatId: string, wanted: string): Awaitable<UserOutcome> {
    const button = findPress(platform, chatOf(chatId), wanted)
    if (button.kind === 'quick_reply') return says(chatId, { text: button.value })
    return inTurn(chatId, () => {
      const chat = chatOf(chatId)
      const transaction = createTransaction()
      const isRequest = button.kind === 'handover'
      if (!isRequest) note(transaction, 'link_opened', chat.id, { url: button.value })
      const outcome =
        isRequest && (chat.userLeft === null || comeBack(platform, chat, transaction))
          ? requestHandover(platform, chat, transaction)
          : NOTHING
      const content = { kind: 'user', chat_id: chat.id, action: 'press', button: button.label } as const
      ports.commit({ ...content, message_id: outcome.messageId }, transaction.effects)
      return outcome
    })
  }

  /** A message into a chat that its user has left, and that a message does not reopen (`chat.reopens`). */
  function lose({ id }: Chat, { text }: UserInput): UserOutcome {
    ports.commit({ kind: 'user', chat_id: id, action: 'message', text, message_id: null }, [])
    return NOTHING
  }

  const leave = (chatId: string, action: 'close' | 'delete') => {
    chatOf(chatId)
    return inTurn(chatId, () => {
      const chat = chatOf(chatId)
      const transaction = createTransaction()
      leaveChat(platform, chat, action === 'close' ? 'closed' : 'deleted', transaction)
      ports.commit({ kind: 'user', chat_id: chat.id, action, message_id: null }, transaction.effects)
      return NOTHING
    })
  }

  return {
    says,
    press,
    closes: chatId => leave(chatId, 'close'),
    deletes: chatId => leave(chatId, 'delete'),
  }
}

const NOTHING: UserOutcome = { messageId: null, deliveryId: null }

function checkMessage(input: UserInput): void {
  if (input.text !== '' || (input.attach ?? []).length > 0) return
  throw new UserProblem('invalid_message', 'A message needs a text or at least one attachment.')
}

function storeAll(platform: PlatformContext, chat: Chat, files: readonly NewFile[]) {
  try {
    for (const file of files) checkFile(platform, file)
    return files.map(file => storeFile(platform, chat, file))
  } catch (thrown) {
    if (thrown instanceof Refusal) throw new UserProblem('invalid_message', thrown.message)
    throw thrown
  }
}

function unknownButton(visible: readonly ReadButton[], wanted: string): UserProblem {
  const labels = ['handover', ...visible.flatMap(({ isActive, label }) => (isActive ? [label] : []))]
  const quotedLabels = labels.map(label => JSON.stringify(label)).join(', ')
  const message = `There is no button ${JSON.stringify(wanted)}; to press: ${quotedLabels}${suggest(wanted, labels)}`
  return new UserProblem('unknown_button', message)
}

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

function userSays(
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

/** The buttons that the user sees, newest message first, by their labels. */
function visibleButtons(platform: PlatformContext, chat: Chat): Map<string, ReadButton> {
  const seen = new Map<string, ReadButton>()
  for (const message of [...chat.messages].reverse()) {
    for (const shown of shownButtons(platform, chat, message)) {
      const button = readButton(shown, platform.knobs['buttons.form'])
      if (shown.label !== undefined && !seen.has(button.label)) seen.set(button.label, button)
    }
  }
  return seen
}

type ButtonPress = Pick<ReadButton, 'kind' | 'label' | 'value'>

/** Finds the button with a label, or the request for an agent, which needs no button. Throws when the user cannot press it. */
function findPress(platform: PlatformContext, chat: Chat, wanted: string): ButtonPress {
  const buttons = visibleButtons(platform, chat)
  if (wanted === 'handover') {
    if (hidesRequests(platform) && !isOpen(platform, botOf(platform, chat))) {
      const message =
        'The button that asks for an agent is hidden while handover is closed: set handover to OPEN, or request.closedButton to shown.'
      throw new UserProblem('unknown_button', message)
    }
    const label = [...buttons.values()].find(({ kind, isActive }) => kind === 'handover' && isActive)?.label
    return { kind: 'handover', label: label ?? handoverLabel(chat.language), value: '' }
  }
  const button = buttons.get(wanted)
  if (button === undefined) throw unknownButton([...buttons.values()], wanted)
  const { kind, isActive, value } = button
  const quoted = JSON.stringify(wanted)
  if (!isActive)
    throw new UserProblem('inactive_button', `The button ${quoted} cannot be pressed: its is_active is false.`)
  if (kind !== 'handover' && value === '')
    throw new UserProblem('inactive_button', `The ${kind} button ${quoted} cannot be pressed: its value is empty.`)
  return button
}

/** ST4, ST5, ST22, ST23; a press that repeats a request follows `request.repeat`. */
function requestHandover(platform: PlatformContext, chat: Chat, transaction: Transaction): UserOutcome {
  if (chat.status !== 'bot' && platform.knobs['request.repeat'] === 'ignore') return NOTHING
  if (!isOpen(platform, botOf(platform, chat))) return sayClosed(platform, chat, transaction)
  chat.requestedAt = chat.messages.length
  if (chat.status === 'agent') return { messageId: null, deliveryId: emitRequest(platform, chat, transaction) }
  chat.status = 'pending'
  const text = noticeText(platform.knobs['messages.open'], 'open', chat.language)
  const notice = addNotice(platform, chat, text, transaction)
  return { messageId: notice.id, deliveryId: emitRequest(platform, chat, transaction) }
}

function sayClosed(platform: PlatformContext, chat: Chat, transaction: Transaction): UserOutcome {
  if (chat.status === 'agent') return NOTHING
  const text = noticeText(platform.knobs['messages.closed'], 'closed', chat.language)
  return { messageId: addNotice(platform, chat, text, transaction).id, deliveryId: null }
}

const GREETINGS =
  /^(hi|hello|hey|hei|heisann|hallo|guten tag|moin|hej|hejsan|hallå|goddag|hoi|moi|bonjour|salut|hola|buenos días|ciao|buongiorno|olá|bom dia|مرحبا|السلام عليكم)[\s!.,؟?]*$/iu

const THANKS =
  /^(thanks|thank you|thx|takk|tusen takk|danke|vielen dank|tack|tak|bedankt|dank u|kiitos|merci|gracias|grazie|obrigado|obrigada|شكرا|شكرًا)(?!\p{L})[^?؟]{0,20}$/iu

const handoverLabel = (language: string): string => botTexts(language).button

function chooseReply(
  platform: PlatformContext,
  chat: Chat,
  text: string,
): { text: string; buttons: readonly Button[] } {
  const lower = text.toLowerCase()
  const configured = platform.settings.replies.find((reply: BotReply) => lower.includes(reply.match.toLowerCase()))
  if (configured) return { text: configured.text, buttons: configured.buttons ?? [] }
  const phrases = botTexts(chat.language)
  if (GREETINGS.test(text.trim())) return { text: phrases.greeting, buttons: [] }
  if (THANKS.test(text.trim())) return { text: phrases.welcome, buttons: [] }
  return { text: phrases.unsure, buttons: [{ label: phrases.button, handover: true }] }
}

/** Answers a user message now or after `bot.delay`; the bot does not answer while an agent has the chat (ST3, ST12). */
function answerUser(platform: PlatformContext, chat: Chat, text: string, transaction: Transaction): void {
  const reply = chooseReply(platform, chat, text)
  const delay = platform.knobs['bot.delay']
  if (delay === 0) return botSays(platform, chat, reply.text, reply.buttons, transaction)
  const deadline = { kind: 'reply', chatId: chat.id, ...reply } as const
  platform.state.deadlines.set(`reply ${chat.id} ${++chat.counter}`, platform.nowMs() + delay, deadline)
}

export function botSays(
  platform: PlatformContext,
  chat: Chat,
  text: string,
  buttons: readonly Button[],
  transaction: Transaction,
): void {
  if (chat.status === 'agent' || chat.userLeft !== null) return
  const message = addBotReply(platform, chat, text, buttons)
  note(transaction, 'bot_message', chat.id, {
    message_id: message.id,
    text,
    ...(buttons.length > 0 ? { buttons } : {}),
  })
}
