/** Wires the parts of one simulator: platform, journal, dispatcher, API and end user around one clock and one seed. */
import { type Api, createApi } from '../api/handle.ts'
import { createKeyring, type Keyring } from '../api/keyring.ts'
import { createRateLimit, type RateLimit } from '../api/rate-limit.ts'
import { VERSION } from '../contract/version.ts'
import { createLanes, type Engines, type InOrder } from '../engines/engines.ts'
import { createFaults, type Faults } from '../faults/registry.ts'
import type { ApiContent, EntryOf, FaultContent, UserContent } from '../journal/entry.ts'
import { createJournal, type Journal } from '../journal/journal.ts'
import { refreshIdle } from '../platform/chats.ts'
import { type BotSpec, ensureBots } from '../platform/platform.ts'
import type { Room, Settings } from '../platform/room.ts'
import type { Effect } from '../platform/tx.ts'
import { type Activity, createActivity } from '../runtime/activity.ts'
import { type Clock, type VirtualClock, wallDelay } from '../runtime/clock.ts'
import { createEpoch } from '../runtime/epoch.ts'
import { createStamps, type Stamps } from '../runtime/stamps.ts'
import type { Transport } from '../runtime/transport.ts'
import { createUserActions, type UserActions } from '../user/actions.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import { createEngines } from './engines.ts'
import { createFaultDesk, type FaultDesk } from './fault-desk.ts'
import { DEFAULTS, knobsFrom, type SimulatorOptions } from './options.ts'
import {
  type Address,
  botFrom,
  clearState,
  clockFrom,
  createRoom,
  hoursFrom,
  type Identity,
  targetOf,
  transportFrom,
} from './parts.ts'

export interface Core {
  readonly seed: number
  readonly bot: BotSpec
  readonly identity: Identity
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
  readonly address: Address
  readonly settings: { replies: Settings['replies']; businessHours: Settings['businessHours'] }
  readonly faults: FaultDesk
  /** When the next retry, delayed event or copy goes out: epoch milliseconds on the simulator's clock, or null. */
  nextDeliveryDue(): number | null
  /** Appends an entry from outside, the faults that struck it, and what it caused. */
  commit(entry: ApiContent | UserContent, effects: readonly Effect[], faults?: readonly FaultContent[]): void
  /** Appends consequences that have no entry of their own to follow. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** After knobs or settings changed. */
  refresh(): void
  /** What a snapshot is made of, besides the state of the room. */
  readonly inner: Inner
  /** Ends the epoch: what is in flight is cut off; chats, timers, faults and deliveries are forgotten. */
  forget(): void
  /** Grows with every reset. */
  epoch(): number
  /** Aborts with the next reset. */
  resetSignal(): AbortSignal
  reset(): void
  close(): Promise<void>
}

/** The parts that remember something and are nobody else's business. */
export interface Inner {
  readonly stamps: Stamps
  readonly journalStamps: Stamps
  readonly rateLimit: RateLimit
  readonly faults: Faults
  readonly dispatcher: Dispatcher
  readonly alarm: Alarm
  /** By chat: seq of the latest webhook event. */
  readonly lastEvent: Map<string, number>
  /** Keys and bots, after knobs or the identity changed. */
  refreshBots(): void
}

/** `transport`: one that several simulators share; whoever made it closes it. */
export function createCore(options: SimulatorOptions, shared?: Transport, filesOf = ''): Core {
  const knobs = knobsFrom(options.knobs ?? {})
  const identity: Identity = { seed: options.seed ?? DEFAULTS.seed, bot: botFrom(options) }
  const clock = clockFrom(options)
  const stamps = createStamps(clock.now)
  const journalStamps = createStamps(clock.now)
  const journal = createJournal({ limit: options.journalLimit ?? DEFAULTS.journalLimit, stamp: journalStamps.next })
  const activity = createActivity()
  const keyring = createKeyring(() => identity.bot.id, knobs)
  const settings = { replies: options.bot?.replies ?? [], businessHours: hoursFrom(options.businessHours) }
  const address = {
    base: (options.baseUrl ?? DEFAULTS.baseUrl).replace(/\/+$/, ''),
    webhookUrl: options.webhook?.url ?? null,
    filesOf,
  }
  const room = createRoom({ identity, knobs, clock, stamp: stamps.next, address, settings })
  const engines = createEngines(options, room)
  let lanes = createLanes()
  const inOrder: InOrder = (chatId, run) => lanes(chatId, run)
  const lastEvent = new Map<string, number>()
  const transport = transportFrom(options, shared)
  const epoch = createEpoch()
  const faults = createFaults()
  const rateLimit = createRateLimit()

  const dispatcher = createDispatcher({
    journal,
    clock,
    activity,
    seed: () => identity.seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => knobs,
    target: () => targetOf(options, address.webhookUrl, transport),
    faults,
    hasWire: () => options.webhook?.fetch === undefined,
    signingKey: chatId => keyring.signingKey(room.state.chats.get(chatId ?? '')?.botId ?? identity.bot.id),
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
  const commit: Core['commit'] = (content, effects, hits) => {
    const entry = journal.append(content, null)
    if (hits !== undefined) for (const hit of hits) journal.append(hit, entry.seq)
    commitEffects(effects, entry.seq)
  }

  const inFlight = activity.begin
  const api = createApi({
    room,
    keyring,
    rateLimit,
    engines,
    inOrder,
    markers: options.markers ?? true,
    commit,
    faults,
    lastEvent: chatId => lastEvent.get(chatId) ?? null,
    inFlight,
    delay: ms => wallDelay(ms, epoch.signal()),
    epoch: epoch.current,
    resetSignal: epoch.signal,
  })

  const alarm = createAlarm(room, clock, effects => commitEffects(effects, null))

  function refreshBots(): void {
    keyring.refresh(knobs, clock.now())
    const { bot } = identity
    ensureBots(
      room,
      keyring.botIds.map(id => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })),
    )
  }
  function refresh(): void {
    refreshBots()
    refreshIdle(room)
    alarm.set()
  }
  function forget(): void {
    epoch.next()
    alarm.cancel()
    faults.reset()
    dispatcher.reset()
    activity.forget()
    rateLimit.reset()
    lanes = createLanes()
    clearState(room)
    lastEvent.clear()
    keyring.forgetReplaced()
  }
  function reset(): void {
    forget()
    if (clock.mode === 'virtual') (clock as VirtualClock).rewind()
    stamps.reset()
    journalStamps.reset()
    journal.reset()
    refresh()
  }

  refresh()
  const user = createUserActions({ room, engines, inOrder, commit, epoch: epoch.current, inFlight })
  const close = async () => {
    reset()
    await transport.close?.()
  }
  return {
    get seed() {
      return identity.seed
    },
    get bot() {
      return identity.bot
    },
    identity,
    clock,
    room,
    journal,
    keyring,
    engines,
    activity,
    api,
    user,
    byHand: dispatcher,
    faults: createFaultDesk({ faults, room, journal, free: dispatcher.free }),
    nextDeliveryDue: dispatcher.nextDue,
    address,
    settings,
    commit,
    commitEffects,
    refresh,
    inner: { stamps, journalStamps, rateLimit, faults, dispatcher, alarm, lastEvent, refreshBots },
    forget,
    epoch: epoch.current,
    resetSignal: epoch.signal,
    reset,
    close,
  }
}
