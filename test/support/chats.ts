/** Reads transcripts and starts handovers for tests. */

import type { MessageView } from '../../src/platform/rules/transcript.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { ChatOptions } from '../../src/platform/simulator/new-chat.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import type { Api } from './api.ts'

export const AGENT = { name: 'Kari', avatar: 'https://desk.example.test/kari.png' }

/** Returns `bot: Hi` per message, oldest first. */
export const transcriptLines = (chat: ChatHandle): string[] =>
  chat.transcript.map(({ from, text }) => `${from}: ${text}`)

export const lastMessage = (chat: ChatHandle): MessageView => chat.transcript.at(-1)!

/** Creates a chat and starts its handover. */
export async function takenOver(
  { sim, api }: { sim: PlatformSimulator; api: Api },
  start: Readonly<Record<string, unknown>> = {},
  options: ChatOptions = {},
): Promise<ChatHandle> {
  const chat = await sim.chat(options)
  await api.start({ chat_id: chat.id, sender: AGENT, ...start })
  return chat
}
