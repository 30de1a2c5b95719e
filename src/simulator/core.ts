/** Wires the parts of one simulator around one clock and one seed: platform, journal, dispatcher, API, end user. */
import { type Api, createApi } from '../api/handle.ts'
import { VERSION } from '../contract/version.ts'
import type { BotSpec } from '../platform/platform.ts'
import { createUserActions, type UserActions } from '../platform/user-actions.ts'
import { wallDelay } from '../runtime/clock.ts'
import type { Transport } from '../runtime/transport.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { type Committer, createCommitter } from './committer.ts'
import { createFaultController, type FaultController } from './fault-controller.ts'
import { targetOf } from './from-options.ts'
import type { PlatformSimulatorOptions } from './options.ts'
import { createParts, type Parts } from './parts.ts'
import { createReset, type Reset } from './reset.ts'

type Own = 'identity' | 'address' | 'settings' | 'clock' | 'platform' | 'journal' | 'keyring' | 'engines' | 'activity'

export interface Core
  extends Pick<Parts, Own>,
    Pick<Committer, 'commit' | 'commitEffects'>,
    Pick<Reset, 'refresh' | 'forget' | 'reset'> {
  readonly seed: number
  readonly bot: BotSpec
  readonly api: Api
  readonly user: UserActions
  /** Sends events manually. */
  readonly manualEvents: Pick<Dispatcher, 'trigger' | 'resend'>
  readonly faults: FaultController
  /** Finds a delivery that has not ended yet. */
  findDelivery: Dispatcher['find']
  /** When the next retry, delayed event or copy goes out: epoch milliseconds on the simulator's clock, or null. */
  nextDeliveryDue(): number | null
  /** State that snapshots contain, besides the state of the room. */
  readonly inner: Inner
  /** Grows with every reset. */
  epoch(): number
  /** Aborts with the next reset. */
  resetSignal(): AbortSignal
  close(): Promise<void>
}

/** Parts with state that only this folder uses. */
export interface Inner
  extends Pick<Parts, 'stamps' | 'journalStamps' | 'rateLimit' | 'faults' | 'past'>,
    Pick<Committer, 'deadlineTimer' | 'lastEvent'>,
    Pick<Reset, 'refreshBots'> {
  readonly dispatcher: Dispatcher
}

/** `shared`: a transport of several simulators, which its creator closes. */
export function createCore(options: PlatformSimulatorOptions, shared?: Transport, filesOf = ''): Core {
  const parts = createParts(options, shared, filesOf)
  const { identity, platform, journal, epoch, faults } = parts
  const dispatcher = dispatcherFor(parts, options)
  const committer = createCommitter(parts, dispatcher)
  const resets = createReset(parts, dispatcher, committer)
  const { commit, commitEffects } = committer
  const { refresh, forget, reset } = resets
  refresh()
  return {
    get seed() {
      return identity.seed
    },
    get bot() {
      return identity.bot
    },
    ...ownOf(parts),
    api: apiFor(parts, committer, options),
    user: createUserActions({ ...inTurn(parts), commit }),
    manualEvents: dispatcher,
    faults: createFaultController({ faults, platform, journal, release: dispatcher.release }),
    findDelivery: dispatcher.find,
    nextDeliveryDue: dispatcher.nextDue,
    commit,
    commitEffects,
    refresh,
    forget,
    reset,
    inner: innerOf(parts, dispatcher, committer, resets),
    epoch: epoch.current,
    resetSignal: epoch.signal,
    close: async () => {
      reset()
      await parts.transport.close?.()
    },
  }
}

function dispatcherFor(parts: Parts, options: PlatformSimulatorOptions): Dispatcher {
  const { journal, clock, activity, identity, knobs, address, transport, faults, keyring, platform } = parts
  return createDispatcher({
    journal,
    clock,
    activity,
    seed: () => identity.seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => knobs,
    target: () => targetOf(options, address.webhookUrl, transport),
    faults,
    hasConnection: () => options.webhook?.fetch === undefined,
    signingKey: chatId => keyring.signingKey(platform.state.chats.get(chatId ?? '')?.botId ?? identity.bot.id),
  })
}

const apiFor = (parts: Parts, { commit, lastEvent }: Committer, { markers = true }: PlatformSimulatorOptions): Api =>
  createApi({
    ...inTurn(parts),
    keyring: parts.keyring,
    rateLimit: parts.rateLimit,
    markers,
    commit,
    faults: parts.faults,
    lastEvent: chatId => lastEvent.get(chatId) ?? null,
    delay: ms => wallDelay(ms, parts.epoch.signal()),
    resetSignal: parts.epoch.signal,
  })

/** The ports that the API and the end user share. */
const inTurn = ({ platform, engines, lanes, epoch, activity }: Parts) => ({
  platform,
  engines,
  inOrder: lanes.inOrder,
  epoch: epoch.current,
  inFlight: activity.begin,
})

const ownOf = (parts: Parts): Pick<Parts, Own> => {
  const { identity, address, settings, clock, platform, journal, keyring, engines, activity } = parts
  return { identity, address, settings, clock, platform, journal, keyring, engines, activity }
}

function innerOf(parts: Parts, dispatcher: Dispatcher, committer: Committer, { refreshBots }: Reset): Inner {
  const { stamps, journalStamps, rateLimit, faults, past } = parts
  const { deadlineTimer, lastEvent } = committer
  return { stamps, journalStamps, rateLimit, faults, past, deadlineTimer, lastEvent, refreshBots, dispatcher }
}
