/** Says which chat is shown and who has it, starts chats, and lists and searches them. */
import './chats.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import { isAcceptance } from '../../../evaluation/history.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { SimulatorState } from '../../../server/control/routes/workspace.ts'
import { createRefresh } from '../client/refresh.ts'
import { Menu } from '../components/menu.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { hueOf, initialsOf } from '../model/chat-format.ts'
import { type ChatState, messageTextOf } from '../model/chat-items.ts'
import { countUntil } from '../model/journal-log.ts'
import { NewChatDialog, startChat } from './new-chat.tsx'
import { useIsProxy } from './platform/platform-section.tsx'
import { SaveTest } from './save-test.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface ChatsHeadProps {
  readonly chatId: string | null
  /** The chat at the shown moment; null when it is not there. */
  readonly chat: ChatState | null
}

export function ChatsHead({ chatId, chat }: ChatsHeadProps) {
  const session = useSession()
  const { chats, view, chatName } = session
  const [isListed, setListed] = useState(false)
  const [isNew, setNew] = useState(false)
  const isProxy = useIsProxy()
  const start = () => {
    if (!isProxy) startChat(session)
  }
  // The list begins with the newest chat.
  const moveBy = (step: number) => {
    const ids = chats.ids.peek()
    const to = ids[ids.indexOf(session.chatId.peek() ?? '') + step]
    if (to !== undefined) view.chat.value = to
  }
  useShortcuts('End user', {
    n: ['Start a new chat', start, 'action'],
    ']': ['Show the next chat of the list', () => moveBy(-1)],
    '[': ['Show the chat before it', () => moveBy(1)],
    l: ['Open or close the list of chats', () => setListed(!isListed)],
  })
  const ids = chats.ids.value
  const unread = ids.filter(id => chats.unread(id) > 0).length
  return (
    <header class={chatId === null ? 'chats-head empty' : 'chats-head'}>
      {chatId === null ? <p>There is no chat yet. {isProxy ? '' : 'Start one, and you are its end user.'}</p> : null}
      <div class="buttons">
        {chatId === null ? null : (
          <button type="button" aria-expanded={isListed} onClick={() => setListed(!isListed)}>
            {ids.length} {ids.length === 1 ? 'chat' : 'chats'}
            {unread === 0 ? null : <span class="unread">{unread} unread</span>}
          </button>
        )}
        {isProxy ? null : (
          <>
            <button type="button" class={chatId === null ? 'primary' : 'chats-new'} onClick={start}>
              New chat
            </button>
            <button type="button" class="quiet" onClick={() => setNew(true)}>
              Set up a chat
            </button>
          </>
        )}
        {chatId === null || isProxy || view.at.value !== null ? null : <LeaveMenu chatId={chatId} />}
      </div>
      {isListed && chatId !== null ? <ChatList /> : null}
      {chatId === null || chat === null ? null : (
        <div class="chat-title">
          <h3>
            <bdi>{chat.user || 'User'}</bdi>
          </h3>
          <ChatStatus {...chat} />
          <small>
            {[chatName(chatId), chat.language, chat.source, chat.bot && `bot ${chat.bot}`].filter(Boolean).join(' · ')}
          </small>
          <SaveTest key={chatId} chatId={chatId} />
        </div>
      )}
      {isNew ? <NewChatDialog onClose={() => setNew(false)} /> : null}
    </header>
  )
}

/** What the end user can do to leave. A later text or press comes back (`chat.reopens`). */
function LeaveMenu({ chatId }: { readonly chatId: string }) {
  const { act, client } = useSession()
  const leave = (how: 'close' | 'delete') => () =>
    act(() => client.send('POST', `/chats/${encodeURIComponent(chatId)}/${how}`))
  return (
    <Menu title="Leave">
      <button type="button" onClick={leave('close')}>
        Close the chat
      </button>
      <button type="button" onClick={leave('delete')}>
        Delete the chat
      </button>
    </Menu>
  )
}

const ROW_HEIGHT = 56

/** Changes within this time are loaded together. */
const TOGETHER_MS = 100

