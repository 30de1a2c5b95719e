/** Holds the chats of the simulator: which there are, what they looked like at any moment, and which have unread messages. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatAnswer, ChatListAnswer } from '../../../server/control/routes/chats.ts'
import type { ControlClient } from '../client/control.ts'
import type { ChatState } from '../model/chat-at.ts'
import { isCreation, isWhole } from '../model/chat-beginning.ts'
import { createChatReader } from '../model/chat-reader.ts'
import type { JournalLog } from '../model/journal-log.ts'
import type { View } from './address.ts'

export interface ChatBook {
  /** The chats of the shown moment, oldest first. */
  readonly ids: ReadonlySignal<readonly string[]>
  /** Returns the wanted chat if there is one at any moment, else the newest one. */
  choose(wanted: string | null): string | null
  /** The chat at the shown moment; null when it is not there. */
  read(chatId: string): ChatState | null
  /** Asks for the messages that the journal does not have, once. */
  load(chatId: string): void
  /** How many messages of the bot or an agent came since the chat was last shown. */
  unread(chatId: string): number
  markRead(chatId: string): void
  /** Forgets everything and asks again, because the journal begins again. */
  begin(): void
}

export interface ChatsPorts {
  readonly client: ControlClient
  readonly view: View
  readonly log: ReadonlySignal<JournalLog>
}

const NONE: readonly Entry[] = []
/** No journal has so many entries. */
const BEYOND_ALL = 1e14

export function createChats({ client, view, log }: ChatsPorts): ChatBook {
  /** Chats that were there when the page was opened; the journal may have no entries of them. */
  const listed = signal<ReadonlySet<string>>(new Set())
  const answers = signal<ReadonlyMap<string, ChatAnswer>>(new Map())
  const asked = new Set<string>()
  const reading = createUnread()
  const entriesOf = (chatId: string) => log.value.chats.get(chatId) ?? NONE
  const read = createChatReader({ entriesOf, answerOf: chatId => answers.value.get(chatId) })

  async function askForList(): Promise<void> {
    const { entries } = log.peek()
    const [{ chats }, { next_seq }] = await Promise.all([
      client.send<ChatListAnswer>('GET', '/chats'),
      client.send<{ next_seq: number }>('GET', '/journal', { query: { after: BEYOND_ALL } }),
    ])
    if (entries !== log.peek().entries) return
    listed.value = new Set(chats.map(({ chat_id }) => chat_id))
    reading.begin(next_seq - 1)
  }

  async function ask(chatId: string): Promise<void> {
    const { entries } = log.peek()
    const answer = await client.send<ChatAnswer>('GET', `/chats/${encodeURIComponent(chatId)}`)
    if (entries === log.peek().entries) answers.value = new Map([...answers.peek(), [chatId, answer]])
  }

  const idsOf = (at: number | null) => idsAt(log.value, listed.value, at)
  return {
    ids: computed(() => idsOf(view.at.value)),
    choose(wanted) {
      const all = idsOf(null)
      return wanted !== null && all.includes(wanted) ? wanted : (all.at(-1) ?? null)
    },
    read: chatId => read(chatId, view.at.value),
    load(chatId) {
      if (asked.has(chatId) || isWhole(entriesOf(chatId))) return
      asked.add(chatId)
      ask(chatId).catch(() => asked.delete(chatId))
    },
    unread: chatId => reading.count(chatId, read(chatId, null)),
    markRead: chatId => reading.mark(chatId, read(chatId, null)),
    begin() {
      listed.value = new Set()
      answers.value = new Map()
      asked.clear()
      reading.begin(0)
      // Without this list, only chats without entries are missing.
      askForList().catch(() => undefined)
    },
  }
}

function idsAt({ chats }: JournalLog, listed: ReadonlySet<string>, at: number | null): string[] {
  const isThere = (id: string) => {
    const entries = chats.get(id) ?? NONE
    if (!listed.has(id) && !entries.some(isOfChat)) return false
    return at === null || !isCreation(entries[0]) || (entries[0]?.seq ?? 0) <= at
  }
  return [...new Set([...listed, ...chats.keys()])].filter(isThere)
}

/** Calls may name chats that do not exist. */
const isOfChat = ({ kind }: Entry): boolean => kind !== 'api' && kind !== 'fault'

/** Counts the messages after the entry at which each chat was last shown. */
function createUnread() {
  const start = signal(0)
  const shown = signal<ReadonlyMap<string, number>>(new Map())
  const lastSeq = (chat: ChatState) => chat.items.at(-1)?.seq ?? 0
  return {
    begin(seq: number) {
      start.value = seq
      shown.value = new Map()
    },
    count(chatId: string, chat: ChatState | null): number {
      const after = Math.max(start.value, shown.value.get(chatId) ?? 0)
      let unread = 0
      // From the newest item on, because a long chat has few that are new.
      for (let index = (chat?.items.length ?? 0) - 1; index >= 0; index--) {
        const item = chat?.items[index]
        if (item === undefined || (item.seq ?? 0) <= after) break
        if (item.kind === 'message' && item.from !== 'user') unread++
      }
      return unread
    },
    mark(chatId: string, chat: ChatState | null) {
      const seq = chat === null ? 0 : lastSeq(chat)
      if (seq > (shown.peek().get(chatId) ?? 0)) shown.value = new Map([...shown.peek(), [chatId, seq]])
    },
  }
}
