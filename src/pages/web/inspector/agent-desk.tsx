/** Shows the agent's side: who plays it, the chats that ask for a person, and the desk for the shown chat. */
import './agent-desk.css'
import { useEffect, useState } from 'preact/hooks'
import { isMap } from '../../../base/objects.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import { errorIn } from '../../../platform/wording/hints.ts'
import type { AgentDescription } from '../../../server/control/routes/agent.ts'
import type { PlatformResponse } from '../client/control.ts'
import { CallCode } from '../components/call-code.tsx'
import { Payload } from '../components/entry-details.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { GUIDE_STEPS, type GuideStep } from '../model/agent-queue.ts'
import type { ChatState } from '../model/chat-items.ts'
import { requestOf } from '../model/snippets.ts'
import { showSection } from './address.ts'
import { AgentComposer } from './agent-composer.tsx'
import { type AgentProfile, type AgentSide, buildSender, readStored, writeStored } from './agent-side.ts'
import { agentDraft } from './drafts.ts'
import { EntryLink, SwitchField, TextField } from './fields.tsx'
import { HelpDesk } from './help-desk.tsx'
import { usePlatformStore } from './platform/platform-section.tsx'
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
      {playsHere ? (
        <>
          <ChatDesk />
          <LastCall />
          <AgentProfileForm />
        </>
      ) : null}
    </div>
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
  const player = agent.plays === 'page' ? `the intermediary at ${agent.webhook_url}` : PLAYER_TEXTS[agent.plays].other
  return (
    <section class="desk-player" aria-label="Who plays the agent">
      {agent.problem === null ? null : <p class="refusal">{agent.problem}</p>}
      <p>
        {playsAnyway.value
          ? `The calls of this desk mix with those of ${player}.`
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
  const { agentSide, chatId: selected, chatName, view } = useSession()
  const { chats } = agentSide.queue.value
  return (
    <section class="desk-queue" aria-label="Queue">
      <h3>
        Queue <WaitingBadge />
      </h3>
      {chats.length === 0 ? <p class="hint">No chat asks for a person.</p> : null}
      <ul>
        {chats.map(({ chatId, status, userName, lastText }) => (
          <li key={chatId}>
            <button
              type="button"
              class={`queue-item ${status}`}
              aria-current={selected.value === chatId ? 'true' : undefined}
              onClick={() => (view.chat.value = chatId)}
            >
              <strong dir="auto">{userName ?? chatName(chatId)}</strong>
              <span class="queue-status">{status === 'pending' ? 'asks for a person' : 'with an agent'}</span>
              <span class="queue-text" dir="auto">
                {lastText}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

const MORE_CALLS = [
  ['transcript', 'Get the handover transcript'],
  ['summarize', 'Summarize the chat'],
  ['chat', 'Read the whole chat'],
  ['typing_start', 'Show that the agent types'],
  ['typing_stop', 'Stop showing it'],
  ['availability', 'Set to OPEN', { availability: 'OPEN', reason: 'AGENT_AVAILABILITY' }],
  ['availability', 'Set to CLOSED', { availability: 'CLOSED', reason: 'AGENT_AVAILABILITY' }],
] as const satisfies readonly (readonly [EndpointId, string, object?])[]

function ChatDesk() {
  const { agentSide, chat, chatId, view, findDraft } = useSession()
  const { profile, call } = agentSide
  const id = chatId.value
  const shown = chat.value
  const isNow = view.at.value === null
  const hasAgent = shown?.status === 'agent'
  const accept = () => {
    if (!isNow || id === null) return
    const { supportsAttachment } = profile.value
    void call('start', id, { sender: buildSender(profile.value, true), supports_attachment: supportsAttachment })
  }
  const end = () => {
    if (isNow && hasAgent) void call('end', id, { sender: buildSender(profile.value) })
  }
  useShortcuts('Agent', { a: ['Accept the chat', accept, 'action'], e: ['Hand the chat back', end, 'action'] })
  if (shown === null || id === null)
    return <p class="hint">Start a chat as the end user. What the agent can do with it appears here.</p>
  return (
    // A chat in which the agent acts stays, also when a newer one begins.
    <section class="desk-chat" aria-label="Chat of the agent" onFocusCapture={() => (view.chat.value = id)}>
      <p class={`desk-state ${shown.status}`}>{stateText(shown)}</p>
      <fieldset class="form" disabled={!isNow}>
        <div class="buttons">
          <button type="button" class={shown.status === 'pending' ? 'primary' : ''} onClick={accept}>
            Accept
          </button>
          <button type="button" disabled={!hasAgent} onClick={end}>
            Hand back
          </button>
        </div>
        <AgentComposer key={id} chatId={id} draft={agentDraft(findDraft, id)} hasChat={hasAgent} />
        <details class="fold">
          <summary>More calls</summary>
          <div class="buttons">
            {MORE_CALLS.map(([endpoint, text, body]) => (
              <button key={text} type="button" onClick={() => void call(endpoint, id, body)}>
                {text}
              </button>
            ))}
          </div>
        </details>
      </fieldset>
    </section>
  )
}

function stateText({ status, agent, ended }: ChatState): string {
  if (status === 'agent') return `${agent?.name ?? 'An agent'} has this chat.`
  if (status === 'pending') return 'The user asks for a person.'
  return ended ? 'The chat has ended.' : 'The bot has this chat. The user has not asked for a person.'
}

const STORED = 'handover-sim guide'

const USER = 'as the end user'

const STEPS: Readonly<Record<GuideStep, { readonly text: string; readonly where?: string }>> = {
  chat: { text: 'Press New chat', where: USER },
  write: { text: 'Write a message', where: USER },
  request: { text: 'Ask for a person', where: USER },
  accept: { text: 'Accept the chat' },
  answer: { text: 'Answer' },
  end: { text: 'Hand the chat back' },
}

interface GuideProps {
  /** The place of the agent's steps: `here`. */
  readonly agentWhere: string
}

function AgentGuide({ agentWhere }: GuideProps) {
  const { agentSide: side, view } = useSession()
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
            {done.has(step) ? (
              <span class="visually-hidden">, done</span>
            ) : (
              <span class="hint">{STEPS[step].where ?? agentWhere}</span>
            )}
          </li>
        ))}
      </ol>
      {isComplete ? (
        <p class="hint">
          Now with your service:{' '}
          <button type="button" class="link" onClick={() => showSection(view, 'webhook')}>
            connect it
          </button>
          .
        </p>
      ) : null}
    </section>
  )
}

const PROFILE_FIELDS = [
  ['name', 'Name', 'Anna'],
  ['avatar', 'Avatar', 'https://… (address of an image)'],
  ['languages', 'Languages', 'Codes such as nb, en. Other languages are translated'],
] as const

const PROFILE_SWITCHES = [
  ['supportsAttachment', 'Users can send files'],
  ['showsTyping', 'Show the user that I type'],
] as const

/** Changes count from the next call on; most take effect with the next Accept. */
function AgentProfileForm() {
  const { profile } = useSession().agentSide
  const change = (part: Partial<AgentProfile>) => {
    profile.value = { ...profile.value, ...part }
  }
  return (
    <details class="fold">
      <summary>The agent: {profile.value.name || 'without a name'}</summary>
      <div class="form">
        {PROFILE_FIELDS.map(([field, label, placeholder]) => (
          <TextField
            key={field}
            label={label}
            value={profile.value[field]}
            placeholder={placeholder}
            dir="auto"
            onChange={value => change({ [field]: value })}
          />
        ))}
        {PROFILE_SWITCHES.map(([field, label]) => (
          <SwitchField key={field} isOn={profile.value[field]} onChange={isOn => change({ [field]: isOn })}>
            {label}
          </SwitchField>
        ))}
        <p class="hint">Languages and files belong to the next Accept.</p>
      </div>
    </details>
  )
}

/** The last call of the page, with its answer. */
function LastCall() {
  const { agentSide } = useSession()
  const call = agentSide.lastCall.value
  if (call === null) return null
  const response = call.response.value
  const seq = agentSide.entryOf(call)
  return (
    <section class="desk-call" aria-label="Last call">
      <header>
        <h3>
          {call.code.method} {new URL(call.code.url).pathname.replace(/^.*\/(api\/v\d\/)/, '$1')}
        </h3>
        {seq === null ? null : <EntryLink seq={seq}>Entry </EntryLink>}
      </header>
      <div role="status">
        {response === null ? (
          <p class="hint">Waiting for the answer.</p>
        ) : 'failure' in response ? (
          <p class="refusal">The server did not answer: {response.failure}</p>
        ) : (
          <CallResponse endpoint={call.endpoint} response={response} />
        )}
      </div>
      <details>
        <summary>The call as code</summary>
        <CallCode request={requestOf(call.code, usePlatformStore().moment.value?.keys ?? null)} />
      </details>
    </section>
  )
}

interface CallResponseProps {
  readonly endpoint: EndpointId
  readonly response: PlatformResponse
}

function CallResponse({ endpoint, response: { status, body } }: CallResponseProps) {
  if (status >= 400) {
    const { message, field } = errorIn(body)
    return (
      <div class="refusal">
        <p>
          <strong>Refused with {status}.</strong> {typeof message === 'string' ? message : null}
        </p>
        {typeof field !== 'string' ? null : (
          <p>
            Field: <code>{field}</code>
          </p>
        )}
        {message === undefined ? <Payload payload={body} /> : null}
      </div>
    )
  }
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
