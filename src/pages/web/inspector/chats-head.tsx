/** Says which chat is shown and who has it, starts chats, and opens the list of them. */
import './chats-head.css'
import { useState } from 'preact/hooks'
import { useShortcuts } from '../components/shortcuts.tsx'
import type { ChatState } from '../model/chat-items.ts'
import { ChatList, ChatStatus } from './chat-list.tsx'
import { NewChatDialog, startChat } from './new-chat.tsx'
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
  const start = () => startChat(session)
  // The list begins with the newest chat.
  const moveBy = (step: number) => {
    const ids = chats.ids.peek()
    const to = ids[ids.indexOf(session.chatId.peek() ?? '') + step]
    if (to !== undefined) view.chat.value = to
  }
  useShortcuts('End user', {
    n: ['Start a new chat', start],
    ']': ['Show the next chat of the list', () => moveBy(-1)],
    '[': ['Show the chat before it', () => moveBy(1)],
    l: ['Open or close the list of chats', () => setListed(!isListed)],
  })
  const ids = chats.ids.value
  const unread = ids.filter(id => chats.unread(id) > 0).length
  return (
    <header class={chatId === null ? 'chats-head empty' : 'chats-head'}>
      {chatId === null ? <p>There is no chat yet. Start one, and you are its end user.</p> : null}
      <div class="buttons">
        {chatId === null ? null : (
          <button type="button" aria-expanded={isListed} onClick={() => setListed(!isListed)}>
            {ids.length} {ids.length === 1 ? 'chat' : 'chats'}
            {unread === 0 ? null : <span class="unread">{unread} unread</span>}
          </button>
        )}
        <button type="button" class={chatId === null ? 'primary' : 'chats-new'} onClick={start}>
          New chat
        </button>
        <button type="button" class="quiet" onClick={() => setNew(true)}>
          Set up a chat
        </button>
      </div>
      {isListed && chatId !== null ? <ChatList /> : null}
      {chatId === null || chat === null ? null : <ChatTitle name={chatName(chatId)} chat={chat} />}
      {isNew ? <NewChatDialog onClose={() => setNew(false)} /> : null}
    </header>
  )
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
