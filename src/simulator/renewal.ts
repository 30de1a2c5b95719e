/** What makes a simulator as new, and what has to follow when its settings changed. */
import { refreshIdle } from '../platform/chats.ts'
import { ensureBots } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import type { Commits } from './commits.ts'
import type { Parts } from './parts.ts'

export interface Renewal {
  /** Keys and bots, after knobs or the identity changed. */
  refreshBots(): void
  /** After knobs or settings changed. */
  refresh(): void
  /** Ends the epoch: what is in flight is cut off; chats, timers, faults and deliveries are forgotten. */
  forget(): void
  reset(): void
}

export function createRenewal(parts: Parts, dispatcher: Dispatcher, { alarm, lastEvent }: Commits): Renewal {
  const { room, keyring, clock } = parts

  function refresh(): void {
    refreshBots(parts)
    refreshIdle(room)
    alarm.set()
  }
  function forget(): void {
    parts.epoch.next()
    alarm.cancel()
    parts.faults.reset()
    dispatcher.reset()
    parts.activity.forget()
    parts.rateLimit.reset()
    parts.lanes.clear()
    clearState(room)
    lastEvent.clear()
    keyring.forgetReplaced()
    parts.past.before = 1
  }
  function reset(): void {
    forget()
    if (clock.mode === 'virtual') clock.rewind()
    parts.stamps.reset()
    parts.journalStamps.reset()
    parts.journal.reset()
    refresh()
  }
  return { refreshBots: () => refreshBots(parts), refresh, forget, reset }
}

function refreshBots({ keyring, knobs, clock, identity: { bot }, room }: Parts): void {
  keyring.refresh(knobs, clock.now())
  ensureBots(
    room,
    keyring.botIds.map(id => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })),
  )
}

function clearState({ state }: Room): void {
  if (state.chats.size > 0) state.forgotten = new Set(state.chats.keys())
  state.bots.clear()
  state.chats.clear()
  state.files.clear()
  state.deadlines.clear()
  state.chatCounter = 0
  state.summaryCounter = 0
}
