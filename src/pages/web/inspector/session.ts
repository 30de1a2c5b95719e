/** The state of the inspector: the journal, the shown moment, and the actions of user and agent. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { messageOf } from '../../../base/text/error-text.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { ChatViewResponse } from '../../../server/control/routes/chats.ts'
import { type ControlClient, ControlError, createControlClient } from '../client/control.ts'
import { type FeedState, followJournal, type JournalListener } from '../client/event-feed.ts'
import { createFrameBatches } from '../client/frame-batches.ts'
import { createRefresh } from '../client/refresh.ts'
import type { ChatTag } from '../components/sequence-row.tsx'
import { type ChatState, chatStateOf } from '../model/chat-items.ts'
import { countUntil, createJournalLog, type JournalLog } from '../model/journal-log.ts'
import { keepInAddress, showEntry, type View } from './address.ts'
import { type AgentSide, createAgentSide } from './agent-side.ts'
import { type ChatBook, createChats } from './chats.ts'
import { createDrafts, type FindDraft } from './drafts.ts'

export interface Session {
  readonly view: View
  readonly client: ControlClient
  /** The client of the default workspace, which lists and creates the others. */
  readonly server: ControlClient
  /** Where the server is, with a slash at the end. */
  readonly origin: URL
  readonly chats: ChatBook
  /** The selected chat, or the newest one. */
  readonly chatId: ReadonlySignal<string | null>
  readonly feed: ReadonlySignal<FeedState>
  /** Another object with every batch of entries. */
  readonly log: ReadonlySignal<JournalLog>
  /** The selected chat at the shown moment; null without a chat, and until the server has answered. */
  readonly chat: ReadonlySignal<ChatState | null>
  /** The last refusal or failure of an action; null when there is none. */
  readonly problem: Signal<string | null>
  /** The wire hides the entries until this one; 0 when it shows all. */
  readonly clearedUntil: Signal<number>
  /** Whether it only shows what passed before the server was started again. */
  readonly isPast: boolean
  /** What passed before the server was started again; null when it was not, and when it was closed. */
  readonly past: Signal<PastLog | null>
  readonly agentSide: AgentSide
  readonly findDraft: FindDraft
  readonly selectNextEntry: SelectNextEntry
  /** The chat whose field gets the focus when it is shown: it was just created to write in it. */
  readonly chatToWriteIn: Signal<string | null>
  /** Runs an action and shows its failure. */
  act(run: () => Promise<unknown>): void
  /** The name of a chat: `chat 1`. */
  chatName(chatId: string): string
  /** The name and the colour of a chat, which tell it apart from others. */
  chatTag(chatId: string): ChatTag
  close(): void
}

export interface PastLog {
  readonly log: JournalLog
  chatTag(chatId: string): ChatTag
}

