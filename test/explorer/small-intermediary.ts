/** An intermediary as two groups of functions, its webhook and its desk, which calls the simulator with `sim.fetch`. */
import type { InboxItem } from '../../src/running/agent-driver/driver.ts'
import type { AgentFunctions } from '../../src/testing/agent.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../../src/testing/simulator.ts'

interface Event {
  readonly event: string
  readonly chat: { readonly id: string }
  readonly message?: string
}

interface Behaviour {
  /** Whether a text of the user is lost. */
  loses?(text: string): boolean
  /** Whether the inbox begins anew with each request. */
  readonly renewsInbox?: boolean
  /** Called with each event before it is handled. */
  received?(event: Event): void
}

/** `sim`: the simulator that it calls, which is created after it. */
export function createSmallIntermediary(sim: () => Simulator, { loses, renewsInbox, received }: Behaviour = {}) {
  const inboxes = new Map<string, InboxItem[]>()
  const withAgent = new Set<string>()
  const inboxOf = (id: string) => {
    const inbox = inboxes.get(id) ?? []
    inboxes.set(id, inbox)
    return inbox
  }
  async function webhook(request: Request): Promise<Response> {
    const event = (await request.json()) as Event
    received?.(event)
    const { chat, message: text = '' } = event
    const inbox = inboxOf(chat.id)
    if (event.event === 'REQUESTING TAKEOVER') {
      if (renewsInbox && !withAgent.has(chat.id)) inbox.length = 0
      inbox.push({ request: true })
    }
    if (event.event === 'MESSAGE FROM USER' && withAgent.has(chat.id) && !loses?.(text)) inbox.push({ text })
    return new Response('ok')
  }
  /** Tries it twice. */
  async function post(path: string, body: object): Promise<void> {
    const { apiKey, botId, baseUrl, fetch } = sim()
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ bot_id: botId, ...body }) }
    const call = () => fetch(`${baseUrl}/api/v2/handover/${path}`, init).catch(() => Response.error())
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
  return { agent, webhook }
}

/** A simulator with this intermediary. */
export function withSmallIntermediary({ loses, renewsInbox, received, ...options }: Behaviour & SimulatorOptions = {}) {
  const behaviour = { ...(loses && { loses }), ...(renewsInbox && { renewsInbox }), ...(received && { received }) }
  const { agent, webhook } = createSmallIntermediary(() => sim, behaviour)
  const sim: Simulator = createSimulator({ clock: 'virtual', ...options, agent, webhook: { fetch: webhook } })
  return sim
}
