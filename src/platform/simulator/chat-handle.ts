/** Lets a test or script act as the end user of one chat. */

import { type Awaitable, andThen } from '../../base/runtime/activity.ts'
import { KB_EXPECTED, parseKb } from '../../base/text/quantities.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { NewFile } from '../rules/files.ts'
import type { Chat } from '../rules/state.ts'
import { type ChatView, type MessageView, viewChat } from '../rules/transcript.ts'
import { type UserOutcome, UserProblem } from '../rules/user-actions.ts'
import { failureText } from '../wording/failures.ts'
import type { Core } from './core.ts'
import { flag, invalidOption, list, optionKind, text, validateOptions } from './options.ts'

/**
 * An attachment: a file with its bytes, or a description, for which the simulator generates `size_kb` kilobytes that are
 * always the same. The fields are those of webhook events (R-ATT).
 */
export interface AttachmentInput {
  readonly name: string
  readonly type: string
  /** May have a fraction, and be a text; events have it rounded up. */
  readonly size_kb?: number | string
  readonly bytes?: Uint8Array
}

/** What the webhook answered to the event that an action caused. */
export interface Ack {
  /** Null when there was no answer. */
  readonly status: number | null
  /** Milliseconds on the wall clock. */
  readonly durationMs: number
  /** Why the event is not acknowledged. */
  readonly error?: string
}

/** The result of an action of the end user. */
export interface ActionResult {
  readonly messageId: string | null
  readonly deliveryId: string | null
  /** Null when the action caused no event, or with `async`. */
  readonly ack: Ack | null
  /** `seq` of the user's entry in the journal. */
  readonly seq: number
}

/** Options of an action. */
export interface ActOptions {
  /** Returns without waiting for the webhook's answer. */
  readonly async?: boolean
}

/** A chat, with the actions of its end user. */
export interface ChatHandle {
  readonly id: string
  readonly userId: string
  readonly botId: number
  /** Who answers: the bot, the bot with a request pending, or an agent. */
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  /** The messages as the user sees them, oldest first. */
  readonly transcript: readonly MessageView[]
  view(): ChatView
  /** Sends a message as the user. Resolves after the webhook's first answer, if the message causes an event. */
  says(text: string, options?: ActOptions & { readonly attach?: readonly AttachmentInput[] }): Promise<ActionResult>
  /** Presses `handover` or a button by its label; resolves after the webhook's first answer. */
  press(button: string, options?: ActOptions): Promise<ActionResult>
  /** Ends the chat as the user, as the knob `chat.closed` says; no event is sent. `says` comes back to it, unless `chat.reopens` is off. */
  closes(): Promise<ActionResult>
  /** Deletes the log of the chat as the user, and ends the chat, as the knob `chat.deleted` says; no event is sent. */
  deletes(): Promise<ActionResult>
}

export const CHAT_REMOVED =
  'This chat no longer exists: the simulator was reset or closed after the chat was created, or restored from a snapshot without it.'

export function createChatHandle(core: Core, chat: Chat): ChatHandle {
  const { chats } = core.platform.state
  /** The current chat with this id: a reset or a restore may have replaced the object. */
  const currentChat = (): Chat => chats.get(chat.id) ?? chat
  /** Starts to wait before it returns, so that a reset right after the action ends the wait. */
  const act = async (start: () => Awaitable<UserOutcome>, options: ActOptions = {}): Promise<ActionResult> => {
    if (!chats.has(chat.id)) throw invalidOption('chat', CHAT_REMOVED)
    const after = core.journal.nextSeq - 1
    return andThen(asOptionErrors(start), async ({ messageId, deliveryId }) => {
      const seq = findSeq(core, chat, messageId, after)
      const ack = options.async ? null : await waitForAck(core, deliveryId, after)
      return { messageId, deliveryId, ack, seq }
    })
  }
  return {
    id: chat.id,
    userId: chat.userId,
    botId: chat.botId,
    get status() {
      return currentChat().status
    },
    get typing() {
      return currentChat().typing
    },
    get transcript() {
      return viewChat(core.platform, currentChat()).messages
    },
    view: () => viewChat(core.platform, currentChat()),
    async says(message = '', options = {}) {
      if (typeof message !== 'string' || Object.keys(options).length > 0)
        validateOptions('says', { text: message, ...options }, SAYS)
      for (const file of options.attach ?? []) validateOptions('attach', file, FILE)

      const attach = (options.attach ?? []).map(toFile)
      return act(() => core.user.says(chat.id, { text: message, attach }), options)
    },
    async press(button, options = {}) {
      validateOptions('press', { button, ...options }, PRESS)
      return act(() => core.user.press(chat.id, button), options)
    },
    closes: () => act(() => core.user.closes(chat.id)),
    deletes: () => act(() => core.user.deletes(chat.id)),
  }
}

/** A problem of an action is one of its arguments. */
function asOptionErrors(start: () => Awaitable<UserOutcome>): Awaitable<UserOutcome> {
  const rethrow = (error: unknown) => {
    if (!(error instanceof UserProblem)) throw error
    throw invalidOption(error.code.endsWith('_button') ? 'button' : 'text', error.message)
  }
  try {
    const outcome = start()
    return outcome instanceof Promise ? outcome.catch(rethrow) : outcome
  } catch (error) {
    return rethrow(error)
  }
}

const PRESS = { button: text, async: flag }
const SAYS = { text, async: flag, attach: list }
const bytes = optionKind('a Uint8Array', value => Object.prototype.toString.call(value) === '[object Uint8Array]')
const sizeKb = optionKind(KB_EXPECTED, value => parseKb(value) !== undefined)
const FILE = { name: text, type: text, size_kb: sizeKb, bytes }

/** Finds the entry by its message; a press without a message is the only user entry since it began. */
function findSeq({ journal }: Core, { id }: Chat, messageId: string | null, after: number): number {
  const userEntries = journal.query({ kind: 'user', chatId: id, after })
  return (userEntries.find(entry => entry.message_id === messageId) ?? userEntries[0])?.seq ?? after
}

export function toFile({ name, type, size_kb, bytes }: AttachmentInput): NewFile {
  return { name, type, sizeKb: parseKb(size_kb ?? (bytes?.length ?? 0) / 1024) ?? 0, bytes: bytes ?? null }
}

/** Waits for the outcome of the first attempt, not of a copy. The webhook timeout bounds the wait. */
export async function waitForAck(core: Core, deliveryId: string | null, after: number): Promise<Ack | null> {
  if (deliveryId === null) return null
  const isAck = (entry: Entry): entry is EntryOf<'delivery'> =>
    entry.kind === 'delivery' && entry.delivery_id === deliveryId && !entry.duplicate
  return ackOf(await core.journal.waitFor(isAck, { after }))
}

/** Returns the webhook's answer in the shape of the public API. */
export const ackOf = ({ status, duration_ms, failure }: EntryOf<'delivery'>): Ack => ({
  status,
  durationMs: duration_ms,
  ...(failure === undefined ? {} : { error: failureText(failure) }),
})
