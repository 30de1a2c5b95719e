/** Plays the agent in a help desk: its inbox of the shown chat, and what the agent driver can do there. */
import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { wallDelay } from '../../../base/runtime/clock.ts'
import { messageOf } from '../../../base/text/error-text.ts'
import type { AgentActionResult, AgentDescription, AgentInbox } from '../../../server/control/routes/agent.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import { agentDraft, joinTexts } from './drafts.ts'
import { EntryLink, TextField } from './fields.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

type Action = { readonly verb: string; readonly text?: string; readonly with?: unknown }

const VERBS = [
  ['accept', 'Accept'],
  ['type', 'Type'],
  ['stop', 'Stop typing'],
  ['leave', 'Leave the chat'],
  ['away', 'Go away'],
  ['back', 'Come back'],
] as const

export function HelpDesk({ agent: { verbs } }: { readonly agent: AgentDescription }) {
  const session = useSession()
  const { client, view } = session
  const result = useSignal<AgentActionResult | null>(null)
  const chatId = session.chatId.value
  const status = session.chat.value?.status ?? null
  /** Resolves to whether the help desk accepted the action. */
  const act = async (action: Action) => {
    const body = { chat_id: chatId ?? undefined, ...action }
    const acted = client.send<AgentActionResult>('POST', '/agent', { body })
    session.act(async () => (result.value = await acted))
    return acted.then(({ outcome }) => outcome === 'ok').catch(() => false)
  }
  // A chat in which the agent acts stays, also when a newer one begins.
  const stay = () => {
    if (chatId !== null) view.chat.value = chatId
  }
  const isNow = view.at.value === null
  const accept = () => {
    if (isNow && verbs.includes('accept')) act({ verb: 'accept' })
  }
  useShortcuts('Agent', { a: ['Accept the chat in the help desk', accept, 'action'] })
  const draft = chatId === null ? null : agentDraft(session.findDraft, chatId)
  const reply = async (event: Event) => {
    event.preventDefault()
    const text = draft?.peek() ?? ''
    if (draft === null || text === '') return
    draft.value = ''
    if (!(await act({ verb: 'says', text }))) draft.value = joinTexts(text, draft.peek())
  }
  return (
    <section class="help-desk" aria-label="Help desk" onFocusCapture={stay}>
      {chatId !== null && verbs.includes('inbox') ? <Inbox key={chatId} chatId={chatId} /> : null}
      <fieldset class="form" disabled={!isNow}>
        <div class="buttons">
          {VERBS.map(([verb, text]) =>
            !verbs.includes(verb) ? null : (
              <button
                key={verb}
                type="button"
                class={verb === 'accept' && status === 'pending' ? 'primary' : ''}
                // Away and back are about the whole help desk.
                disabled={status === null && verb !== 'away' && verb !== 'back'}
                onClick={() => act({ verb })}
              >
                {text}
              </button>
            ),
          )}
        </div>
        {verbs.includes('says') && draft !== null ? (
          <form class="help-desk-reply" onSubmit={reply}>
            <input
              aria-label="Message of the agent"
              placeholder="Write in the help desk"
              autocomplete="off"
              dir="auto"
              value={draft.value}
              onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
            />
            <button type="submit" class={status === 'agent' ? 'primary' : ''}>
              Send
            </button>
          </form>
        ) : null}
        <DriverVerbs verbs={verbs.filter(verb => verb.startsWith(DOES))} act={act} />
      </fieldset>
      <div role="status">{result.value === null ? null : <Result result={result.value} />}</div>
    </section>
  )
}

const DOES = 'does.'

interface DriverVerbsProps {
  readonly verbs: readonly string[]
  act(action: Action): unknown
}

/** Verbs of the user's driver, with their parameters as JSON. */
function DriverVerbs({ verbs, act }: DriverVerbsProps) {
  const [parameters, setParameters] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  if (verbs.length === 0) return null
  const run = (verb: string) => {
    try {
      act({ verb, with: JSON.parse(parameters || '{}') })
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <details class="fold">
      <summary>Verbs of your own</summary>
      <div class="form">
        <TextField
          label="Parameters as JSON"
          value={parameters}
          placeholder={'{"team":"billing"}'}
          problem={problem}
          onChange={setParameters}
        />
        <div class="buttons">
          {verbs.map(verb => (
            <button key={verb} type="button" onClick={() => run(verb)}>
              {verb.slice(DOES.length)}
            </button>
          ))}
        </div>
      </div>
    </details>
  )
}

function Result({ result }: { readonly result: AgentActionResult }) {
  const { how, outcome, status, error, seq } = result
  return (
    <div class={outcome === 'ok' ? 'help-desk-result' : 'help-desk-result refusal'}>
      <code>{how}</code>
      <p>
        {outcome === 'ok' ? `The help desk answered${status === undefined ? '' : ` ${status}`}.` : error}{' '}
        <EntryLink seq={seq}>Entry </EntryLink>
      </p>
    </div>
  )
}

function Inbox({ chatId }: { readonly chatId: string }) {
  const session = useSession()
  const inbox = useInbox(session, chatId)
  if (inbox === null) return <p class="hint">Reading the inbox.</p>
  const { items, error, status } = inbox
  // A driver may answer 404 for a chat that no agent has.
  const isUnknown = status === 404 && session.chat.value?.status !== 'agent'
  return (
    <div class="stack inbox">
      <h3>Inbox of the help desk</h3>
      {error === undefined || isUnknown ? null : <p class="refusal">The inbox cannot be read: {error}</p>}
      {isUnknown || (items.length === 0 && error === undefined) ? (
        <p class="hint">The help desk does not know this chat yet.</p>
      ) : null}
      <ol aria-label="Inbox of the help desk">
        {items.map((item, index) => (
          <li key={index} dir="auto">
            {item.request ? <span class="hint">The user asks for a person.</span> : (item.text ?? '')}
            {(item.attachments ?? []).map((file, at) => (
              <span key={at} class="inbox-file">
                {file.name}
              </span>
            ))}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** A help desk may take an event after it has answered, so the inbox is read once more a little later. */
const READ_AFTER_MS = [100, 1_500]

/** Reads the inbox again when something happened in the chat. Entries of the driver are left out: the page makes them. */
function useInbox({ log, client, problem }: Session, chatId: string): AgentInbox | null {
  const [inbox, setInbox] = useState<AgentInbox | null>(null)
  const entries = log.value.chats.get(chatId) ?? []
  const changedSeq = entries.findLast(({ kind }) => kind !== 'driver')?.seq ?? 0
  useEffect(() => {
    const ended = new AbortController()
    const read = async () => {
      for (const delayMs of READ_AFTER_MS) {
        await wallDelay(delayMs, ended.signal)
        if (ended.signal.aborted) return
        setInbox(
          await client.send<AgentInbox>('GET', '/agent/inbox', { query: { chat_id: chatId }, signal: ended.signal }),
        )
      }
    }
    read().catch((error: unknown) => {
      if (!ended.signal.aborted) problem.value = messageOf(error)
    })
    return () => ended.abort()
  }, [client, chatId, changedSeq])
  return inbox
}
