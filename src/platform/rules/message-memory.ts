/** Bounds the memory of all transcripts: drops the oldest messages of all chats when they exceed a limit. */

import { sizeOf } from '../journal/long-bodies.ts'
import type { Chat, Message, MessageMemory, PlatformState } from './state.ts'

/** The memory of a message beside its texts. */
const MESSAGE_BYTES = 512

/**
 * Messages are evicted down to this share below the limit, so that the next messages evict nothing. With the usual limit
 * these are some hundred messages, which takes a fraction of a millisecond.
 */
const EVICTED_SHARE = 1 / 512

/** The chat of each message, in the order in which they came. Taking the oldest does not copy the others. */
function createOrder() {
  let older: Chat[] = []
  let newer: Chat[] = []
  return {
    length: () => older.length + newer.length,
    add: (chat: Chat): void => void newer.push(chat),
    takeOldest(): Chat | undefined {
      if (older.length === 0) {
        older = newer.reverse()
        newer = []
      }
      return older.pop()
    },
    clear(): void {
      older = []
      newer = []
    },
  }
}

/** `limit` is a number of bytes. */
export function createMessageMemory(limit: number): MessageMemory {
  const order = createOrder()
  let total = 0
  let isAnnounced = false

  /** Counts the messages to evict by chat; the newest message of all stays. */
  function takeOldest(): Map<Chat, number> {
    const counts = new Map<Chat, number>()
    while (total > limit * (1 - EVICTED_SHARE) && order.length() > 1) {
      const chat = order.takeOldest()!
      const index = counts.get(chat) ?? 0
      const message = chat.messages[index]
      counts.set(chat, index + 1)
      total -= message === undefined ? 0 : sizeOfMessage(message)
    }
    return counts
  }

  return {
    add(chat, message) {
      order.add(chat)
      total += sizeOfMessage(message)
    },
    evict(state) {
      if (total <= limit) return null
      const counts = takeOldest()
      for (const [chat, count] of counts) removeOldest(state, chat, count)
      if (isAnnounced || counts.size === 0) return null
      isAnnounced = true
      return {
        kind: 'note',
        note: 'messages_evicted',
        setting: 'memoryLimit',
        message: `The transcripts keep ${limit} bytes (memoryLimit); the oldest messages of all chats are being dropped.`,
      }
    },
    clear() {
      order.clear()
      total = 0
      isAnnounced = false
    },
  }
}

/** The estimated memory of a message in bytes. */
export function sizeOfMessage({ text, other, name, buttons, attachments }: Message): number {
  const further =
    (buttons.length && sizeOf(buttons)) +
    (attachments.length && attachments.reduce((sum, { bytes }) => sum + MESSAGE_BYTES + (bytes?.length ?? 0), 0))
  return MESSAGE_BYTES + text.length + name.length + (other?.length ?? 0) + further
}

/** Removes the oldest messages of a chat with their files. */
function removeOldest({ files }: PlatformState, chat: Chat, count: number): void {
  const removed = chat.messages.splice(0, count)
  if (chat.requestedAt !== null) chat.requestedAt = Math.max(0, chat.requestedAt - removed.length)
  for (const { attachments } of removed) for (const { id } of attachments) files.delete(id)
}
