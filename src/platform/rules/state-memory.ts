/** Bounds the memory of the state that is never evicted: chats with their context, and faults. */

import { sizeOf } from '../journal/journal.ts'
import type { Chat, StateMemory } from './state.ts'

/** The state would exceed `memoryLimit`. Nothing was changed. */
export class MemoryLimitError extends Error {
  override readonly name = 'MemoryLimitError'
}

export function createStateMemory(limit: number): StateMemory {
  let total = 0
  const problem = (needed: number) =>
    needed > limit
      ? `Chats and faults would take ${needed} bytes, and the limit is ${limit} bytes (memoryLimit): reset the simulator, or raise the limit with --memory-limit or memoryLimit.`
      : null
  return {
    add(bytes) {
      const found = bytes > 0 ? problem(total + bytes) : null
      if (found !== null) throw new MemoryLimitError(found)
      total += bytes
    },
    problem,
    clear() {
      total = 0
    },
  }
}

/** The measured memory of a chat whose fields have at most the size of ordinary ones. */
const CHAT_BYTES = 640
const ORDINARY_BYTES = 1024
const FAULT_BYTES = 1024

type ChatFields = Pick<Chat, 'id' | 'userId' | 'language' | 'source' | 'persona' | 'context' | 'labels'>

/** The memory of a chat without its messages, which can be evicted. */
export const sizeOfChat = ({ id, userId, language, source, persona, context, labels }: ChatFields): number =>
  CHAT_BYTES + Math.max(0, sizeOf([id, userId, language, source, persona, context, labels]) - ORDINARY_BYTES)

/** The other fields of a fault are short. */
export const sizeOfFault = ({ name, respond }: { readonly name: string; readonly respond?: unknown }): number =>
  FAULT_BYTES + sizeOf([name, respond])
