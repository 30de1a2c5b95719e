/** Lets a person be the agent: each button calls the platform as an intermediary does. */
import './agent-desk.css'
import { useRef } from 'preact/hooks'
import type { PlatformKeys } from '../../server/control/routes/description.ts'
import { callPlatform } from '../client/control.ts'
import type { Session } from './session.ts'

const SENDER = { name: 'Anna', avatar: '' }

export function AgentDesk({ session }: { readonly session: Session }) {
  const { chat, chatId } = session
  const field = useRef<HTMLInputElement>(null)
  if (chat.value === null) return <p class="empty">The agent has nothing to do: there is no chat.</p>
  const { status } = chat.value
  const call = (path: string, body: object = {}) => session.act(() => asAgent(session, path, body))
  const say = (event: Event) => {
    event.preventDefault()
    const message = field.current?.value ?? ''
    if (message === '' || field.current === null) return
    field.current.value = ''
    call('message/', { message, sender: SENDER })
  }
  return (
    <div class="agent-desk">
      <p class="agent-state">{DESK_TEXTS[status]}</p>
      <div class="agent-buttons">
        <button
          type="button"
          class="primary"
          disabled={status === 'agent'}
          onClick={() => call('start', { sender: SENDER })}
        >
          Accept
        </button>
        <button type="button" disabled={status !== 'agent'} onClick={() => call('typing_start')}>
          Type
        </button>
        <button type="button" disabled={status !== 'agent'} onClick={() => call('end', { sender: SENDER })}>
          Hand back
        </button>
      </div>
      <form class="composer" onSubmit={say}>
        <input
          ref={field}
          aria-label="Message of the agent"
          placeholder="Write as the agent"
          autocomplete="off"
          dir="auto"
        />
        <button type="submit">Send</button>
      </form>
      <p class="hint">Chat {chatId.value}</p>
    </div>
  )
}

const DESK_TEXTS = {
  bot: 'The bot has this chat. The user has not asked for a person.',
  pending: 'The user asks for a person.',
  agent: 'You have this chat.',
} as const

async function asAgent({ client, origin, chatId }: Session, path: string, body: object): Promise<void> {
  const keys = await client.send<PlatformKeys>('GET', '/keys')
  const { status, body: answer } = await callPlatform(origin, keys.api_key, path, {
    bot_id: keys.bot_id,
    chat_id: chatId.peek(),
    ...body,
  })
  if (status >= 400) throw new Error(`The platform refused the call with ${status}: ${JSON.stringify(answer)}`)
}
