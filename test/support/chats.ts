/** Small readings of a conversation that many tests share. */

import type { MessageView } from '../../src/platform/chat-view.ts'
import type { ChatHandle } from '../../src/simulator/chat-handle.ts'
import type { ChatOptions } from '../../src/simulator/new-chat.ts'
import type { PlatformSimulator } from '../../src/simulator/simulator.ts'
import type { Api } from './api.ts'

export const AGENT = { name: 'Kari', avatar: 'https://desk.example.test/kari.png' }

/** `bot: Hi` per message, oldest first. */
export const transcriptLines = (chat: ChatHandle): string[] =>
  chat.transcript.map(({ from, text }) => `${from}: ${text}`)

export const lastMessage = (chat: ChatHandle): MessageView => chat.transcript.at(-1)!

/** A chat an agent is in. */
export async function takenOver(
  { sim, api }: { sim: PlatformSimulator; api: Api },
  start: Readonly<Record<string, unknown>> = {},
  options: ChatOptions = {},
): Promise<ChatHandle> {
  const chat = await sim.chat(options)
  await api.start({ chat_id: chat.id, sender: AGENT, ...start })
  return chat
}
