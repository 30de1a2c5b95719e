/** Wires the parts of one simulator: platform, journal, dispatcher, API and end user around one clock and one seed. */
import { type Api, createApi } from '../api/handle.ts'
import { createKeyring, type Keyring } from '../api/keyring.ts'
import { VERSION } from '../contract/version.ts'
import { createLanes, type Engines, type InOrder } from '../engines/engines.ts'
import type { ApiContent, EntryOf, UserContent } from '../journal/entry.ts'
import { createJournal, type Journal } from '../journal/journal.ts'
import { refreshIdle } from '../platform/chats.ts'
import { type BotSpec, ensureBots } from '../platform/platform.ts'
import type { Room, Settings } from '../platform/room.ts'
import type { Effect } from '../platform/tx.ts'
import { type Activity, createActivity } from '../runtime/activity.ts'
import { type Clock, type VirtualClock, wallDelay } from '../runtime/clock.ts'
import { createEpoch } from '../runtime/epoch.ts'
import { createStamps } from '../runtime/stamps.ts'
import { createUserActions, type UserActions } from '../user/actions.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { createAlarm } from './alarm.ts'
import { createEngines } from './engines.ts'
import { DEFAULTS, knobsFrom, type SimulatorOptions } from './options.ts'
import { botFrom, clearState, clockFrom, createRoom, hoursFrom, targetOf, transportFrom } from './parts.ts'

export interface Core {
  readonly seed: number
  readonly bot: BotSpec
  readonly clock: Clock | VirtualClock
  readonly room: Room
  readonly journal: Journal
  readonly keyring: Keyring
  readonly engines: Engines
  readonly activity: Activity
  readonly api: Api
  readonly user: UserActions
  /** Events sent by hand. */
  readonly byHand: Pick<Dispatcher, 'trigger' | 'resend'>
  readonly address: { base: string; webhookUrl: string | null }
  readonly settings: { replies: Settings['replies']; businessHours: Settings['businessHours'] }
  /** Appends an entry from outside and what it caused. */
  commit(entry: ApiContent | UserContent, effects: readonly Effect[]): void
  /** Appends consequences that have no entry of their own to follow. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** After knobs or settings changed. */
  refresh(): void
  /** Grows with every reset. */
  epoch(): number
  reset(): void
  close(): Promise<void>
}

export function createCore(options: SimulatorOptions): Core {
  const seed = options.seed ?? DEFAULTS.seed
  const knobs = knobsFrom(options.knobs ?? {})
  const bot = botFrom(options)
  const clock = clockFrom(options)
  const stamps = createStamps(clock.now)
  const journalStamps = createStamps(clock.now)
  const journal = createJournal({ limit: options.journalLimit ?? DEFAULTS.journalLimit, stamp: journalStamps.next })
  const activity = createActivity()
  const keyring = createKeyring(bot.id, knobs)
  const settings = { replies: options.bot?.replies ?? [], businessHours: hoursFrom(options.businessHours) }
  const address = {
    base: (options.baseUrl ?? DEFAULTS.baseUrl).replace(/\/+$/, ''),
    webhookUrl: options.webhook?.url ?? null,
  }
  const room = createRoom({ seed, knobs, clock, stamp: stamps.next, address, settings })
  const engines = createEngines(options, room)
  let lanes = createLanes()
  const inOrder: InOrder = (chatId, run) => lanes(chatId, run)
  const lastEvent = new Map<string, number>()
  const transport = transportFrom(options)
  const epoch = createEpoch()

  const dispatcher = createDispatcher({
    journal,
    clock,
    activity,
    seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => knobs,
    target: () => targetOf(options, address.webhookUrl, transport),
    signingKey: chatId => keyring.signingKey(room.state.chats.get(chatId ?? '')?.botId ?? bot.id),
  })

  function commitEffects(effects: readonly Effect[], cause: number | null): void {
    for (const effect of effects) {
      const entry = journal.append(effect, cause)
      if (entry.kind !== 'event') continue
      lastEvent.set(entry.chat_id, entry.seq)
      dispatcher.enqueue(entry as EntryOf<'event'>)
    }
    alarm.set()
  }
  function commit(content: ApiContent | UserContent, effects: readonly Effect[]): void {
    const entry = journal.append(content, null)
    commitEffects(effects, entry.seq)
  }

  const inFlight = activity.begin
  const api = createApi({
    room,
    keyring,
    engines,
    inOrder,
    markers: options.markers ?? true,
    commit,
    lastEvent: chatId => lastEvent.get(chatId) ?? null,
    inFlight,
    delay: ms => wallDelay(ms, epoch.signal()),
    epoch: epoch.current,
  })

  const alarm = createAlarm(room, clock, effects => commitEffects(effects, null))

  function refresh(): void {
    keyring.refresh(knobs, clock.now())
    ensureBots(
      room,
      keyring.botIds.map(id => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })),
    )
    refreshIdle(room)
    alarm.set()
  }
  function reset(): void {
    epoch.next()
    alarm.cancel()
    dispatcher.reset()
    activity.forget()
    lanes = createLanes()
    clearState(room)
    lastEvent.clear()
    if (clock.mode === 'virtual') (clock as VirtualClock).rewind()
    stamps.reset()
    journalStamps.reset()
    journal.reset()
    keyring.forgetReplaced()
    refresh()
  }

  refresh()
  const user = createUserActions({ room, engines, inOrder, commit, epoch: epoch.current, inFlight })
  const close = async () => {
    reset()
    await transport.close?.()
  }
  return {
    seed,
    bot,
    clock,
    room,
    journal,
    keyring,
    engines,
    activity,
    api,
    user,
    byHand: dispatcher,
    address,
    settings,
    commit,
    commitEffects,
    refresh,
    epoch: epoch.current,
    reset,
    close,
  }
}
