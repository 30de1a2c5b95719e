/** Wires the parts of one simulator around one clock and one seed: platform, journal, dispatcher, API, end user. */
import { type Api, createApi } from '../api/handle.ts'
import { VERSION } from '../contract/version.ts'
import type { BotSpec } from '../platform/platform.ts'
import { createUserActions, type UserActions } from '../platform/user-actions.ts'
import { type VirtualClock, wallDelay } from '../runtime/clock.ts'
import type { Transport } from '../runtime/transport.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { type Committer, createCommitter, createReset, type Reset } from './committer.ts'
import { type Components, createComponents, webhookTargetOf } from './components.ts'
import { createFaultController, type FaultController } from './fault-controller.ts'
import type { PlatformSimulatorOptions } from './options.ts'

type PublicComponent =
  | 'identity'
  | 'address'
  | 'settings'
  | 'clock'
  | 'platform'
  | 'journal'
  | 'keyring'
  | 'engines'
  | 'activity'

export interface Core
  extends Pick<Components, PublicComponent>,
    Pick<Committer, 'commit' | 'commitEffects'>,
    Pick<Reset, 'refresh' | 'forget' | 'reset'> {
  readonly seed: number
  readonly bot: BotSpec
  readonly api: Api
  readonly user: UserActions
  /** Sends events manually. */
  readonly manualEvents: Pick<Dispatcher, 'trigger' | 'resend'>
  readonly faults: FaultController
  /** Returns a delivery that is still in progress. */
  findActiveDelivery: Dispatcher['find']
  /** When the next retry, delayed event or copy goes out: epoch milliseconds on the simulator's clock, or null. */
  nextDeliveryDue(): number | null
  /** State that snapshots contain, besides the state of the platform. */
  readonly internals: Internals
  /** Grows with every reset. */
  epoch(): number
  /** Aborts with the next reset. */
  resetSignal(): AbortSignal
  close(): Promise<void>
}

/** Components with state that only snapshots use. */
export interface Internals
  extends Pick<Components, 'stamps' | 'journalStamps' | 'rateLimit' | 'faults' | 'restorePoint'>,
    Pick<Committer, 'deadlineTimer' | 'lastEvent'>,
    Pick<Reset, 'refreshBots'> {
  readonly dispatcher: Dispatcher
}

/** A given `transport` is shared with other simulators and closed by its creator. `filePrefix` begins file ids. */
export function createCore(options: PlatformSimulatorOptions, transport?: Transport, filePrefix = ''): Core {
  const components = createComponents(options, transport, filePrefix)
  const { identity, platform, journal, epoch, faults } = components
  const dispatcher = dispatcherFor(components, options)
  const committer = createCommitter(components, dispatcher)
  const resetParts = createReset(components, dispatcher, committer)
  const { commit, commitEffects } = committer
  const { refresh, forget, reset } = resetParts
  refresh()
  return {
    get seed() {
      return identity.seed
    },
    get bot() {
      return identity.bot
    },
    ...publicComponents(components),
    api: apiFor(components, committer, options),
    user: createUserActions({ ...sharedPorts(components), commit }),
    manualEvents: dispatcher,
    faults: createFaultController({ faults, platform, journal, release: dispatcher.release }),
    findActiveDelivery: dispatcher.find,
    nextDeliveryDue: dispatcher.nextDue,
    commit,
    commitEffects,
    refresh,
    forget,
    reset,
    internals: internalsOf(components, dispatcher, committer, resetParts),
    epoch: epoch.current,
    resetSignal: epoch.signal,
    close: async () => {
      reset()
      await components.transport.close?.()
    },
  }
}

function dispatcherFor(components: Components, options: PlatformSimulatorOptions): Dispatcher {
  const { journal, clock, activity, identity, knobs, address, transport, faults, keyring, platform } = components
  return createDispatcher({
    journal,
    clock,
    activity,
    seed: () => identity.seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => knobs,
    target: () => webhookTargetOf(options, address.webhookUrl, transport),
    faults,
    hasConnection: () => options.webhook?.fetch === undefined,
    signingKey: chatId => keyring.signingKey(platform.state.chats.get(chatId ?? '')?.botId ?? identity.bot.id),
  })
}

const apiFor = (
  components: Components,
  { commit, lastEvent }: Committer,
  { markers = true }: PlatformSimulatorOptions,
): Api =>
  createApi({
    ...sharedPorts(components),
    keyring: components.keyring,
    rateLimit: components.rateLimit,
    markers,
    commit,
    faults: components.faults,
    lastEvent: chatId => lastEvent.get(chatId) ?? null,
    delay: ms => wallDelay(ms, components.epoch.signal()),
    resetSignal: components.epoch.signal,
  })

/** The ports that the API and the end user share. */
const sharedPorts = ({ platform, engines, chatQueues, epoch, activity }: Components) => ({
  platform,
  engines,
  inOrder: chatQueues.inOrder,
  epoch: epoch.current,
  inFlight: activity.begin,
})

const publicComponents = (components: Components): Pick<Components, PublicComponent> => {
  const { identity, address, settings, clock, platform, journal, keyring, engines, activity } = components
  return { identity, address, settings, clock, platform, journal, keyring, engines, activity }
}

function internalsOf(
  components: Components,
  dispatcher: Dispatcher,
  committer: Committer,
  { refreshBots }: Reset,
): Internals {
  const { stamps, journalStamps, rateLimit, faults, restorePoint } = components
  const { deadlineTimer, lastEvent } = committer
  return { stamps, journalStamps, rateLimit, faults, restorePoint, deadlineTimer, lastEvent, refreshBots, dispatcher }
}

/** Repeats until nothing is in flight, because deliveries and answers may start others. */
export async function settled(core: Core): Promise<void> {
  for (let quiet = false; !quiet; ) {
    await core.activity.idle()
    const due = core.clock.nextDue()
    quiet = !core.activity.busy && (due === null || due > core.clock.now())
    if (!quiet) await fireDueTimers(core)
  }
}

function fireDueTimers(core: Core): Promise<void> {
  if (core.clock.mode === 'virtual') return advanceVirtual(core, 0)
  return new Promise(resolve => core.clock.after(0, resolve))
}

/** Waits after each timer until the work it started has ended. */
export const advanceVirtual = ({ clock, activity }: Core, ms: number): Promise<void> =>
  (clock as VirtualClock).advance(ms, () => activity.idle())
