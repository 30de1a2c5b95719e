/** Defines the simulator object: the platform and its end users in this process, without expectations. */

import type { Awaitable } from '../../base/runtime/activity.ts'
import { LATEST_MS } from '../../base/runtime/clock.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import { type Duration, parseDuration } from '../../base/text/quantities.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import { lostResponseError, slowResponse, toBytes } from '../api/faulty-responses.ts'
import type { ApiRequest, ApiResponse } from '../api/messages.ts'
import { resetResponse } from '../api/messages.ts'
import { ASSUMPTIONS, type Assumption, type EvidenceItem, tierOf } from '../contract/assumptions.ts'
import { allowedFor, formatKnob, type KnobName } from '../contract/knobs.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { maskSetting } from '../journal/mask.ts'
import { type AvailabilityChange, changeAvailability } from '../rules/availability.ts'
import { createTransaction } from '../rules/state.ts'
import { type ChatView, chatSummary } from '../rules/transcript.ts'
import { type ChatHandle, createChatHandle } from './chat-handle.ts'
import { advancePaused, type Core, createCore, settled } from './core.ts'
import type { FaultController } from './fault-controller.ts'
import { type ChatOptions, newChat } from './new-chat.ts'
import type { PlatformSimulatorOptions, SettingChanges } from './options.ts'
import { invalidOption, only, text, validateOptions } from './options.ts'
import { configure, effectiveConfig } from './settings.ts'
import { captureSnapshot, type SnapshotOptions } from './snapshot/capture.ts'
import type { Snapshot } from './snapshot/schema.ts'

/** A behaviour that the platform's description leaves open, what the simulator does, and the knobs that change it. */
export interface EffectiveAssumption extends Omit<Assumption, 'knobs'> {
  /** What recorded traffic shows about it; null for nothing. */
  readonly evidence: EvidenceItem | null
  readonly knobs: readonly EffectiveKnob[]
}

/** A knob with its effective value. */
export interface EffectiveKnob {
  readonly name: KnobName
  readonly value: unknown
  /** The accepted values, as text. */
  readonly allowed: string
}

