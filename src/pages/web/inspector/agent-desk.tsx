/** Shows the agent's side: who plays it, the chats that ask for a person, and the desk for the shown chat. */
import './agent-desk.css'
import { useEffect, useState } from 'preact/hooks'
import type { AgentDescription } from '../../../server/control/routes/agent.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import type { QueuedChat } from '../model/agent-queue.ts'
import type { ChatState } from '../model/chat-items.ts'
import { AgentCallResult } from './agent-call-result.tsx'
import { AgentComposer } from './agent-composer.tsx'
import { AgentProfileForm, AvailabilityForm } from './agent-forms.tsx'
import { AgentGuide } from './agent-guide.tsx'
import { type AgentSide, senderOf } from './agent-side.ts'
import { HelpDesk } from './help-desk.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export function AgentDesk() {
  const session = useSession()
  const side = session.agentSide
  const agent = useAgent(session, side)
  if (agent === null) return null
  const isPlayedElsewhere = agent.plays !== 'page' || agent.webhook_url !== null
  const playsHere = !isPlayedElsewhere || side.playsAnyway.value
  return (
    <div class="agent-desk">
      <AgentGuide agentWhere={playsHere || agent.plays !== 'page' ? 'here' : 'in your help desk'} />
      {isPlayedElsewhere ? <Player agent={agent} /> : null}
      <Queue />
      {agent.plays === 'page' || side.playsAnyway.value ? null : <HelpDesk agent={agent} />}
      {playsHere ? <OwnDesk /> : null}
    </div>
  )
}

/** The desk from which the page calls the platform itself. */
function OwnDesk() {
  return (
    <>
      <ChatDesk />
      <AgentCallResult />
      <AvailabilityForm />
      <AgentProfileForm />
    </>
  )
}

/** Asked again when the settings change, because a webhook may be set or cleared. */
function useAgent({ client, act }: Session, { queue }: AgentSide): AgentDescription | null {
  const [agent, setAgent] = useState<AgentDescription | null>(null)
  const { settingsSeq } = queue.value
  useEffect(
    () => act(async () => setAgent(await client.send<AgentDescription>('GET', '/agent'))),
    [client, settingsSeq],
  )
  return agent
}

function Player({ agent }: { readonly agent: AgentDescription }) {
  const { agentSide: side } = useSession()
  const { playsAnyway } = side
  const other = agent.plays === 'page' ? `the intermediary at ${agent.webhook_url}` : PLAYER_TEXTS[agent.plays].other
  return (
    <section class="desk-player" aria-label="Who plays the agent">
      {agent.problem === null ? null : <p class="refusal">{agent.problem}</p>}
      <p>
        {playsAnyway.value
          ? `The calls of this desk mix with those of ${other}.`
          : agent.plays === 'page'
            ? `The intermediary at ${agent.webhook_url} plays the agent now. It gets the events and calls the platform.`
            : PLAYER_TEXTS[agent.plays].now(agent.name ?? '')}
      </p>
      <button type="button" onClick={() => (playsAnyway.value = !playsAnyway.value)}>
        {playsAnyway.value ? 'Leave the calls to the intermediary' : 'Call the platform from here as well'}
      </button>
    </section>
  )
}

const PLAYER_TEXTS = {
  demo: {
    other: 'the demo intermediary',
    now: () => 'The demo intermediary plays with you. What you do here happens in its help desk.',
  },
  driver: {
    other: 'your intermediary',
    now: (name: string) => `What you do here happens in your help desk, through ${name}.`,
  },
} as const

/** How many chats ask for a person, for the title of the desk; nothing for none. */
export function WaitingBadge() {
  const session = useSession()
  const waiting = session.agentSide.queue.value.chats.filter(({ status }) => status === 'pending').length
  if (waiting === 0) return null
  return (
    <span class="badge">
      {waiting}
      <span class="visually-hidden"> {waiting === 1 ? 'chat asks' : 'chats ask'} for a person</span>
    </span>
  )
}

