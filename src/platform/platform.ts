/**
 * The platform: rules over its memory. Synchronous; it knows no HTTP, sets no timer and reads no clock of its own.
 * Every operation takes the transaction it reports into.
 */
import { botSays } from './bot.ts'
import type { PlatformContext } from './context.ts'
import type { BotState } from './state.ts'
import { note, type Tx } from './transaction.ts'
import { typingTimedOut } from './typing.ts'

export interface BotSpec {
  readonly id: number
  readonly name: string
  readonly organizationId: number
}

/** Adds the bots that are not there yet; known ones keep their availability. */
export function ensureBots(room: PlatformContext, bots: readonly BotSpec[]): void {
  for (const bot of bots) {
    const known: BotState | undefined = room.state.bots.get(bot.id)
    room.state.bots.set(bot.id, { ...bot, queues: known?.queues ?? new Map() })
  }
}

/** Fires one deadline that is due; false when none is. */
export function fireDue(room: PlatformContext, tx: Tx): boolean {
  const due = room.state.deadlines.take(room.nowMs())
  if (due === null) return false
  const chat = room.state.chats.get(due.chatId)
  if (chat === undefined) return true
  if (due.kind === 'typing') typingTimedOut(room, chat, tx)
  else if (due.kind === 'reply') botSays(room, chat, due.text, due.buttons, tx)
  else {
    chat.active = false
    note(tx, 'chat_ended', chat.id, { why: 'idle' })
  }
  return true
}
