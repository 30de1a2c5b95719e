/** `createSimulator`: the platform and its end user in this process, with no socket. */

import { createFetchAdapter } from '../adapters/fetch.ts'
import type { ApiRequest, ApiResponse } from '../api/messages.ts'
import { ASSUMPTIONS, type Assumption } from '../contract/assumptions.ts'
import { allowedFor, formatKnob, type KnobName } from '../contract/knobs.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { maskSetting } from '../journal/mask.ts'
import { type AvailabilityChange, changeAvailability } from '../platform/availability.ts'
import { type ChatView, chatSummary } from '../platform/chat-view.ts'
import type { Maybe } from '../platform/engines.ts'
import { createTransaction } from '../platform/transaction.ts'
import type { Transport } from '../runtime/transport.ts'
import { parseDuration } from '../text/duration.ts'
import { type ChatHandle, createChatHandle } from './chat-handle.ts'
import { type Core, createCore } from './core.ts'
import type { FaultController } from './fault-controller.ts'
import { type ChatOptions, newChat } from './new-chat.ts'
import { InvalidOptionError, type PlatformSimulatorOptions } from './options.ts'
import { configure, effectiveConfig } from './settings.ts'
import { captureSnapshot, type SnapshotOptions } from './snapshot/capture.ts'
import { restoreSnapshot } from './snapshot/restore.ts'
import type { Snapshot } from './snapshot/schema.ts'
import { advanceVirtual, settled } from './time.ts'
import { only, text, validateOptions } from './validate-options.ts'

/** What the platform leaves open, what the simulator does instead, and the knobs with the values in force. */
export interface EffectiveAssumption extends Omit<Assumption, 'knobs'> {
  readonly knobs: readonly EffectiveKnob[]
}

export interface EffectiveKnob {
  readonly name: KnobName
  readonly value: unknown
  /** The values it takes, in words. */
  readonly allowed: string
}

export interface PlatformSimulator {
  /** What `_links.self` and attachment links begin with. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly botId: number
  readonly journal: Journal
  /** Every attempt to deliver an event, oldest first. */
  readonly deliveries: readonly EntryOf<'delivery'>[]
  readonly clock: {
    readonly mode: 'real' | 'virtual'
    /** Epoch milliseconds on the simulator's clock. */
    now(): number
    /** Moves a virtual clock by a duration such as `10m`, firing what falls due on the way, in order. */
    advance(by: string): Promise<void>
  }
  /** The nine endpoints and the attachments, in-process; wherever a `fetch` can be handed in. */
  fetch(input: Request | string | URL, init?: RequestInit): Promise<Response>
  /** The same as plain data, for servers and other doors. */
  handle(exchange: ApiRequest): Maybe<ApiResponse>
  chat(options?: ChatOptions): Promise<ChatHandle>
  /** A chat that exists, by id. */
  findChat(id: string): ChatHandle | undefined
  chats(): Omit<ChatView, 'messages'>[]
  /** What goes wrong on purpose, in both directions. */
  readonly faults: FaultController
  /** As if set in the workspace. */
  setAvailability(change: AvailabilityChange): void
  /** Knobs and settings by dotted name; all or none. Throws `InvalidOptionError`. */
  configure(patch: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  config(): Record<string, unknown>
  assumptions(): EffectiveAssumption[]
  /** Resolves when nothing is in flight and no timer is due. */
  settled(): Promise<void>
  /**
   * Forgets chats, timers, faults and journal; what is in flight is cancelled and never seen again. A call the
   * intermediary makes afterwards is a call like any other.
   */
  reset(): void
  /** The whole state as JSON; keys and journal only when asked for. */
  snapshot(options?: SnapshotOptions): Snapshot
  /**
   * Puts a snapshot in the place of everything there is, all or nothing; what is in flight is cut off as by a reset.
   * Throws `InvalidSnapshotError`.
   */
  restore(snapshot: Snapshot): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const cores = new WeakMap<PlatformSimulator, Core>()

/** For our own doors and server, not part of the public surface. */
export const coreOf = (simulator: PlatformSimulator): Core => cores.get(simulator)!

/**
 * Creates a simulator without expectations. Throws `InvalidOptionError`. A given `transport` is shared with other
 * simulators and closed by its creator; `filePrefix` begins the ids of files in links.
 */
export const createPlatformSimulator = (
  options: PlatformSimulatorOptions = {},
  transport?: Transport,
  filePrefix?: string,
): PlatformSimulator => simulatorOf(createCore(options, transport, filePrefix))

function simulatorOf(core: Core): PlatformSimulator {
  const { journal, platform, api } = core
  const basePath = () => new URL(core.address.base).pathname.replace(/\/$/, '')

  const simulator: PlatformSimulator = {
    get baseUrl() {
      return core.address.base
    },
    get apiKey() {
      return platform.knobs['keys.handover']
    },
    get botApiKey() {
      return platform.knobs['keys.bot']
    },
    get botId() {
      return core.bot.id
    },
    journal,
    get deliveries() {
      return journal.query({ kind: 'delivery' })
    },
    clock: { mode: core.clock.mode, now: core.clock.now, advance: by => advance(core, by) },
    fetch: createFetchAdapter({ api, basePath, bodyLimit: () => platform.knobs['limits.body'], epoch: core.epoch }),
    handle: api,
    chat: async chatOptions => createChatHandle(core, await newChat(core, chatOptions ?? {})),
    findChat(id) {
      const chat = platform.state.chats.get(id)
      return chat && createChatHandle(core, chat)
    },
    chats: () => [...platform.state.chats.values()].map(chatSummary),
    faults: core.faults,
    setAvailability: change => setAvailability(core, change),
    async configure(patch) {
      await configure(core, patch)
      return effectiveConfig(core)
    },
    config: () => effectiveConfig(core),
    assumptions: () => effectiveAssumptions(core),
    settled: () => settled(core),
    reset: core.reset,
    snapshot: snapshotOptions => captureSnapshot(core, snapshotOptions),
    restore: snapshot => restoreSnapshot(core, snapshot),
    close: core.close,
    [Symbol.asyncDispose]: core.close,
  }
  cores.set(simulator, core)
  return simulator
}

const AVAILABILITY = {
  availability: only('OPEN', 'CLOSED'),
  queue: text,
  reason: only('AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER'),
}

function setAvailability(core: Core, change: AvailabilityChange): void {
  validateOptions('setAvailability', change, AVAILABILITY)
  const transaction = createTransaction()
  changeAvailability(core.platform, core.platform.state.bots.get(core.bot.id)!, change, 'workspace', transaction)
  core.commitEffects(transaction.effects, null)
}

async function advance(core: Core, by: string): Promise<void> {
  const ms = parseDuration(by)
  if (ms === null)
    throw new InvalidOptionError([
      { name: 'by', message: `by must be a duration such as 10m, got ${JSON.stringify(by)}.` },
    ])
  if (core.clock.mode === 'virtual') return advanceVirtual(core, ms)
  throw new InvalidOptionError([
    { name: 'clock', message: 'Only a virtual clock can be advanced; start with the clock set to virtual.' },
  ])
}

function effectiveAssumptions(core: Core): EffectiveAssumption[] {
  const { knobs } = core.platform
  const effective = (name: KnobName): EffectiveKnob => ({
    name,
    value: maskSetting(name, formatKnob(name, knobs[name])),
    allowed: allowedFor(name),
  })
  return ASSUMPTIONS.map(assumption => ({ ...assumption, knobs: assumption.knobs.map(effective) }))
}