function ChatList() {
  const session = useSession()
  const { chats, chatId, view, log } = session
  const [query, setQuery] = useState('')
  const summaries = useSummaries(session)
  const words = query.trim().toLowerCase()
  const ids = chats.ids.value.toReversed().filter(id => {
    if (words === '') return true
    const entries = log.value.chats.get(id) ?? []
    const texts = entries.map(entry => messageTextOf(entry) ?? '')
    const { user, language, source } = aboutChat(entries, summaries.get(id))
    const text = [user, language, source, session.chatName(id), ...texts].join('\n').toLowerCase()
    return text.includes(words) || id.toLowerCase() === words
  })
  return (
    <div class="stack chat-list">
      <input
        type="search"
        aria-label="Search in chats"
        placeholder="Search in names and texts"
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
      />
      {ids.length === 0 ? <p class="hint">No chat has this text.</p> : null}
      <div class="chat-rows" style={{ blockSize: `${Math.min(ids.length, 5) * ROW_HEIGHT}px` }}>
        <VirtualList
          label="Chats"
          count={ids.length}
          rowHeight={ROW_HEIGHT}
          isLog={false}
          selected={ids.indexOf(chatId.value ?? '')}
          onSelect={index => (view.chat.value = ids[index] ?? null)}
          row={index => <ChatRow chatId={ids[index] ?? ''} summary={summaries.get(ids[index] ?? '')} />}
        />
      </div>
    </div>
  )
}

type ChatSummary = SimulatorState['chats'][number]

/** All chats at the shown moment without their messages, asked for while the list is open. */
function useSummaries({ client, log, view, problem }: Session): ReadonlyMap<string, ChatSummary> {
  const [summaries, setSummaries] = useState<ReadonlyMap<string, ChatSummary>>(new Map())
  const at = view.at.value
  const reason = at ?? log.value.entries.at(-1)?.seq
  const refresh = useRef<(() => void) | null>(null)
  useEffect(() => {
    const ended = new AbortController()
    const load = async () => {
      const query = { at: at ?? undefined }
      const state = await client.send<SimulatorState>('GET', '/state', { query })
      if (!ended.signal.aborted) setSummaries(new Map(state.chats.map(chat => [chat.chat_id, chat])))
    }
    const showProblem = (error: unknown) => {
      problem.value = messageOf(error)
    }
    refresh.current = createRefresh(() => load().catch(showProblem), TOGETHER_MS, ended.signal)
    return () => ended.abort()
  }, [client, at])
  useEffect(() => refresh.current?.(), [client, reason, at])
  return summaries
}

/** The name of the user is in the entry that created the chat. */
function aboutChat([first]: readonly Entry[], summary: ChatSummary | undefined) {
  const created: Readonly<Record<string, unknown>> =
    first?.kind === 'note' && first.note === 'chat_created' ? first : {}
  const { language = created.language, source = created.source } = summary ?? {}
  return { user: String(created.user_name ?? ''), language: String(language ?? ''), source: String(source ?? '') }
}

function ChatRow({ chatId, summary }: { readonly chatId: string; readonly summary: ChatSummary | undefined }) {
  const { chats, chatName, log, view } = useSession()
  const entries = log.value.chats.get(chatId) ?? []
  const { user, language, source } = aboutChat(entries, summary)
  const { text, agent } = findLatest(entries, view.at.value)
  const unread = chats.unread(chatId)
  return (
    <div class={unread > 0 ? 'chat-row has-unread' : 'chat-row'}>
      <span class={`avatar user ${hueOf(user)}`} aria-hidden="true">
        {initialsOf(user)}
      </span>
      <span class="chat-row-name">
        <bdi>{user || 'User'}</bdi> <small>{[chatName(chatId), language, source].join(' · ')}</small>
      </span>
      {summary === undefined ? null : (
        <ChatStatus status={summary.status} ended={!summary.active} agent={{ name: agent }} />
      )}
      <span class="chat-row-text">
        {summary?.typing ? <i>The agent is typing</i> : <bdi>{text ?? 'No message yet'}</bdi>}
      </span>
      {unread === 0 ? null : <span class="unread">{unread} unread</span>}
    </div>
  )
}

/** The latest message until the shown moment, and the agent who accepted the chat last. */
function findLatest(entries: readonly Entry[], at: number | null) {
  let text: string | null = null
  let agent: string | null = null
  let index = at === null ? entries.length : countUntil(entries, at)
  while (index > 0 && (text === null || agent === null)) {
    const entry = entries[--index]
    if (entry === undefined) break
    text ??= messageTextOf(entry)
    if (isAcceptance(entry)) agent ??= String(entry.by ?? '')
  }
  return { text, agent: agent ?? '' }
}

function ChatStatus({ status, agent, ended }: Pick<ChatState, 'status' | 'agent' | 'ended'>) {
  const code = ended ? 'ended' : status
  const text = code === 'agent' && agent?.name ? <bdi>{agent.name}</bdi> : STATUS_TEXTS[code]
  return <span class={`chat-status ${code}`}>{text}</span>
}

const STATUS_TEXTS = { bot: 'Bot', pending: 'Waits for a person', agent: 'Agent', ended: 'Ended' } as const
