/** Records how chats change, so that a chat can be shown as it was after any entry of the journal. */

import type { Journal } from '../journal/journal.ts'
import type { Chat, Message, PlatformContext } from '../rules/state.ts'

/** What changes in a chat. Messages are only added, so the last one says which there were. */
interface ChatMoment extends Pick<Chat, 'status' | 'typing' | 'active' | 'takeover'> {
  /** The entry after which the chat was so. */
  readonly seq: number
  readonly lastMessage: Message | undefined
}

export interface Moments {
  /** The first `seq` that can be asked for: earlier entries were dropped, or happened before a restored snapshot. */
  firstSeq(): number
  /** The chat after the entry `seq`; null when it was created later. Its messages are those that memory still has. */
  chatAt(chat: Chat, seq: number): Chat | null
}

export function createMoments(platform: PlatformContext, journal: Journal): Moments {
  const moments = new Map<string, ChatMoment[]>()
  let startSeq = 0
  const firstSeq = () => Math.max(startSeq, journal.firstSeq - 1)

  function record({ id, status, typing, active, takeover, messages }: Chat, seq: number): void {
    const earlier = moments.get(id) ?? []
    const last = earlier.at(-1)
    const lastMessage = messages.at(-1)
    const isSame =
      last?.status === status && last.typing === typing && last.active === active && last.lastMessage === lastMessage
    if (isSame && last.takeover === takeover) return
    earlier.push({ seq, status, typing, active, takeover, lastMessage })
    // Of the moments before the journal, only the latest can be asked for.
    while (earlier[1] !== undefined && earlier[1].seq <= firstSeq()) earlier.shift()
    moments.set(id, earlier)
  }

  /** A reset or a restored snapshot replaces all chats. */
  function restart(): void {
    moments.clear()
    startSeq = journal.nextSeq - 1
    for (const chat of platform.state.chats.values()) record(chat, startSeq)
  }

  journal.subscribe(({ seq, chat_id: id, kind }) => {
    if (kind === 'delivery' || kind === 'fault') return
    const chat = platform.state.chats.get(id ?? '')
    if (chat !== undefined) record(chat, seq)
  }, restart)

  return {
    firstSeq,
    chatAt(chat, seq) {
      const moment = moments.get(chat.id)?.findLast(one => one.seq <= seq)
      if (moment === undefined) return null
      const { lastMessage, ...state } = moment
      const count = lastMessage === undefined ? 0 : chat.messages.lastIndexOf(lastMessage) + 1
      return { ...chat, ...state, messages: chat.messages.slice(0, count) }
    },
  }
}
