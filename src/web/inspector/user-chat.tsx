/** Shows a chat as its end user sees it, and lets a person be that user. */
import './user-chat.css'
import { useRef } from 'preact/hooks'
import { defineTexts, textFor } from '../../text/texts.ts'
import type { ChatLine, ChatMessage } from '../model/chat-at.ts'
import type { Session } from './session.ts'

export function UserChat({ session }: { readonly session: Session }) {
  const { chat, view } = session
  if (chat.value === null) return <NoChat session={session} />
  const { items, typing, agent } = chat.value
  return (
    <div class="user-chat">
      <ol class="messages" aria-label="Messages" aria-live="polite">
        {items.map(item =>
          item.kind === 'line' ? (
            <Line key={`line ${item.seq}`} line={item} />
          ) : (
            <Message key={item.id} session={session} message={item} />
          ),
        )}
      </ol>
      {typing ? <p class="typing">{agent?.name ?? 'The agent'} is typing</p> : null}
      {view.at.value === null ? <Composer session={session} /> : null}
    </div>
  )
}

function NoChat({ session }: { readonly session: Session }) {
  const start = () => session.act(() => newChat(session))
  return (
    <div class="empty">
      <p>There is no chat yet. Start one, and you are its end user.</p>
      <button type="button" class="primary" onClick={start}>
        New chat
      </button>
    </div>
  )
}

async function newChat({ client, view }: Session): Promise<void> {
  const { chat_id } = await client.send<{ chat_id: string }>('POST', '/chats', { body: {} })
  view.chat.value = chat_id
}

const LINES = defineTexts({
  pressed: (button: string) => `You pressed “${button}”.`,
  taken_over: (name: string) => `${name || 'An agent'} joined the chat.`,
  handed_back: (name: string) => `${name || 'The agent'} left the chat.`,
  ended: 'The chat ended.',
  link_opened: (url: string) => `You opened ${url}.`,
})

function Line({ line: { line, detail } }: { readonly line: ChatLine }) {
  return <li class="line">{textFor(LINES, line, detail ?? '')}</li>
}

const SENDERS = { user: 'User', bot: 'Bot', agent: 'Agent' } as const

function Message({ session, message }: { readonly session: Session; readonly message: ChatMessage }) {
  const { from, name, text, original, buttons, attachments, seq } = message
  return (
    <li class={`message ${from}`} aria-current={seq !== null && seq === session.view.entry.value ? 'true' : undefined}>
      <span class="sender">{name || SENDERS[from]}</span>
      <p dir="auto">{text}</p>
      {original === undefined ? null : (
        <p class="original" dir="auto">
          {original}
        </p>
      )}
      {attachments.map(file => (
        <p key={file.name} class="file">
          {file.name} <small>{file.size_kb} KB</small>
        </p>
      ))}
      {buttons.map(button => (
        <button key={button.label} type="button" class="choice" onClick={() => press(session, button.label ?? '')}>
          {button.label}
        </button>
      ))}
    </li>
  )
}

function press(session: Session, button: string): void {
  const { client, chatId } = session
  session.act(() => client.send('POST', `/chats/${chatId.peek()}/press`, { body: { button } }))
}

function Composer({ session }: { readonly session: Session }) {
  const field = useRef<HTMLInputElement>(null)
  const { client, chatId } = session
  const send = (event: Event) => {
    event.preventDefault()
    const text = field.current?.value ?? ''
    if (text === '' || field.current === null) return
    field.current.value = ''
    session.act(() => client.send('POST', `/chats/${chatId.peek()}/messages`, { body: { text } }))
  }
  return (
    <form class="composer" onSubmit={send}>
      <input
        ref={field}
        aria-label="Message of the user"
        placeholder="Write as the user"
        autocomplete="off"
        dir="auto"
      />
      <button type="submit">Send</button>
      <button type="button" onClick={() => press(session, 'handover')}>
        Ask for a person
      </button>
    </form>
  )
}