function Queue() {
  const { agentSide: side } = useSession()
  const { chats } = side.queue.value
  return (
    <section class="desk-queue" aria-label="Queue">
      <h3>
        Queue <WaitingBadge />
      </h3>
      {chats.length === 0 ? <p class="hint">No chat asks for a person.</p> : null}
      <ul>
        {chats.map(chat => (
          <QueueItem key={chat.chatId} chat={chat} />
        ))}
      </ul>
    </section>
  )
}

function QueueItem({ chat }: { readonly chat: QueuedChat }) {
  const session = useSession()
  const { chatId, status, userName, lastText } = chat
  return (
    <li>
      <button
        type="button"
        class={`queue-item ${status}`}
        aria-current={session.chatId.value === chatId ? 'true' : undefined}
        onClick={() => (session.view.chat.value = chatId)}
      >
        <strong dir="auto">{userName ?? session.chatName(chatId)}</strong>
        <span class="queue-status">{QUEUE_TEXTS[status]}</span>
        <span class="queue-text" dir="auto">
          {lastText}
        </span>
      </button>
    </li>
  )
}

const QUEUE_TEXTS = { pending: 'asks for a person', agent: 'with an agent' }

function ChatDesk() {
  const session = useSession()
  const chat = session.chat.value
  const chatId = session.chatId.value
  if (chat === null || chatId === null)
    return <p class="hint">Start a chat as the end user. What the agent can do with it appears here.</p>
  const isNow = session.view.at.value === null
  return (
    // A chat in which the agent acts stays, also when a newer one begins.
    <section class="desk-chat" aria-label="Chat of the agent" onFocusCapture={() => (session.view.chat.value = chatId)}>
      <p class={`desk-state ${chat.status}`}>{stateText(chat)}</p>
      {isNow ? null : <p class="hint">You see an earlier moment. Go back to now to act.</p>}
      <fieldset class="form" disabled={!isNow}>
        <ChatButtons chatId={chatId} chat={chat} isNow={isNow} />
        <AgentComposer
          key={chatId}
          chatId={chatId}
          draft={session.drafts.ofAgent(chatId)}
          hasChat={chat.status === 'agent'}
        />
        <MoreCalls chatId={chatId} />
      </fieldset>
    </section>
  )
}

function stateText({ status, agent, ended }: ChatState): string {
  if (status === 'agent') return `${agent?.name ?? 'An agent'} has this chat.`
  if (status === 'pending') return 'The user asks for a person.'
  return ended ? 'The chat has ended.' : 'The bot has this chat. The user has not asked for a person.'
}

interface ChatCallsProps {
  readonly chatId: string
}

interface ChatButtonsProps extends ChatCallsProps {
  readonly chat: ChatState
  readonly isNow: boolean
}

function ChatButtons({ chatId, chat: { status }, isNow }: ChatButtonsProps) {
  const { agentSide: side } = useSession()
  const accept = () => {
    if (!isNow) return
    const { supportsAttachment } = side.profile.value
    side.call('start', chatId, {
      sender: senderOf(side.profile.value, true),
      supports_attachment: supportsAttachment,
    })
  }
  const end = () => {
    if (isNow && status === 'agent') side.call('end', chatId, { sender: senderOf(side.profile.value) })
  }
  useShortcuts('Agent', { a: ['Accept the chat', accept], e: ['Hand the chat back', end] })
  return (
    <div class="buttons">
      <button type="button" class={status === 'agent' ? '' : 'primary'} onClick={accept}>
        Accept
      </button>
      <button type="button" disabled={status !== 'agent'} onClick={end}>
        Hand back
      </button>
    </div>
  )
}

const MORE_CALLS = [
  ['transcript', 'Get the handover transcript'],
  ['summarize', 'Summarize the chat'],
  ['chat', 'Read the whole chat'],
  ['typing_start', 'Show that the agent types'],
  ['typing_stop', 'Stop showing it'],
] as const

function MoreCalls({ chatId }: ChatCallsProps) {
  const { agentSide: side } = useSession()
  return (
    <details class="fold">
      <summary>More calls</summary>
      <div class="buttons">
        {MORE_CALLS.map(([endpoint, text]) => (
          <button key={endpoint} type="button" onClick={() => side.call(endpoint, chatId)}>
            {text}
          </button>
        ))}
      </div>
    </details>
  )
}
