/** Says which chats the simulator has at the shown moment, and how many messages of each are unread. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatListResponse } from '../../../server/control/routes/chats.ts'
import type { ControlClient } from '../client/control.ts'
import { messageIn } from '../model/chat-items.ts'
import type { JournalLog } from '../model/journal-log.ts'
import type { View } from './address.ts'

export interface ChatBook {
  /** The chats of the shown moment, oldest first. */
  readonly ids: ReadonlySignal<readonly string[]>
  /** Returns the wanted chat if there is one at any moment, else the newest one. */
  choose(wanted: string | null): string | null
  /** How many messages of the bot or an agent came since the chat was last shown. */
  unread(chatId: string): number
  markRead(chatId: string): void
  /** Forgets everything and asks again, because the journal begins again. Resolves with the chats, oldest first. */
  begin(): Promise<readonly string[]>
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
  /** Messages until this entry are read; those of a chat until the entry at which it was last shown. */
  const readUntil = signal(0)
  const shownUntil = signal<ReadonlyMap<string, number>>(new Map())

  async function askForList(): Promise<readonly string[]> {
    const { entries } = log.peek()
    const [{ chats }, { next_seq }] = await Promise.all([
      client.send<ChatListResponse>('GET', '/chats'),
      client.send<{ next_seq: number }>('GET', '/journal', { query: { after: BEYOND_ALL } }),
    ])
    const ids = chats.map(({ chat_id }) => chat_id)
    if (entries !== log.peek().entries) return ids
    listed.value = new Set(ids)
    readUntil.value = next_seq - 1
    return ids
  }

  return {
    ids: computed(() => idsAt(log.value, listed.value, view.at.value)),
    choose(wanted) {
      const ids = idsAt(log.value, listed.value, null)
      return wanted !== null && ids.includes(wanted) ? wanted : (ids.at(-1) ?? null)
    },
    unread(chatId) {
      const entries = log.value.chats.get(chatId) ?? NONE
      const after = Math.max(readUntil.value, shownUntil.value.get(chatId) ?? 0)
      let unread = 0
      // From the newest entry on, because a long chat has few that are new.
      for (let index = entries.length - 1; index >= 0; index--) {
        const entry = entries[index]
        if (entry === undefined || entry.seq <= after) break
        const message = messageIn(entry)
        if (message !== null && message.from !== 'user') unread++
      }
      return unread
    },
    markRead(chatId) {
      const seq = log.peek().chats.get(chatId)?.at(-1)?.seq ?? 0
      const known = shownUntil.peek()
      if (seq > (known.get(chatId) ?? 0)) shownUntil.value = new Map([...known, [chatId, seq]])
    },
    begin() {
      listed.value = new Set()
      shownUntil.value = new Map()
      readUntil.value = 0
      // Without this list, only chats without entries are missing.
      return askForList().catch(() => [])
    },
  }
}

function idsAt({ chats }: JournalLog, listed: ReadonlySet<string>, at: number | null): string[] {
  const ids: string[] = []
  for (const id of new Set([...listed, ...chats.keys()])) {
    const entries = chats.get(id) ?? NONE
    const [first] = entries
    // Calls may name chats that do not exist.
    const isChat = listed.has(id) || entries.some(({ kind }) => kind !== 'api' && kind !== 'fault')
    const isLater = at !== null && first?.kind === 'note' && first.note === 'chat_created' && first.seq > at
    if (isChat && !isLater) ids.push(id)
  }
  return ids
}
