/** One chat in the hands of a test or script: the end user writes and presses, and looks at the window. */
import { andThen, type Maybe } from '../engines/engines.ts'
import type { Entry, EntryOf } from '../journal/entry.ts'
import type { NewFile } from '../platform/files.ts'
import type { Chat } from '../platform/state.ts'
import type { UserOutcome } from '../platform/user.ts'
import { UserProblem } from '../user/actions.ts'
import { type SeenChat, type SeenMessage, viewChat } from '../user/view.ts'
import { failureText } from '../wording/delivery.ts'
import type { Core } from './core.ts'
import { checkStrictly, flag, type Kind, list, text, whole } from './strict.ts'

/** A described file (`size_kb` kilobytes are made up, always the same) or one with its own bytes. */
export interface AttachmentInput {
  readonly name: string
  readonly type: string
  readonly size_kb?: number
  readonly bytes?: Uint8Array
}

/** What the webhook's receiver answered to the event an action caused; null when none was due. */
export interface Ack {
  readonly status: number | null
  readonly duration_ms: number
  readonly error?: string
}

export interface Acted {
  readonly messageId: string | null
  readonly deliveryId: string | null
  /** Null when no event was due, or when it was not waited for. */
  readonly ack: Ack | null
  /** Of the user's entry in the journal. */
  readonly seq: number
}

export interface ActOptions {
  /** Does not wait for the webhook's answer. */
  readonly async?: boolean
}

export interface ChatHandle {
  readonly id: string
  readonly userId: string
  readonly botId: number
  /** Who answers: the bot, the bot with a request pending, or an agent. */
  readonly status: 'bot' | 'pending' | 'agent'
  readonly typing: boolean
  /** As the user sees it, oldest first. */
  readonly transcript: readonly SeenMessage[]
  view(): SeenChat
  /** Writes; resolves after the webhook's first answer, when an event is due. */
  says(text: string, options?: ActOptions & { readonly attach?: readonly AttachmentInput[] }): Promise<Acted>
  /** Presses `handover` or a button by its label; resolves after the webhook's first answer. */
  press(button: string, options?: ActOptions): Promise<Acted>
}

export const GONE = 'This chat is gone: the simulator was reset after it was made, or restored without it.'

export function createChatHandle(core: Core, chat: Chat): ChatHandle {
  const { chats } = core.room.state
  /** The chat with this id by now: a reset and a restore put another object in its place. */
  const own = (): Chat => chats.get(chat.id) ?? chat
  /** Waits from the moment of the action on, so that a reset right after it ends the wait. */
  const act = async (start: () => Maybe<UserOutcome>, options: ActOptions = {}): Promise<Acted> => {
    if (!chats.has(chat.id)) throw new UserProblem('chat_not_found', GONE)
    const after = core.journal.nextSeq - 1
    return andThen(start(), async ({ messageId, deliveryId }) => {
      const seq = seqOf(core, chat, messageId, after)
      const ack = options.async ? null : await awaitAck(core, deliveryId, after)
      return { messageId, deliveryId, ack, seq }
    })
  }
  return {
    id: chat.id,
    userId: chat.userId,
    botId: chat.botId,
    get status() {
      return own().status
    },
    get typing() {
      return own().typing
    },
    get transcript() {
      return viewChat(core.room, own()).messages
    },
    view: () => viewChat(core.room, own()),
    async says(message = '', options = {}) {
      checkSaid(message, options)
      const attach = (options.attach ?? []).map(toFile)
      return act(() => core.user.says(chat.id, { text: message, attach }), options)
    },
    async press(button, options = {}) {
      checkStrictly('press', { button, ...options }, PRESS)
      return act(() => core.user.press(chat.id, button), options)
    },
  }
}

const PRESS = { button: text, async: flag }
const SAYS = { text, async: flag, attach: list }
const bytes: Kind = { must: 'a Uint8Array', fits: value => value instanceof Uint8Array }
const FILE = { name: text, type: text, size_kb: whole, bytes }

function checkSaid(message: string, options: NonNullable<Parameters<ChatHandle['says']>[1]>): void {
  checkStrictly('says', { text: message, ...options }, SAYS)
  for (const file of options.attach ?? []) checkStrictly('attach', file, FILE)
}

/** A press that leaves no message is the only entry of its kind since it began. */
function seqOf({ journal }: Core, { id }: Chat, messageId: string | null, after: number): number {
  const own = journal.query({ kind: 'user', chatId: id, after }) as EntryOf<'user'>[]
  return (own.find(entry => entry.message_id === messageId) ?? own[0])?.seq ?? after
}

export function toFile({ name, type, size_kb, bytes }: AttachmentInput): NewFile {
  return { name, type, sizeKb: size_kb ?? Math.ceil((bytes?.length ?? 0) / 1024), bytes: bytes ?? null }
}

/** The first attempt's outcome; a copy of it does not count. The webhook timeout bounds the wait. */
export async function awaitAck(core: Core, deliveryId: string | null, after: number): Promise<Ack | null> {
  if (deliveryId === null) return null
  const isAck = (one: Entry) => one.kind === 'delivery' && one.delivery_id === deliveryId && !one.duplicate
  const entry = await core.journal.waitFor(isAck, { after })
  return ackOf(entry as EntryOf<'delivery'>)
}

/** What the webhook answered, as callers see it. */
export const ackOf = ({ status, duration_ms, failure }: EntryOf<'delivery'>): Ack => ({
  status,
  duration_ms,
  ...(failure === undefined ? {} : { error: failureText(failure) }),
})
