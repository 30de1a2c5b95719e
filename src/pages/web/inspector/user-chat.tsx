/** Shows a chat as its end user sees it, and lets a person be that user. */
import './user-chat.css'
import type { Signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { MessageContext } from '../components/chat-message.tsx'
import { ChatMessages } from '../components/chat-messages.tsx'
import { directionOf } from '../model/chat-format.ts'
import type { ChatState } from '../model/chat-items.ts'
import { ChatsHead } from './chats-head.tsx'
import type { UserDraft } from './drafts.ts'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'
import { addFiles, UserComposer } from './user-composer.tsx'

export function UserChat() {
  const session = useSession()
  const { chat, chatId, chats, view } = session
  const id = chatId.value
  const shown = chat.value
  useEffect(() => {
    if (id !== null && view.at.value === null) chats.markRead(id)
  }, [id, chats, shown, view.at.value])
  return (
    <div class="user-chat">
      <ChatsHead chatId={id} chat={shown} />
      {id === null ? null : !chats.ids.value.includes(id) ? (
        <p class="empty">At this moment, the chat has not begun.</p>
      ) : shown === null ? null : (
        <ChatWindow key={id} chatId={id} chat={shown} draft={session.drafts.ofUser(id)} />
      )}
    </div>
  )
}

interface ChatWindowProps {
  readonly chatId: string
  readonly chat: ChatState
  readonly draft: Signal<UserDraft>
}

/** What the user's browser shows: mirrored for languages that are written from right to left. */
function ChatWindow({ chatId, chat, draft }: ChatWindowProps) {
  const session = useSession()
  const { client, view } = session
  // A chat in which the user acts stays, also when a newer one begins.
  const stay = () => {
    if (view.chat.peek() !== chatId) view.chat.value = chatId
  }
  const isNow = view.at.value === null
  const context = useMessageContext(session, chatId)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can be chosen with the button as well
    <div
      class="chat-window"
      dir={directionOf(chat.language)}
      onFocusCapture={stay}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        event.preventDefault()
        if (isNow) addFiles(event.dataTransfer, draft)
      }}
    >
      <ChatMessages chat={chat} context={context} />
      <UserComposer client={client} chatId={chatId} isNow={isNow} draft={draft} toNow={() => (view.at.value = null)} />
    </div>
  )
}

function useMessageContext(session: Session, chatId: string): MessageContext {
  const { client, origin, view } = session
  const isNow = view.at.value === null
  const selected = view.entry.value
  return useMemo(
    () => ({
      origin,
      client,
      isNow,
      selected,
      select: seq => (view.entry.value = seq),
      press: button =>
        session.act(() => client.send('POST', `/chats/${encodeURIComponent(chatId)}/press`, { body: { button } })),
    }),
    [session, chatId, isNow, selected],
  )
}
