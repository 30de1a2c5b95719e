/** Journals entries with their effects, and hands webhook events to the dispatcher. */

import type { Clock, ClockTimer } from '../../base/runtime/clock.ts'
import type { FaultContent, UserContent } from '../journal/entry.ts'
import type { JournalSource } from '../journal/entry-source.ts'
import { addSecretsOf } from '../journal/mask.ts'
import { refreshIdle } from '../rules/chats.ts'
import { EventRecord } from '../rules/event-record.ts'
import { ensureBots, fireDue } from '../rules/platform.ts'
import type { PlatformContext } from '../rules/state.ts'
import { createTransaction, type Effect } from '../rules/transaction.ts'
import type { Dispatcher } from '../webhooks/dispatcher.ts'
import type { Components } from './components.ts'

export interface Committer {
  /** Appends what the user did, and its effects. */
  commit(action: UserContent, effects: readonly Effect[]): void
  /** Appends a call, the faults applied to it, and its effects. */
  commitCall(call: JournalSource, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Appends effects that follow no entry from outside. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** `seq` of the latest webhook event, by chat id. */
  readonly lastEvent: Map<string, number>
  /** The timer of the nearest deadline; the effects of deadlines are journaled too. */
  readonly deadlineTimer: DeadlineTimer
}

const NONE: readonly never[] = []

export function createCommitter({ journal, platform, clock }: Components, dispatcher: Dispatcher): Committer {
  const lastEvent = new Map<string, number>()
  const deadlineTimer = createDeadlineTimer(platform, clock, effects => commitEffects(effects, null))

  function commitEffects(effects: readonly Effect[], cause: number | null): void {
    for (const effect of effects) {
      if (effect instanceof EventRecord) commitEvent(effect, cause)
      else journal.append(effect, cause)
    }
    const evicted = platform.state.messageMemory.evict(platform.state)
    if (evicted !== null) journal.append(evicted, cause)
    deadlineTimer.set()
  }

  function commitEvent(event: EventRecord, cause: number | null): void {
    const seq = journal.appendSource(event, cause)
    lastEvent.set(event.chat_id, seq)
    dispatcher.enqueue(event, seq)
  }

  return {
    commit(action, effects) {
      commitEffects(effects, journal.append(action, null).seq)
    },
    commitCall(call, effects, faults = NONE) {
      const seq = journal.appendSource(call, null)
      for (const fault of faults) journal.append(fault, seq)
      commitEffects(effects, seq)
    },
    commitEffects,
    lastEvent,
    deadlineTimer,
  }
}

interface DeadlineTimer {
  /** Call it after every change that may have moved the deadlines. */
  set(): void
  cancel(): void
}

interface ArmedTimer {
  readonly timer: ClockTimer
  at: number
}

/** `commit` receives the effects of the deadlines that fell due. */
function createDeadlineTimer(
  platform: PlatformContext,
  clock: Clock,
  commit: (effects: readonly Effect[]) => void,
): DeadlineTimer {
  let armed: ArmedTimer | null = null

  function cancel(): void {
    armed?.timer.cancel()
    armed = null
  }

  function move(one: ArmedTimer, at: number): void {
    one.timer.move(at - clock.now())
    one.at = at
  }

  function ring(): void {
    armed = null
    const transaction = createTransaction()
    try {
      while (fireDue(platform, transaction));
    } finally {
      commit(transaction.effects)
    }
  }

  return {
    set() {
      const at = platform.state.deadlines.nextMs()
      if (at === (armed?.at ?? null)) return
      if (at === null) return cancel()
      if (armed === null) armed = { at, timer: clock.after(at - clock.now(), ring) }
      else move(armed, at)
    },
    cancel,
  }
}

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
    addSecretsOf(components.secrets, {
      'webhook.url': components.address.webhookUrl,
      base_url: components.address.base,
    })
    refreshIdle(platform)
    deadlineTimer.set()
  }
  function forget(): void {
    components.epoch.next()
    deadlineTimer.cancel()
    components.faultRegistry.reset()
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
    clock.rewind()
    components.stamps.reset()
    components.journalStamps.reset()
    components.journal.reset()
    refresh()
  }
  return { refreshBots: () => refreshBots(components), refresh, forget, reset }
}

function refreshBots({ keyring, knobs, clock, identity: { bot }, platform, secrets }: Components): void {
  keyring.refresh(knobs, clock.now())
  addSecretsOf(secrets, knobs)
  const botOf = (id: number) => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })
  ensureBots(platform, keyring.botIds().map(botOf))
}

function clearState({ state }: PlatformContext): void {
  if (state.chats.size > 0) state.forgotten = new Set(state.chats.keys())
  state.bots.clear()
  state.chats.clear()
  state.files.clear()
  state.deadlines.clear()
  state.messageMemory.clear()
  state.memory.clear()
  state.chatCounter = 0
  state.summaryCounter = 0
}
