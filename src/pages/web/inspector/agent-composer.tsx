/** Writes a message of the agent, and shows the user that the agent types meanwhile. */

import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { elapsedMs, type Timer, wallTimer } from '../../../base/runtime/clock.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import { type AgentSide, buildSender } from './agent-side.ts'
import { joinTexts } from './drafts.ts'
import { useSession } from './session-context.ts'

/** What the platform is asked to show without a further call. */
const TYPING_MS = 10_000
/** Without a key for this long, the agent has stopped. */
const IDLE_MS = 4_000

/** The answers of these calls would hide those of others. */
const QUIET = { isQuiet: true }

interface AgentComposerProps {
  readonly chatId: string
  readonly draft: Signal<string>
  /** Whether an agent has the chat. */
  readonly hasChat: boolean
}

/** Belongs to one chat: another one needs another `key`. */
export function AgentComposer({ chatId, draft, hasChat }: AgentComposerProps) {
  const { agentSide: side, view } = useSession()
  const typing = useTyping(side, chatId)
  const field = useRef<HTMLTextAreaElement>(null)
  const answer = () => {
    field.current?.focus()
    if (document.activeElement === field.current) return
    // Its column is folded, or is not the one that a narrow screen shows.
    view.column.value = 'side'
    requestAnimationFrame(() => field.current?.focus())
  }
  useShortcuts('Agent', { r: ['Answer as the agent', answer] })
  const send = async (event: Event) => {
    event.preventDefault()
    typing.stop()
    const text = draft.peek()
    if (text === '') return
    draft.value = ''
    const isSent = await side.call('message', chatId, { message: text, sender: buildSender(side.profile.value) })
    // The text comes back when the message is not accepted.
    if (!isSent) draft.value = joinTexts(text, draft.peek())
  }
  return (
    <form class="stack agent-composer" onSubmit={send}>
      <textarea
        ref={field}
        aria-label="Message of the agent"
        placeholder="Write as the agent"
        rows={2}
        dir="auto"
        value={draft.value}
        onInput={({ currentTarget: { value } }) => {
          draft.value = value
          if (hasChat) typing.changed(value)
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event)
          // Outside of the field, the keys are shortcuts.
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <div class="buttons">
        <button type="submit" class={hasChat ? 'primary' : ''}>
          Send
        </button>
      </div>
    </form>
  )
}

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
