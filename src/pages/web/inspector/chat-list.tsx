/** Lists the chats, newest first, and searches in their names and texts. */
import './chat-list.css'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { VirtualList } from '../components/virtual-list.tsx'
import type { ChatItem, ChatState } from '../model/chat-at.ts'
import { hueOf, initialsOf } from '../model/chat-format.ts'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

const ROW_HEIGHT = 56

/** The text to search in of each chat; equal states are one object. */
type Texts = WeakMap<ChatState, string>

export function ChatList() {
  const session = useSession()
  const { chats, chatId, view } = session
  const [query, setQuery] = useState('')
  const texts = useMemo((): Texts => new WeakMap(), [])
  const ids = chats.ids.value.toReversed().filter(id => matches(session, texts, id, query.trim().toLowerCase()))
  return (
    <div class="chat-list">
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
          row={index => <ChatRow chatId={ids[index] ?? ''} />}
        />
      </div>
    </div>
  )
}

function matches({ chats, chatName }: Session, texts: Texts, chatId: string, query: string): boolean {
  if (query === '') return true
  const chat = chats.read(chatId)
  if (chat === null) return false
  const text = texts.get(chat) ?? searchText(chat)
  texts.set(chat, text)
  return text.includes(query) || chatName(chatId).includes(query) || chatId.toLowerCase() === query
}

const searchText = ({ user, language, source, items }: ChatState): string =>
  [user, language, source, ...items.map(item => (item.kind === 'message' ? item.text : item.detail))]
    .join('\n')
    .toLowerCase()

function ChatRow({ chatId }: { readonly chatId: string }) {
  const { chats, chatName } = useSession()
  useEffect(() => chats.load(chatId), [chats, chatId])
  const chat = chats.read(chatId)
  if (chat === null) return null
  const unread = chats.unread(chatId)
  return (
    <div class={unread > 0 ? 'chat-row has-unread' : 'chat-row'}>
      <span class={`avatar user ${hueOf(chat.user)}`} aria-hidden="true">
        {initialsOf(chat.user)}
      </span>
      <span class="chat-row-name">
        <bdi>{chat.user || 'User'}</bdi> <small>{[chatName(chatId), chat.language, chat.source].join(' · ')}</small>
      </span>
      <ChatStatus chat={chat} />
      <span class="chat-row-text">{chat.typing ? <i>The agent is typing</i> : <bdi>{lastText(chat.items)}</bdi>}</span>
      {unread === 0 ? null : <span class="unread">{unread} unread</span>}
    </div>
  )
}

function lastText(items: readonly ChatItem[]): string {
  const last = items.findLast(item => item.kind === 'message')
  if (last?.kind !== 'message') return 'No message yet'
  return last.text || last.attachments.map(({ name }) => name).join(', ')
}

export function ChatStatus({ chat: { status, agent, ended } }: { readonly chat: ChatState }) {
  const code = ended ? 'ended' : status
  const text = code === 'agent' && agent?.name ? <bdi>{agent.name}</bdi> : STATUS_TEXTS[code]
  return <span class={`chat-status ${code}`}>{text}</span>
}

const STATUS_TEXTS = { bot: 'Bot', pending: 'Waits for a person', agent: 'Agent', ended: 'Ended' } as const
