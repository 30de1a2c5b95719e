/**
 * Adds the bots and fires deadlines. All code of platform/ is synchronous: it knows no HTTP, sets no timer and reads the
 * time from its context. Every operation adds its effects to a transaction.
 */
import { botSays } from './bot.ts'
import type { PlatformContext } from './context.ts'
import type { BotState } from './state.ts'
import { note, type Transaction } from './transaction.ts'
import { typingTimedOut } from './typing.ts'

export interface BotSpec {
  readonly id: number
  readonly name: string
  readonly organizationId: number
}

/** Adds or updates bots; known bots keep their availability. */
export function ensureBots(platform: PlatformContext, bots: readonly BotSpec[]): void {
  for (const bot of bots) {
    const known: BotState | undefined = platform.state.bots.get(bot.id)
    platform.state.bots.set(bot.id, { ...bot, queues: known?.queues ?? new Map() })
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
