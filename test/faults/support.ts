/** Helpers for tests of faults. */
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { AGENT } from '../support/chats.ts'
import type { SimulatorSetup } from '../support/test-simulator.ts'

/** One API fault of each kind. */
export const API_FAULTS: readonly FaultSpec[] = [
  { on: 'api', respond: { status: 503 } },
  { on: 'api', latency: '5ms' },
  { on: 'api', drop: 'before' },
  { on: 'api', drop: 'after' },
  { on: 'api', reset: true },
  { on: 'api', slow_body: '20ms' },
  { on: 'api', malformed: true },
]

export const hitsOf = (sim: PlatformSimulator) => sim.journal.query({ kind: 'fault' })
export const callsOf = (sim: PlatformSimulator) => sim.journal.query({ kind: 'api' })
export const lastCall = (sim: PlatformSimulator) => callsOf(sim).at(-1)!

/** Calls a handover endpoint without checking the answer against the contract. */
export function raw(
  { sim, send }: Pick<SimulatorSetup, 'sim' | 'send'>,
  name: string,
  chatId: string,
  more: object = {},
) {
  const extra = name === 'message' ? { message: 'Hi', sender: AGENT } : {}
  return send(`/api/v2/handover/${name}${name === 'message' ? '/' : ''}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: sim.botId, chat_id: chatId, ...extra, ...more }),
  })
}

/** The user writes these messages without waiting for answers. */
export function writes(chat: ChatHandle, ...texts: string[]): void {
  for (const text of texts) chat.says(text).catch(() => {})
}