/** The platform and its end users. */
export interface PlatformSimulator {
  /** The beginning of `_links.self` and of attachment links. */
  readonly baseUrl: string
  /** The key of the handover endpoints (A1). */
  readonly apiKey: string
  /** The key of the transcript endpoint. */
  readonly botApiKey: string
  readonly botId: number
  /** Everything that happened. Its entries are wire-shaped (snake_case). */
  readonly journal: Journal
  /** Journal entries of all attempts to deliver an event, oldest first. */
  readonly deliveries: readonly EntryOf<'delivery'>[]
  readonly clock: SimulatorClock
  /** Answers a request to the nine endpoints or to an attachment, with the signature of `fetch`. */
  fetch(input: Request | string | URL, init?: RequestInit): Promise<Response>
  /** Answers a request as plain data, for servers and other adapters. */
  handle(exchange: ApiRequest): Awaitable<ApiResponse>
  /** Creates a chat. Throws `InvalidOptionError`. */
  chat(options?: ChatOptions): Promise<ChatHandle>
  /** Finds a chat by its id. */
  findChat(id: string): ChatHandle | undefined
  /** Lists all chats without their messages, oldest first. */
  chats(): Omit<ChatView, 'messages'>[]
  /** Injects faults into API responses and webhook deliveries. */
  readonly faults: FaultController
  /** Sets the handover availability as a person does in the workspace (ST17). Throws `InvalidOptionError`. */
  setAvailability(change: AvailabilityChange): void
  /**
   * Changes knobs and settings by dotted name, all or none, and resolves with the effective ones.
   *
   * @throws InvalidOptionError
   * @example
   * await sim.configure({ 'typing.webhook': 'off', 'webhook.retry': ['1s', '5s'] })
   */
  configure(patch: SettingChanges): Promise<Record<string, unknown>>
  /** Returns the effective knobs and settings; keys are masked. */
  config(): Record<string, unknown>
  /** Lists the assumptions with the effective values of their knobs. */
  assumptions(): EffectiveAssumption[]
  /** Resolves when no work is in flight and no timer is due. */
  settled(): Promise<void>
  /**
   * Removes chats, timers, faults and journal entries, and aborts work in flight: it has no effect after the reset. Later
   * calls of the intermediary are answered as usual.
   */
  reset(): void
  /** Returns the whole state as JSON. Keys and journal are included only with the options. */
  snapshot(options?: SnapshotOptions): Snapshot
  /**
   * Replaces the whole state with a snapshot, and aborts work in flight as a reset does.
   *
   * @throws InvalidSnapshotError for an invalid snapshot; nothing is changed then.
   * @example
   * const before = sim.snapshot()
   * await ada.press('handover')
   * await sim.restore(before)
   */
  restore(snapshot: Snapshot): Promise<void>
  /** Aborts work in flight and removes everything. Later calls of other methods throw, or reject. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The property of a simulator that has its internal parts. */
const CORE = Symbol('core')

const NO_SIMULATOR =
  'The value is not a simulator: create one with createSimulator, and load handover-sim once, not also in its version for browsers.'

/** Returns the internal parts of a simulator, for the server and the runner. */
export function coreOf(simulator: PlatformSimulator): Core {
  const core: Core | undefined = Reflect.get(Object(simulator), CORE)
  if (core === undefined) throw new TypeError(NO_SIMULATOR)
  return core
}

/**
 * Creates a simulator without expectations. Throws `InvalidOptionError`. A given `transport` is shared with other
 * simulators and closed by its creator; `filePrefix` begins the ids of files in links; `secrets` collects its secrets.
 */
export const createPlatformSimulator = (
  options: PlatformSimulatorOptions = {},
  transport?: Transport,
  filePrefix?: string,
  secrets?: Redactor,
): PlatformSimulator => createHandle(createCore(options, transport, filePrefix, secrets))

function createHandle(core: Core): PlatformSimulator {
  const { journal, platform, api } = core
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
      return core.identity.bot.id
    },
    journal,
    get deliveries() {
      return journal.query({ kind: 'delivery' })
    },
    clock: createSimulatorClock(core),
    fetch: (input, init) => fetchFrom(core, input, init),
    handle: api,
    chat: async chatOptions => createChatHandle(core, await newChat(core, chatOptions ?? {})),
    findChat(id) {
      const chat = platform.state.chats.get(id)
      return chat && createChatHandle(core, chat)
    },
    chats: () => [...platform.state.chats.values()].map(chatSummary),
    faults: { ...core.faults },
    setAvailability: change => {
      validateOptions('setAvailability', change, AVAILABILITY)
      const transaction = createTransaction()
      changeAvailability(platform, platform.state.bots.get(core.identity.bot.id)!, change, 'workspace', transaction)
      core.committer.commitEffects(transaction.effects, null)
    },
    async configure(patch) {
      await configure(core, patch, 'user')
      return effectiveConfig(core)
    },
    config: () => effectiveConfig(core),
    assumptions: () => {
      const { knobs } = platform
      const effective = (name: KnobName): EffectiveKnob => ({
        name,
        value: maskSetting(name, formatKnob(name, knobs[name])),
        allowed: allowedFor(name),
      })
      return ASSUMPTIONS.map(assumption => ({
        ...assumption,
        tier: tierOf(assumption.name, core.evidence, knobs),
        evidence: core.evidence?.[assumption.name] ?? null,
        knobs: assumption.knobs.map(effective),
      }))
    },
    settled: () => settled(core),
    reset: core.resets.reset,
    snapshot: snapshotOptions => captureSnapshot(core, snapshotOptions),
    async restore(snapshot) {
      const { restoreSnapshot } = await import('./snapshot/restore.ts')
      await restoreSnapshot(core, snapshot)
    },
    close: core.close,
    [Symbol.asyncDispose]: core.close,
  }
  for (const methods of [simulator, simulator.clock, simulator.faults]) refuseWhenClosed(core, methods)
  return Object.defineProperty(simulator, CORE, { value: core })
}

/** Throws for a simulator that was closed. `what`: what its user wants to do. */
export function checkOpen({ isClosed }: Core, what: string): void {
  if (!isClosed()) return
  throw new Error(`Failed to ${what}: the simulator is closed. Close it after its last use, or create another one.`)
}

const ASYNC_METHODS = ['fetch', 'chat', 'configure', 'settled', 'restore', 'advance']

/** Wraps methods, so that they throw or reject once the simulator is closed. */
function refuseWhenClosed(core: Core, methods: object): void {
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method !== 'function' || name === 'close') continue
    const refuse = () => checkOpen(core, `call ${name}`)
    const refuseLater = async () => refuse()
    const refusal = ASYNC_METHODS.includes(name) ? refuseLater : refuse
    Object.assign(methods, { [name]: (...args: unknown[]) => (core.isClosed() ? refusal() : method(...args)) })
  }
}

const AVAILABILITY = {
  availability: only('OPEN', 'CLOSED'),
  queue: text,
  reason: only('AGENT_AVAILABILITY', 'BUSINESS_HOURS', 'OTHER'),
}

