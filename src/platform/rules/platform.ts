/**
 * Creates the state of the platform, and stores and fires its deadlines. All code of platform/ is synchronous: it knows no
 * HTTP, sets no timer and reads the time from its context. Every operation adds its effects to a transaction.
 */
import { LATEST_MS } from '../../base/runtime/clock.ts'
import { typingTimedOut } from './handover.ts'
import type { BotState, DeadlineAction, Deadlines, MessageMemory, PlatformContext, PlatformState } from './state.ts'
import { createStateMemory, note, type Transaction } from './state.ts'
import { botSays } from './user-actions.ts'

export type BotSpec = Omit<BotState, 'queues'>

/** `memoryLimit` bounds the transcripts, and the other state, in bytes. */
export function createPlatformState(memoryLimit: number): PlatformState {
  return {
    bots: new Map(),
    chats: new Map(),
    files: new Map(),
    deadlines: createDeadlines(),
    messageMemory: createMessageMemory(memoryLimit),
    memory: createStateMemory(memoryLimit),
    forgotten: new Set(),
    chatCounter: 0,
    summaryCounter: 0,
  }
}

/** Without messages; `limit` is a number of bytes. */
export const createMessageMemory = (limit: number): MessageMemory => ({
  limit,
  bytes: 0,
  order: [],
  first: 0,
  isEvictionAnnounced: false,
})

/** Adds or updates bots; known bots keep their availability. */
export function ensureBots(platform: PlatformContext, bots: readonly BotSpec[]): void {
  for (const bot of bots) {
    const existing = platform.state.bots.get(bot.id)
    platform.state.bots.set(bot.id, { ...bot, queues: existing?.queues ?? new Map() })
  }
}

/** Fires one deadline that is due; returns false when none is. */
export function fireDue(platform: PlatformContext, transaction: Transaction): boolean {
  const due = platform.state.deadlines.take(platform.nowMs())
  if (due === null) return false
  const chat = platform.state.chats.get(due.chatId)
  if (chat === undefined) return true
  if (due.kind === 'typing') typingTimedOut(platform, chat, transaction)
  else if (due.kind === 'reply') botSays(platform, chat, due.text, due.buttons, transaction)
  else {
    chat.active = false
    note(transaction, 'chat_ended', chat.id, { why: 'idle' })
  }
  return true
}

interface Slot {
  readonly key: string
  readonly atMs: number
  readonly order: number
  readonly deadline: DeadlineAction
}

const before = (a: Slot, b: Slot) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** Removes the earliest slot of a binary heap. */
function pop(heap: Slot[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (let child = earlierChild(heap, at); child !== null; child = earlierChild(heap, at)) {
    if (!before(child.slot, last)) break
    heap[at] = child.slot
    at = child.at
  }
  heap[at] = last
}

function earlierChild(heap: readonly Slot[], parent: number): { at: number; slot: Slot } | null {
  const at = 2 * parent + 1
  const [left, right] = [heap[at], heap[at + 1]]
  if (left === undefined) return null
  return right !== undefined && before(right, left) ? { at: at + 1, slot: right } : { at, slot: left }
}

/** A binary heap. Replaced slots stay in it until they reach the top, or until they outnumber the current ones. */
function createDeadlines(): Deadlines {
  const live = new Map<string, Slot>()
  let heap: Slot[] = []
  let order = 0

  function top(): Slot | null {
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      if (live.get(first.key) === first) return first
      pop(heap)
    }
    return null
  }
  function compact(): void {
    if (heap.length < 64 || heap.length < 2 * live.size) return
    heap = [...live.values()].sort((a, b) => (before(a, b) ? -1 : 1))
  }

  return {
    current: live,
    set(key, atMs, deadline) {
      const slot = { key, atMs: Math.min(atMs, LATEST_MS), order: order++, deadline }
      live.set(key, slot)
      // Adds a slot to a binary heap.
      let at = heap.length
      for (let parent = (at - 1) >> 1; at > 0; parent = (at - 1) >> 1) {
        const above = heap[parent]
        if (above === undefined || !before(slot, above)) break
        heap[at] = above
        at = parent
      }
      heap[at] = slot

      compact()
    },
    delete: key => void (live.size > 0 && live.delete(key)),
    nextMs: () => top()?.atMs ?? null,
    take(nowMs) {
      const due = top()
      if (due === null || due.atMs > nowMs) return null
      live.delete(due.key)
      pop(heap)
      return due.deadline
    },
    list: () =>
      [...live.values()].sort((a, b) => a.order - b.order).map(({ key, atMs, deadline }) => ({ key, atMs, deadline })),
    clear() {
      live.clear()
      heap = []
    },
  }
}
