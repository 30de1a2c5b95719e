/** Says which chat is shown and who has it, and starts chats. */
import './chats-head.css'
import type { ChatState } from '../model/chat-at.ts'
import type { Session } from './session.ts'

export interface ChatsHeadProps {
  readonly session: Session
  readonly chatId: string | null
  /** The chat at the shown moment; null when it is not there. */
  readonly chat: ChatState | null
}

export function ChatsHead({ session, chatId, chat }: ChatsHeadProps) {
  return (
    <header class="chats-head">
      <div class="chats-bar">
        <button type="button" onClick={() => startChat(session)}>
          New chat
        </button>
      </div>
      {chatId === null || chat === null ? null : <ChatTitle name={session.chatName(chatId)} chat={chat} />}
    </header>
  )
}

/** Starts a chat with a generated user, and shows it. */
export const startChat = (session: Session, body: object = {}): void => session.act(() => createChat(session, body))

async function createChat({ client, view }: Session, body: object): Promise<void> {
  const { chat_id } = await client.send<{ chat_id: string }>('POST', '/chats', { body })
  view.at.value = null
  view.chat.value = chat_id
}

function ChatTitle({
  name,
  chat: { user, language, source, status, agent, ended },
}: {
  readonly name: string
  readonly chat: ChatState
}) {
  return (
    <div class="chat-title">
      <h3>
        <bdi>{user || 'User'}</bdi>
      </h3>
      <ChatStatus status={status} agent={agent?.name ?? null} ended={ended} />
      <small>{[name, language, source].filter(Boolean).join(' · ')}</small>
    </div>
  )
}

function ChatStatus({
  status,
  agent,
  ended,
}: {
  readonly status: ChatState['status']
  readonly agent: string | null
  readonly ended: boolean
}) {
  const code = ended ? 'ended' : status
  return (
    <span class={`chat-status ${code}`}>{code === 'agent' && agent ? <bdi>{agent}</bdi> : STATUS_TEXTS[code]}</span>
  )
}

const STATUS_TEXTS = { bot: 'Bot', pending: 'Waits for a person', agent: 'Agent', ended: 'Ended' } as const