export function createSession(view: View, origin: URL, token: string | null): Session {
  const client = createControlClient(origin, token, view.workspace.value)
  const feed = signal<FeedState>('connecting')
  const problem = signal<string | null>(null)
  const tags = signal<ReadonlyMap<string, ChatTag>>(new Map())
  const chatTag = (chatId: string) => tags.value.get(chatId) ?? UNKNOWN_CHAT
  const chatName = (chatId: string) => chatTag(chatId).name
  const log = signal(createJournalLog(chatName))
  const clearedUntil = signal(0)
  const past = signal<PastLog | null>(null)
  const chats = createChats({ client, view, log })
  /** Numbers chats in the order of their creation, which is the same in every browser. */
  function nameChats(ids: readonly string[]): void {
    const named = new Map(tags.peek())
    for (const id of ids)
      if (!named.has(id)) named.set(id, { name: `chat ${named.size + 1}`, hue: `hue-${(named.size % HUES) + 1}` })
    if (named.size > tags.peek().size) tags.value = named
  }

  const batches = createFrameBatches<Entry>(entries => {
    nameChats(entries.flatMap(entry => (isCreation(entry) && entry.chat_id) || []))
    log.value = log.peek().add(entries)
  })
  let stopFeed = () => {}
  const handlers: JournalListener = {
    onEntries: batches.add,
    onReset(isRestart) {
      batches.clear()
      batch(() => {
        const [before, names] = [log.peek(), tags.peek()]
        if (isRestart && before.entries.length > 0)
          past.value = { log: before, chatTag: id => names.get(id) ?? UNKNOWN_CHAT }
        clearedUntil.value = 0
        tags.value = new Map()
        log.value = createJournalLog(chatName)
        view.at.value = null
        view.entry.value = null
        view.compare.value = null
        void chats.begin().then(nameChats)
      })
    },
    onState: state => {
      feed.value = state
    },
  }
  // The journal may have dropped the beginning of the oldest chats, so the list of chats comes first.
  let isClosed = false
  void chats.begin().then(ids => {
    nameChats(ids)
    if (!isClosed) stopFeed = followJournal(client, handlers)
  })
  const chatId = computed(() => chats.choose(view.chat.value))
  const shownChat = followChat(client, view, log, chatId, problem)
  const stopAddress = keepInAddress(view)
  const act = (run: () => Promise<unknown>) => {
    problem.value = null
    run().catch((error: unknown) => {
      problem.value = messageOf(error)
    })
  }
  return {
    view,
    client,
    server: createControlClient(origin, token, null),
    origin,
    chats,
    chatId,
    feed,
    log,
    chat: shownChat.chat,
    problem,
    clearedUntil,
    isPast: false,
    past,
    chatToWriteIn: signal(null),
    chatName,
    chatTag,
    act,
    agentSide: createAgentSide({ client, origin, view, chatIds: chats.ids, log, act }),
    findDraft: createDrafts(),
    selectNextEntry: createNextEntry(view, log),
    close() {
      isClosed = true
      stopFeed()
      shownChat.close()
      batches.clear()
      stopAddress()
    },
  }
}

/** Entries that arrive within this time become one request. */
const TOGETHER_MS = 20

/** Asks the server for the selected chat at the shown moment, and again when an entry of it arrives. */
function followChat(
  client: ControlClient,
  view: View,
  log: ReadonlySignal<JournalLog>,
  chatId: ReadonlySignal<string | null>,
  problem: Signal<string | null>,
): { readonly chat: Session['chat']; close(): void } {
  const loaded = signal<{ readonly id: string; readonly state: ChatState | null } | null>(null)
  const ended = new AbortController()

  async function load(): Promise<void> {
    const [id, at] = [chatId.peek(), view.at.peek()]
    if (id === null) return
    try {
      const query = { at: at ?? undefined }
      const view = await client.send<ChatViewResponse>('GET', `/chats/${encodeURIComponent(id)}`, { query })
      const entries = log.peek().chats.get(id) ?? []
      loaded.value = { id, state: chatStateOf(view, entries, at ?? Number.MAX_SAFE_INTEGER) }
    } catch (error) {
      // Without an answer the chat stays as it was: the page says that the server is away.
      if (!(error instanceof ControlError)) return
      loaded.value = { id, state: null }
      // A chat is absent before its beginning, and after a reset.
      if (error.status !== 404) problem.value = error.message
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

/** Colours for chats; with more chats they repeat, and names tell the chats apart. */
const HUES = 6

/** Of calls that name a chat which was not created. */
const UNKNOWN_CHAT: ChatTag = { name: 'unknown chat', hue: 'hue-1' }

const isCreation = (entry: Entry): boolean => entry.kind === 'note' && entry.note === 'chat_created'

/** Runs the action and waits for its entry. Only the last action waits, and one that fails does not. */
export type SelectNextEntry = <Result>(
  matches: (entry: Entry) => boolean,
  action: () => Promise<Result>,
) => Promise<Result>

function createNextEntry(view: View, log: ReadonlySignal<JournalLog>): SelectNextEntry {
  let stopLast = () => {}
  return async (matches, action) => {
    stopLast()
    let seen = log.peek().entries.at(-1)?.seq ?? 0
    const stop = effect(() => {
      const { entries } = log.value
      const entry = entries.slice(countUntil(entries, seen)).find(matches)
      seen = entries.at(-1)?.seq ?? 0
      if (entry === undefined) return
      showEntry(view, entry.seq)
      queueMicrotask(() => stop())
    })
    stopLast = stop
    try {
      return await action()
    } catch (error) {
      stop()
      throw error
    }
  }
}
