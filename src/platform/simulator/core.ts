/** Wires the parts of one simulator around one clock and one seed: platform, journal, dispatcher, API, end user. */

import { wallDelay } from '../../base/runtime/clock.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import { createCallRecords } from '../api/call-record.ts'
import { type Api, createApi } from '../api/handle.ts'
import { createTranscriptCache } from '../api/transcripts.ts'
import { VERSION } from '../contract/version.ts'
import { createSecrets } from '../journal/mask.ts'
import { createUserActions, type UserActions } from '../rules/user-actions.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { type Committer, createCommitter, createReset, type Reset } from './committer.ts'
import { type Components, createComponents, webhookTargetOf } from './components.ts'
import { createFaultController, type FaultSetter } from './fault-controller.ts'
import { createMoments, type Moments } from './moments.ts'
import { memoryLimitOf, type PlatformSimulatorOptions } from './platform-options.ts'

/** All parts of one simulator, for the server, the runner and snapshots. */
export interface Core extends Components, Committer, Reset {
  readonly dispatcher: Dispatcher
  readonly api: Api
  readonly user: UserActions
  readonly faults: FaultSetter
  readonly moments: Moments
  /** False when the webhook is a function. */
  readonly hasConnection: boolean
  close(): Promise<void>
}

/** A given `transport` is shared with other simulators and closed by its creator. `filePrefix` begins file ids. */
export function createCore(
  options: PlatformSimulatorOptions,
  transport?: Transport,
  filePrefix = '',
  secrets = createSecrets(),
): Core {
  const components = createComponents(options, transport, filePrefix, secrets)
  const dispatcher = dispatcherFor(components, options)
  const committer = createCommitter(components, dispatcher)
  const reset = createReset(components, dispatcher, committer)
  reset.refresh()
  return {
    ...components,
    ...committer,
    ...reset,
    dispatcher,
    api: apiFor(components, committer, options),
    user: createUserActions({ ...sharedPorts(components), commit: committer.commit }),
    faults: createFaultController(components, dispatcher.release),
    moments: createMoments(components.platform, components.journal),
    hasConnection: hasConnection(options),
    close: async () => {
      reset.reset()
      await components.transport.close?.()
    },
  }
}

function dispatcherFor(components: Components, options: PlatformSimulatorOptions): Dispatcher {
  const { journal, clock, activity, identity, knobs, address, transport, faultRegistry, keyring, platform } = components
  return createDispatcher({
    journal,
    clock,
    activity,
    onThrown: components.onThrown,
    seed: () => identity.seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => knobs,
    target: () => webhookTargetOf(options, address.webhookUrl, transport),
    faults: faultRegistry,
    memoryLimit: memoryLimitOf(options),
    hasConnection: () => hasConnection(options),
    signingKey: chatId => keyring.signingKey(platform.state.chats.get(chatId ?? '')?.botId ?? identity.bot.id),
  })
}

const hasConnection = ({ webhook }: PlatformSimulatorOptions): boolean => webhook?.fetch === undefined

const apiFor = (components: Components, { commitCall, lastEvent }: Committer, options: PlatformSimulatorOptions): Api =>
  createApi({
    ...sharedPorts(components),
    keyring: components.keyring,
    callers: components.callers,
    rateLimit: components.rateLimit,
    markers: options.markers ?? true,
    commitCall,
    records: createCallRecords(),
    transcripts: createTranscriptCache(memoryLimitOf(options) / 8),
    faults: components.faultRegistry,
    lastEvent: chatId => lastEvent.get(chatId) ?? null,
    delay: ms => wallDelay(ms, components.epoch.delaySignal()),
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

/** Repeats until nothing is in flight, because deliveries and answers may start others. */
export async function settled(core: Core): Promise<void> {
  for (let quiet = false; !quiet; ) {
    await core.activity.idle()
    const due = core.clock.nextDue()
    quiet = !core.activity.isBusy() && (due === null || due > core.clock.now())
    if (!quiet) await fireDueTimers(core)
  }
}

/** A clock that runs fires them by itself, and may be paused meanwhile. */
const fireDueTimers = (core: Core): Promise<void> => (core.clock.isPaused() ? advancePaused(core, 0) : wallDelay(1))

/** Advances a virtual clock, or a real one that is paused. Waits after each timer until the work it started has ended. */
export const advancePaused = ({ clock, activity }: Core, ms: number): Promise<void> =>
  clock.advance(ms, () => activity.idle())
