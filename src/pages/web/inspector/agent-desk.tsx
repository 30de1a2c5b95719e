/** Shows the agent's side: who plays it, the chats that ask for a person, and the desk for the shown chat. */
import './agent-desk.css'
import { useEffect, useState } from 'preact/hooks'
import { isMap } from '../../../base/objects.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { AgentDescription } from '../../../server/control/routes/agent.ts'
import type { PlatformAnswer } from '../client/control.ts'
import { CallCode } from '../components/call-code.tsx'
import { Payload } from '../components/entry-details.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { GUIDE_STEPS, type GuideStep, platformRefusal, type QueuedChat } from '../model/agent-queue.ts'
import type { ChatState } from '../model/chat-items.ts'
import { showEntry } from './address.ts'
import { AgentComposer } from './agent-composer.tsx'
import { AgentProfileForm, AvailabilityForm } from './agent-forms.tsx'
import { type AgentSide, readStored, senderOf, writeStored } from './agent-side.ts'
import { agentDraft } from './drafts.ts'
import { HelpDesk } from './help-desk.tsx'
import type { Session } from './session.ts'
import { useDraft, useSession } from './session-context.ts'

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
      <fieldset class="form" disabled={!isNow}>
        <ChatButtons chatId={chatId} chat={chat} isNow={isNow} />
        <AgentComposer
          key={chatId}
          chatId={chatId}
          draft={agentDraft(session.findDraft, chatId)}
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

const STORED = 'handover-sim guide'

const USER = 'as the end user'

const STEPS: Readonly<Record<GuideStep, { readonly text: string; readonly where?: string }>> = {
  write: { text: 'Write a message', where: USER },
  request: { text: 'Ask for a person', where: USER },
  accept: { text: 'Accept the chat' },
  answer: { text: 'Answer' },
  end: { text: 'Hand the chat back' },
}

interface GuideProps {
  /** Where the agent's steps are done: `here`. */
  readonly agentWhere: string
}

function AgentGuide({ agentWhere }: GuideProps) {
  const { agentSide: side } = useSession()
  const { done } = side.queue.value
  const [isHidden, setHidden] = useDraft('guide is hidden', readStored(STORED) === 'done')
  const isComplete = GUIDE_STEPS.every(step => done.has(step))
  useEffect(() => {
    if (isComplete) writeStored(STORED, 'done')
  }, [isComplete])
  // Stays shown after the last step until it is closed, or the page is loaded again.
  if (isHidden) return null
  const close = () => {
    writeStored(STORED, 'done')
    setHidden(true)
  }
  const next = GUIDE_STEPS.find(step => !done.has(step))
  return (
    <section class="guide" aria-label="Your first handover">
      <header>
        <h3>{isComplete ? 'That was a whole handover' : 'Your first handover'}</h3>
        <button type="button" class="quiet guide-close" aria-label="Close the guide" onClick={close}>
          ✕
        </button>
      </header>
      <ol>
        {GUIDE_STEPS.map(step => (
          <li key={step} class={done.has(step) ? 'done' : ''} aria-current={step === next ? 'step' : undefined}>
            <span class="guide-text">{STEPS[step].text}</span>{' '}
            <span class="hint">{STEPS[step].where ?? agentWhere}</span>
            {done.has(step) ? <span class="visually-hidden">, done</span> : null}
          </li>
        ))}
      </ol>
      {isComplete ? (
        <p class="hint">
          Every call is in the wire. Select one to see its bytes, or open “The call as code” to send it from your
          program.
        </p>
      ) : null}
    </section>
  )
}

function AgentCallResult() {
  const session = useSession()
  const { agentSide: side } = useSession()
  const call = side.lastCall.value
  if (call === null) return null
  const answer = call.answer.value
  const seq = side.entryOf(call)
  return (
    <section class="desk-call" aria-label="Last call">
      <header>
        <h3>
          {call.code.method} {new URL(call.code.url).pathname.replace(/^.*\/(api\/v\d\/)/, '$1')}
        </h3>
        {seq === null ? null : (
          <button type="button" class="link" onClick={() => showEntry(session.view, seq)}>
            Entry #{seq}
          </button>
        )}
      </header>
      <div role="status">
        {answer === null ? (
          <p class="hint">Waiting for the answer.</p>
        ) : (
          <Answer endpoint={call.endpoint} answer={answer} />
        )}
      </div>
      <details>
        <summary>The call as code</summary>
        <CallCode call={call.code} />
        <p class="hint">Put the key into {call.code.keyVariable} first. The platform column has it.</p>
      </details>
    </section>
  )
}

interface AnswerProps {
  readonly endpoint: EndpointId
  readonly answer: PlatformAnswer | { readonly failure: string }
}

function Answer({ endpoint, answer }: AnswerProps) {
  if ('failure' in answer) return <p class="refusal">The server did not answer: {answer.failure}</p>
  const { status, body } = answer
  if (status >= 400) return <Refusal status={status} body={body} />
  return (
    <>
      <p class="desk-done">
        {status} {DONE_TEXTS[endpoint]}
      </p>
      {endpoint === 'summarize' && isMap(body) && typeof body.summary === 'string' ? (
        <blockquote dir="auto">{body.summary}</blockquote>
      ) : (
        <details>
          <summary>The answer</summary>
          <Payload payload={body} />
        </details>
      )}
    </>
  )
}

const DONE_TEXTS = {
  start: 'The agent has the chat.',
  end: 'The bot has the chat again.',
  message: 'The user sees the message.',
  typing_start: 'The user sees that the agent types.',
  typing_stop: 'The user no longer sees it.',
  transcript: 'The messages before the request.',
  summarize: 'A summary of the chat.',
  availability: 'The availability is set.',
  chat: 'The chat with all its messages.',
}

function Refusal({ status, body }: PlatformAnswer) {
  const refusal = platformRefusal(body)
  return (
    <div class="refusal">
      <p>
        <strong>Refused with {status}.</strong> {refusal?.text}
      </p>
      {refusal?.field == null ? null : (
        <p>
          Field: <code>{refusal.field}</code>
        </p>
      )}
      {refusal === null ? <Payload payload={body} /> : null}
    </div>
  )
}
