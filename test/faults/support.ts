/** Helpers for tests of faults. */
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

export const hitsOf = (sim: PlatformSimulator) => sim.journal.query({ kind: 'fault' })

/** The user writes these messages without waiting for answers. */
export function writes(chat: ChatHandle, ...texts: string[]): void {
  for (const text of texts) chat.says(text).catch(() => {})
}
