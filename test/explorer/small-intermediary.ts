/** An intermediary as two groups of functions, its webhook and its desk, which calls the simulator with `sim.fetch`. */
import type { InboxItem } from '../../src/running/agent-driver/driver.ts'
import type { AgentFunctions } from '../../src/testing/agent.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'

interface Event {
  readonly event: string
  readonly chat: { readonly id: string }
  readonly message?: string
}

export interface SmallOptions extends SimulatorOptions {
  /** Whether a text of the user is lost. `texts`: those of the chat so far. */
  loses?(text: string, texts: readonly string[]): boolean
  /** Whether the inbox begins anew with each request. */
  readonly renewsInbox?: boolean
  /** Called with each event before it is handled. */
  received?(event: Event): void
}

/** A simulator with this intermediary. */
export function withSmallIntermediary({
  loses = () => false,
  received,
  renewsInbox,
  ...options
}: SmallOptions = {}): Simulator {
  const inboxes = new Map<string, InboxItem[]>()
  const withAgent = new Set<string>()
  const inboxOf = (id: string) => {
    const inbox = inboxes.get(id) ?? []
    inboxes.set(id, inbox)
    return inbox
  }
  function handle(event: Event): void {
    received?.(event)
    const inbox = inboxOf(event.chat.id)
    if (event.event === 'REQUESTING TAKEOVER' && renewsInbox && !withAgent.has(event.chat.id)) inbox.length = 0
    if (event.event === 'REQUESTING TAKEOVER') inbox.push({ request: true })
    if (event.event !== 'MESSAGE FROM USER' || !withAgent.has(event.chat.id)) return
    const texts = inbox.flatMap(({ text }) => text ?? [])
    const { message: text = '' } = event
    if (!loses(text, texts)) inbox.push({ text })
  }
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ bot_id: sim.botId, ...body }) }
    const call = () => sim.fetch(`${sim.baseUrl}/api/v2/handover/${path}`, init).catch(() => Response.error())
    for (let attempt = 1; attempt <= 2; attempt++) if ((await call()).ok) return
    throw new Error(`${path} failed twice`)
  }
  const agent: AgentFunctions = {
    accept: async ({ chat }) => {
      withAgent.add(chat.id)
      await post('start', { chat_id: chat.id })
    },
    says: ({ chat, text }) => post('message', { chat_id: chat.id, message: text }),
    leave: async ({ chat }) => {
      withAgent.delete(chat.id)
      await post('end', { chat_id: chat.id })
    },
    inbox: ({ chat }) => inboxOf(chat.id),
  }
  const sim = createSimulator({
    clock: 'virtual',
    ...options,
    agent,
    webhook: {
      fetch: async request => {
        handle((await request.json()) as Event)
        return new Response('ok')
      },
    },
  })
  return sim
}
