/** Writes a message of the agent, with buttons, and shows the user that the agent types meanwhile. */

import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { elapsedMs, type Timer, wallTimer } from '../../../base/runtime/clock.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import { type AgentSide, senderOf } from './agent-side.ts'
import { type AgentDraft, type ButtonDraft, joinTexts, NO_AGENT_DRAFT } from './drafts.ts'
import { ButtonInputs } from './fields.tsx'
import { useSession } from './session-context.ts'

/** What the platform is asked to show without a further call. */
const TYPING_MS = 10_000
/** Without a key for this long, the agent has stopped. */
const IDLE_MS = 4_000

/** The answers of these calls would hide those of others. */
const QUIET = { isQuiet: true }

interface AgentComposerProps {
  readonly chatId: string
  readonly draft: Signal<AgentDraft>
  /** Whether an agent has the chat. */
  readonly hasChat: boolean
}

/** Belongs to one chat: another one needs another `key`. */
export function AgentComposer({ chatId, draft, hasChat }: AgentComposerProps) {
  const { agentSide: side } = useSession()
  const { text, buttons } = draft.value
  const setButtons = (changed: readonly ButtonDraft[]) => {
    draft.value = { ...draft.peek(), buttons: changed }
  }
  const typing = useTyping(side, chatId)
  const field = useRef<HTMLTextAreaElement>(null)
  useShortcuts('Agent', { r: ['Answer as the agent', () => field.current?.focus()] })
  const send = () => {
    typing.stop()
    sendDraft(side, chatId, draft)
  }
  const write = (value: string) => {
    draft.value = { ...draft.peek(), text: value }
    if (hasChat) typing.changed(value)
  }
  return (
    <form
      class="stack agent-composer"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        aria-label="Message of the agent"
        placeholder="Write as the agent"
        rows={2}
        dir="auto"
        value={text}
        onInput={({ currentTarget: { value } }) => write(value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {buttons.map((button, index) => (
        <ButtonInputs
          key={index}
          number={index + 1}
          {...button}
          onChange={change => setButtons(buttons.with(index, { ...button, ...change }))}
          onRemove={() => setButtons(buttons.toSpliced(index, 1))}
        />
      ))}
      <div class="buttons">
        <button type="submit" class={hasChat ? 'primary' : ''}>
          Send
        </button>
        <button type="button" class="quiet" onClick={() => setButtons([...buttons, { label: '', url: '' }])}>
          Add a button
        </button>
      </div>
    </form>
  )
}

/** The draft comes back when the message is not accepted. */
async function sendDraft(side: AgentSide, chatId: string, draft: Signal<AgentDraft>): Promise<void> {
  const { text, buttons } = draft.peek()
  if (text === '' && buttons.length === 0) return
  draft.value = NO_AGENT_DRAFT
  const isSent = await side.call('message', chatId, {
    message: text,
    sender: senderOf(side.profile.value),
    ...(buttons.length === 0 ? {} : { buttons: buttons.map(toButton) }),
  })
  if (isSent) return
  const later = draft.peek()
  draft.value = { text: joinTexts(text, later.text), buttons: [...buttons, ...later.buttons] }
}

/** A button without a link is pressed by the user. */
const toButton = ({ label, url }: ButtonDraft) => (url === '' ? { label } : { label, url })

interface Typing {
  changed(text: string): void
  stop(): void
}

/** Calls `typing_start` with the first key and again before its timeout, and `typing_stop` when the agent stops. */
function useTyping(side: AgentSide, chatId: string): Typing {
  const typing = useRef<{ startedMs: number; idle: Timer } | null>(null)
  const finish = () => {
    if (typing.current === null) return
    typing.current.idle.cancel()
    typing.current = null
    side.call('typing_stop', chatId, {}, QUIET)
  }
  useEffect(() => finish, [])
  return {
    stop: finish,
    changed(text) {
      if (!side.profile.peek().showsTyping || text === '') return finish()
      const { startedMs = Number.NEGATIVE_INFINITY, idle } = typing.current ?? {}
      idle?.cancel()
      const isDue = elapsedMs() - startedMs > TYPING_MS / 2
      if (isDue) side.call('typing_start', chatId, { timeout: TYPING_MS }, QUIET)
      typing.current = { startedMs: isDue ? elapsedMs() : startedMs, idle: wallTimer(IDLE_MS, finish) }
    },
  }
}