/** The clock of the platform: typing, retries, idle chats and timestamps follow it. */
export interface SimulatorClock {
  readonly mode: 'real' | 'virtual'
  /** Whether it stands still until it is advanced: a real clock that is paused, and every virtual clock. */
  readonly paused: boolean
  /** Epoch milliseconds on the simulator's clock. */
  now(): number
  /**
   * Moves a virtual or a paused clock by a duration such as `10m`, and fires due timers in order. Rejects on a real clock
   * that runs.
   */
  advance(by: Duration): Promise<void>
  /** Stops a real clock: timers wait, and timestamps stay at that time. A virtual clock stands still already. */
  pause(): void
  /** Lets a paused clock go on from the time at which it stands. Throws `InvalidOptionError` on a virtual clock. */
  resume(): void
}

const createSimulatorClock = (core: Core): SimulatorClock => ({
  mode: core.clock.mode,
  get paused() {
    return core.clock.isPaused()
  },
  now: core.clock.now,
  async advance(by) {
    const ms = parseDuration(by)
    if (ms === null) throw invalidOption('by', `by must be a duration such as 10m, got ${JSON.stringify(by)}.`)
    if (!core.clock.isPaused()) throw invalidOption('clock', CLOCK_RUNS)
    if (core.clock.now() + ms <= LATEST_MS) return advancePaused(core, ms)
    throw invalidOption('by', `by must end before the year 2255, got ${JSON.stringify(by)}.`)
  },
  pause: () => {
    if (core.clock.mode === 'virtual' || core.clock.isPaused()) return
    core.clock.pause()
    core.journal.append({ kind: 'note', note: 'clock_paused' }, null)
  },
  resume: () => {
    if (core.clock.mode === 'virtual') throw invalidOption('clock', ALWAYS_STANDS)
    if (!core.clock.isPaused()) return
    core.clock.resume()
    core.journal.append({ kind: 'note', note: 'clock_resumed' }, null)
  },
})

const CLOCK_RUNS =
  'A real clock must be paused to be advanced: call clock.pause() first, or start with the clock set to virtual.'

const ALWAYS_STANDS =
  'A virtual clock never runs by itself: move it with clock.advance(), or start with the clock set to real.'

const NEVER = new AbortController().signal
const NO_BYTES = new Uint8Array(0)
const NO_BODY = new Set([101, 204, 205, 304])

/** Routes by path only: it ignores the origin of a URL, and removes the path of the base URL. */
async function fetchFrom(core: Core, input: Request | string | URL, init: RequestInit | undefined): Promise<Response> {
  const { api, address, platform, work } = core
  const begun = work.epoch.count
  // A `Request` is used as it is, because it may belong to another realm.
  const isRequest = init === undefined && typeof input === 'object' && 'arrayBuffer' in input
  const request = isRequest ? input : new Request(input, init)
  // The request of a polyfill may have no signal.
  const signal = (request as { readonly signal?: AbortSignal | null }).signal ?? NEVER
  if (signal.aborted) throw signal.reason
  const target = requestTarget(request.url, address.base)
  const body = request.body === null ? NO_BYTES : new Uint8Array(await request.arrayBuffer())
  // A reset while the body is read cancels the call.
  if (begun !== work.epoch.count) return toResponse(resetResponse(), signal)
  const headers = Object.fromEntries(request.headers)
  const tooLarge = body.length > platform.knobs['limits.body']
  const response = api({ method: request.method, target, headers, body, tooLarge })
  return toResponse(response instanceof Promise ? await unlessAborted(response, signal) : response, signal)
}

/** Parses only addresses that do not begin with the base URL as it is written. */
function requestTarget(address: string, baseUrl: string): string {
  if (address.startsWith(baseUrl) && address.charAt(baseUrl.length) === '/') {
    return address.slice(baseUrl.length).replace(/#.*/, '')
  }
  const { pathname, search } = new URL(address)
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
  const isBelow = basePath !== '' && pathname.startsWith(`${basePath}/`)
  return (isBelow ? pathname.slice(basePath.length) : pathname) + search
}

/** Rejects when the caller aborts, as with a socket; the platform still processes the call. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Throws as `fetch` does when the response is lost. */
function toResponse({ status, headers, body, wire }: ApiResponse, clientSignal: AbortSignal): Response {
  if (wire?.kind === 'lost') throw lostResponseError(wire)
  const empty = NO_BODY.has(status) || body.length === 0
  if (wire?.kind === 'slow' && !empty) return slowResponse(status, headers, toBytes(body), { ...wire, clientSignal })
  if (empty) return new Response(null, { status, headers })
  return new Response(body as BodyInit, { status, headers })
}
