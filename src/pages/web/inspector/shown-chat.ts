/** Asks the server for the selected chat at the shown moment, and again when an entry of it arrives. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { ChatAnswer } from '../../../server/control/routes/chats.ts'
import { type ControlClient, ControlError } from '../client/control.ts'
import { createRefresh } from '../client/refresh.ts'
import { type ChatState, chatStateOf } from '../model/chat-items.ts'
import type { JournalLog } from '../model/journal-log.ts'
import type { View } from './address.ts'

interface ShownChatPorts {
  readonly client: ControlClient
  readonly view: View
  readonly log: ReadonlySignal<JournalLog>
  /** The selected chat. */
  readonly chatId: ReadonlySignal<string | null>
  onProblem(message: string): void
}

/** Entries that arrive within this time become one request. */
const TOGETHER_MS = 20

export interface ShownChat {
  /** Null without a chat, until the server has answered, and at a moment before the chat. */
  readonly chat: ReadonlySignal<ChatState | null>
  close(): void
}

export function createShownChat({ client, view, log, chatId, onProblem }: ShownChatPorts): ShownChat {
  const loaded = signal<{ readonly id: string; readonly state: ChatState | null } | null>(null)
  const ended = new AbortController()

  async function load(): Promise<void> {
    const [id, at] = [chatId.peek(), view.at.peek()]
    if (id === null) return
    try {
      const query = { at: at ?? undefined }
      const answer = await client.send<ChatAnswer>('GET', `/chats/${encodeURIComponent(id)}`, { query })
      const entries = log.peek().chats.get(id) ?? []
      loaded.value = { id, state: chatStateOf(answer, entries, at ?? Number.MAX_SAFE_INTEGER) }
    } catch (error) {
      // Without an answer the chat stays as it was: the page says that the server is away.
      if (!(error instanceof ControlError)) return
      loaded.value = { id, state: null }
      // A chat is absent before its beginning, and after a reset.
      if (error.status !== 404) onProblem(error.message)
    }
  }

  const refresh = createRefresh(load, TOGETHER_MS, ended.signal)
  const lastSeq = computed(() => log.value.chats.get(chatId.value ?? '')?.at(-1)?.seq ?? 0)
  const journal = computed(() => log.value.entries)
  const reason = computed(() => [journal.value, chatId.value, view.at.value ?? lastSeq.value])
  const stop = effect(() => {
    if (reason.value[1] !== null) refresh()
  })
  return {
    chat: computed(() => (loaded.value?.id === chatId.value ? (loaded.value?.state ?? null) : null)),
    close() {
      stop()
      ended.abort()
    },
  }
}
