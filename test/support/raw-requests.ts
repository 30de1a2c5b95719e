/** Sends requests with raw bodies and headers, for tests of malformed requests. */

import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { checked, encode, pathFor, type Reply } from './api.ts'
import { AGENT } from './chats.ts'
import type { SimulatorSetup } from './test-simulator.ts'

export const HANDOVER_IDS = Object.keys(ENDPOINTS).filter(id => id !== 'chat') as EndpointId[]
/** The endpoints whose body names a chat. */
export const CHAT_BODY_IDS = HANDOVER_IDS.filter(id => id !== 'availability')

/** The events that confirm calls. */
export const CONFIRMATIONS: Partial<Record<EndpointId, string>> = {
  transcript: 'TRANSCRIPT',
  summarize: 'SUMMARIZED',
  availability: 'HANDOVER AVAILABILITY UPDATED',
  start: 'TAKEOVER STARTED',
  end: 'TAKEOVER ENDED',
  message: 'MESSAGE SENT TO USER',
}

/** A history that every endpoint accepts. */
export const HISTORY = [{ user: 'My parcel has not arrived yet.' }, { user: 'Order 100-48213.' }]

/** The smallest body that the endpoint accepts. */
export function validBody(id: EndpointId, botId: number, chatId: string): Record<string, unknown> {
  if (id === 'availability') return { availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' }
  const ids = { bot_id: botId, chat_id: chatId }
  return id === 'message' ? { ...ids, message: 'hi', sender: AGENT } : ids
}

/** Posts bytes, or text as UTF-8, with the right key. */
export async function post(
  { sim, send }: SimulatorSetup,
  id: EndpointId,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Reply> {
  const bytes = typeof body === 'string' ? encode(body) : body
  const authorization = `Bearer ${sim.apiKey}`
  return checked(id, await send(pathFor(id), { method: 'POST', headers: { authorization, ...headers }, body: bytes }))
}

/** The state that a refused call must not change. */
export function stateOf({ sim, hook }: SimulatorSetup, chat: ChatHandle) {
  const entries = sim.journal.query().filter(entry => entry.kind !== 'api')
  return structuredClone({ chat: chat.view(), chats: sim.chats(), entries, received: hook.received.length })
}
