/** One chat in the hands of a test or script: the end user writes and presses, and looks at the window. */
import { andThen, type Maybe } from '../engines/engines.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { NewFile } from '../platform/files.ts'
import type { Chat } from '../platform/state.ts'
import type { UserOutcome } from '../platform/user.ts'
import { type SeenChat, type SeenMessage, viewChat } from '../user/view.ts'
import type { Core } from './core.ts'

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
  readonly ack: Ack | null
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
  says(text: string, options?: { attach?: readonly AttachmentInput[] }): Promise<Acted>
  /** Presses `handover` or a button by its label; resolves after the webhook's first answer. */
  press(button: string): Promise<Acted>
}

export function createChatHandle(core: Core, chat: Chat): ChatHandle {
  /** Waits from the moment of the action on, so that a reset right after it ends the wait. */
  const act = async (start: () => Maybe<UserOutcome>): Promise<Acted> => {
    const after = core.journal.nextSeq - 1
    return andThen(start(), async ({ messageId, deliveryId }) => {
      const ack = await awaitAck(core, deliveryId, after)
      return { messageId, deliveryId, ack }
    })
  }
  return {
    id: chat.id,
    userId: chat.userId,
    botId: chat.botId,
    get status() {
      return chat.status
    },
    get typing() {
      return chat.typing
    },
    get transcript() {
      return viewChat(core.room, chat).messages
    },
    view: () => viewChat(core.room, chat),
    says: (text, options) => act(() => core.user.says(chat.id, { text, attach: (options?.attach ?? []).map(toFile) })),
    press: button => act(() => core.user.press(chat.id, button)),
  }
}

export function toFile({ name, type, size_kb, bytes }: AttachmentInput): NewFile {
  return { name, type, sizeKb: size_kb ?? Math.ceil((bytes?.length ?? 0) / 1024), bytes: bytes ?? null }
}

/** The first attempt's outcome. The webhook timeout bounds the wait. */
export async function awaitAck(core: Core, deliveryId: string | null, after: number): Promise<Ack | null> {
  if (deliveryId === null) return null
  const entry = await core.journal.waitFor(one => one.kind === 'delivery' && one.delivery_id === deliveryId, { after })
  const { status, duration_ms, error } = entry as EntryOf<'delivery'>
  return { status, duration_ms, ...(error === undefined ? {} : { error }) }
}
