/** Says which chat is shown and who has it, starts chats, and opens the list of them. */
import './chats-head.css'
import { useCallback, useState } from 'preact/hooks'
import { useShortcut } from '../components/shortcuts.tsx'
import type { ChatState } from '../model/chat-items.ts'
import { ChatList, ChatStatus } from './chat-list.tsx'
import { NewChatDialog, startChat } from './new-chat.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface ChatsHeadProps {
  readonly chatId: string | null
  /** The chat at the shown moment; null when it is not there. */
  readonly chat: ChatState | null
}

export function ChatsHead({ chatId, chat }: ChatsHeadProps) {
  const session = useSession()
  const [isListed, setListed] = useState(false)
  const [isNew, setNew] = useState(false)
  useChatShortcuts(session, setListed)
  const acts = <StartButtons isFirst={chatId === null} setUp={() => setNew(true)} />
  return (
    <header class="chats-head">
      {chatId === null ? (
        <div class="empty">
          <p>There is no chat yet. Start one, and you are its end user.</p>
          <div class="chats-bar">{acts}</div>
        </div>
      ) : (
        <div class="chats-bar">
          <ListButton isListed={isListed} setListed={setListed} />
          {acts}
        </div>
      )}
      {isListed && chatId !== null ? <ChatList /> : null}
      {chatId === null || chat === null ? null : <ChatTitle name={session.chatName(chatId)} chat={chat} />}
      {isNew ? <NewChatDialog onClose={() => setNew(false)} /> : null}
    </header>
  )
}

interface StartButtonsProps {
  readonly isFirst: boolean
  setUp(): void
}

function StartButtons({ isFirst, setUp }: StartButtonsProps) {
  const session = useSession()
  return (
    <>
      <button type="button" class={isFirst ? 'primary' : 'chats-new'} onClick={() => startChat(session)}>
        New chat
      </button>
      <button type="button" class="quiet" onClick={setUp}>
        Set up a chat
      </button>
    </>
  )
}

interface ListButtonProps {
  readonly isListed: boolean
  setListed(isListed: boolean): void
}

function ListButton({ isListed, setListed }: ListButtonProps) {
  const { chats } = useSession()
  const ids = chats.ids.value
  const unread = ids.filter(id => chats.unread(id) > 0).length
  return (
    <button type="button" aria-expanded={isListed} onClick={() => setListed(!isListed)}>
      {ids.length} {ids.length === 1 ? 'chat' : 'chats'}
      {unread === 0 ? null : <span class="unread">{unread} unread</span>}
    </button>
  )
}

function useChatShortcuts(session: Session, setListed: (change: (isListed: boolean) => boolean) => void): void {
  const group = 'End user'
  const start = useCallback(() => startChat(session), [session])
  const next = useCallback(() => moveBy(session, -1), [session])
  const previous = useCallback(() => moveBy(session, 1), [session])
  const list = useCallback(() => setListed(isListed => !isListed), [setListed])
  useShortcut('n', group, 'Start a new chat', start)
  useShortcut(']', group, 'Show the next chat of the list', next)
  useShortcut('[', group, 'Show the chat before it', previous)
  useShortcut('l', group, 'Open or close the list of chats', list)
}

/** The list begins with the newest chat. */
function moveBy({ chats, chatId, view }: Session, step: number): void {
  const ids = chats.ids.peek()
  const to = ids[ids.indexOf(chatId.peek() ?? '') + step]
  if (to !== undefined) view.chat.value = to
}

function ChatTitle({ name, chat }: { readonly name: string; readonly chat: ChatState }) {
  return (
    <div class="chat-title">
      <h3>
        <bdi>{chat.user || 'User'}</bdi>
      </h3>
      <ChatStatus chat={chat} />
      <small>{[name, chat.language, chat.source, chat.bot && `bot ${chat.bot}`].filter(Boolean).join(' · ')}</small>
    </div>
  )
}
