/** Creates the parts of a simulator that depend on its options only; `core.ts` wires the other parts to them. */
import { createKeyring, type Keyring } from '../api/keyring.ts'
import { createRateLimit, type RateLimit } from '../api/rate-limit.ts'
import type { Knobs } from '../contract/knobs.ts'
import { createFaultRegistry, type FaultRegistry } from '../faults/registry.ts'
import { createJournal, type Journal } from '../journal/journal.ts'
import type { PlatformContext, Settings } from '../platform/context.ts'
import { type ChatQueues, createChatQueues, type Engines } from '../platform/engines.ts'
import type { BotSpec } from '../platform/platform.ts'
import { createPlatformState } from '../platform/state.ts'
import { type Activity, createActivity } from '../runtime/activity.ts'
import type { RealClock, VirtualClock } from '../runtime/clock.ts'
import { createEpoch, type Epoch } from '../runtime/epoch.ts'
import { makeId } from '../runtime/ids.ts'
import { hashWords } from '../runtime/random.ts'
import { createTimestamps, type Timestamps } from '../runtime/timestamps.ts'
import type { Transport } from '../runtime/transport.ts'
import { createEngines } from './engines.ts'
import { botFrom, type ClosableTransport, clockFrom, hoursFrom, transportFrom } from './from-options.ts'
import { DEFAULTS, knobsFrom, type PlatformSimulatorOptions } from './options.ts'

/** The seed and the bot; a snapshot contains its own. */
export interface Identity {
  seed: number
  bot: BotSpec
}

/** The addresses, which are not part of the state. */
export interface Address {
  base: string
  webhookUrl: string | null
  /** The prefix of file ids in links, which tells simulators with the same base URL apart. */
  readonly filesOf: string
}

export interface Parts {
  readonly identity: Identity
  readonly address: Address
  readonly knobs: Knobs
  readonly settings: { replies: Settings['replies']; businessHours: Settings['businessHours'] }
  readonly clock: RealClock | VirtualClock
  readonly stamps: Timestamps
  readonly journalStamps: Timestamps
  readonly journal: Journal
  readonly platform: PlatformContext
  readonly keyring: Keyring
  readonly rateLimit: RateLimit
  readonly engines: Engines
  readonly lanes: ChatQueues
  readonly faults: FaultRegistry
  readonly activity: Activity
  readonly epoch: Epoch
  readonly transport: ClosableTransport
  /** Entries before this `seq` happened before the last restore. */
  readonly past: { before: number }
}

export function createParts(options: PlatformSimulatorOptions, shared: Transport | undefined, filesOf: string): Parts {
  const knobs = knobsFrom(options.knobs ?? {})
  const identity: Identity = { seed: options.seed ?? DEFAULTS.seed, bot: botFrom(options) }
  const clock = clockFrom(options)
  const stamps = createTimestamps(clock.now)
  const journalStamps = createTimestamps(clock.now)
  const settings = { replies: options.bot?.replies ?? [], businessHours: hoursFrom(options.businessHours) }
  const address = addressFrom(options, filesOf)
  const platform = createPlatformContext({ identity, knobs, clock, stamps, address, settings })
  return {
    identity,
    address,
    knobs,
    settings,
    clock,
    stamps,
    journalStamps,
    journal: createJournal({ limit: options.journalLimit ?? DEFAULTS.journalLimit, stamp: journalStamps.next }),
    platform,
    keyring: createKeyring(() => identity.bot.id, knobs),
    rateLimit: createRateLimit(),
    engines: createEngines(options, platform),
    lanes: createChatQueues(),
    faults: createFaultRegistry(),
    activity: createActivity(),
    epoch: createEpoch(),
    transport: transportFrom(options, shared),
    past: { before: 1 },
  }
}

const addressFrom = ({ baseUrl, webhook }: PlatformSimulatorOptions, filesOf: string): Address => ({
  base: (baseUrl ?? DEFAULTS.baseUrl).replace(/\/+$/, ''),
  webhookUrl: webhook?.url ?? null,
  filesOf,
})

type PlatformContextParts = Pick<Parts, 'identity' | 'knobs' | 'clock' | 'stamps' | 'address' | 'settings'>

const createPlatformContext = ({
  identity,
  knobs,
  clock,
  stamps,
  address,
  settings,
}: PlatformContextParts): PlatformContext => ({
  state: createPlatformState(),
  knobs,
  settings,
  nowMs: clock.now,
  stamp: stamps.next,
  id: (form, label) => makeId(form, identity.seed, label),
  words: label => hashWords(label, identity.seed),
  links: {
    chat: id => `${address.base}/api/v1/chats/${encodeURIComponent(id)}`,
    file: (id, name) => `${address.base}/files/${address.filesOf}${id}/${encodeURIComponent(name)}`,
    fileId: segment => (segment.startsWith(address.filesOf) ? segment.slice(address.filesOf.length) : null),
  },
})
