/** Resets a simulator, and updates the parts that depend on its settings. */
import { refreshIdle } from '../platform/chats.ts'
import type { PlatformContext } from '../platform/context.ts'
import { ensureBots } from '../platform/platform.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import type { Committer } from './committer.ts'
import type { Components } from './components.ts'

export interface Reset {
  /** Updates keys and bots; call it after a change of knobs or identity. */
  refreshBots(): void
  /** Updates all parts that depend on settings; call it after a change of knobs or settings. */
  refresh(): void
  /** Ends the epoch: aborts what is in flight and removes chats, timers, faults and deliveries. */
  forget(): void
  reset(): void
}

export function createReset(
  components: Components,
  dispatcher: Dispatcher,
  { deadlineTimer, lastEvent }: Committer,
): Reset {
  const { platform, keyring, clock } = components

  function refresh(): void {
    refreshBots(components)
    refreshIdle(platform)
    deadlineTimer.set()
  }
  function forget(): void {
    components.epoch.next()
    deadlineTimer.cancel()
    components.faults.reset()
    dispatcher.reset()
    components.activity.forget()
    components.rateLimit.reset()
    components.chatQueues.clear()
    clearState(platform)
    lastEvent.clear()
    keyring.forgetReplaced()
    components.restorePoint.seq = 1
  }
  function reset(): void {
    forget()
    if (clock.mode === 'virtual') clock.rewind()
    components.stamps.reset()
    components.journalStamps.reset()
    components.journal.reset()
    refresh()
  }
  return { refreshBots: () => refreshBots(components), refresh, forget, reset }
}

function refreshBots({ keyring, knobs, clock, identity: { bot }, platform }: Components): void {
  keyring.refresh(knobs, clock.now())
  ensureBots(
    platform,
    keyring.botIds.map(id => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })),
  )
}

function clearState({ state }: PlatformContext): void {
  if (state.chats.size > 0) state.forgotten = new Set(state.chats.keys())
  state.bots.clear()
  state.chats.clear()
  state.files.clear()
  state.deadlines.clear()
  state.chatCounter = 0
  state.summaryCounter = 0
}
