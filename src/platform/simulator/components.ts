/** Creates the components of a simulator from its options; `core.ts` connects further components to them. */

import { type Activity, type ChatQueues, createActivity, createChatQueues, Epoch } from '../../base/runtime/activity.ts'
import {
  type Clock,
  createRealClock,
  createTimestamps,
  createVirtualClock,
  LATEST_MS,
  type OnThrown,
  type Timestamps,
} from '../../base/runtime/clock.ts'
import { httpTransport, listenerTransport } from '../../base/runtime/http-transport.ts'
import { loadModule, randomToken } from '../../base/runtime/node.ts'
import { hashWords, makeId } from '../../base/runtime/random.ts'
import { functionTransport, type Transport } from '../../base/runtime/transport.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import {
  type CallerRules,
  createCallerRules,
  createKeyring,
  createRateLimit,
  type Keyring,
  type RateLimit,
} from '../api/access.ts'
import { allowedFor } from '../contract/knobs.ts'
import { FaultRegistry } from '../faults/registry.ts'
import { createErrorNotes, createJournal, type Journal, type OnInternalError } from '../journal/journal.ts'
import { readBusinessHours } from '../rules/business-hours.ts'
import { type Engines, fillTemplate, markTranslation, sameText, type Translate } from '../rules/engines.ts'
import { type BotSpec, createPlatformState } from '../rules/platform.ts'
import type { PlatformContext, Settings } from '../rules/state.ts'
import {
  DEFAULTS,
  hoursProblems,
  InvalidOptionError,
  invalidOption,
  knobsFrom,
  memoryLimitOf,
  type PlatformSimulatorOptions,
} from './options.ts'

/** The seed and the bot; a snapshot contains its own. */
interface SimulatorIdentity {
  seed: number
  bot: BotSpec
}

/** The addresses, which are not part of the state. */
interface Address {
  base: string
  webhookUrl: string | null
  /** The prefix of file ids in links, which tells simulators with the same base URL apart. */
  readonly filePrefix: string
}

/** Decides who may call, and how often. */
interface Access {
  readonly keyring: Keyring
  readonly callers: CallerRules
  readonly rateLimit: RateLimit
}

/** Tracks and orders work in flight. */
interface Work {
  readonly activity: Activity
  readonly epoch: Epoch
  readonly chatQueues: ChatQueues
  /** One queue, in which chats are created. */
  readonly newChats: ChatQueues
}

/** Numbers messages and entries. */
interface Numbering {
  readonly stamps: Timestamps
  readonly journalStamps: Timestamps
  /** Names one journal: another name after a restart, a reset, or a restored snapshot, when entries are numbered anew. */
  instance(): string
  /** Entries before this `seq` happened before the last restore. */
  readonly restorePoint: { seq: number }
}

/** The parts of a simulator that need no other parts to work; `createCore` connects them. */
export interface Components {
  readonly identity: SimulatorIdentity
  readonly address: Address
  readonly clock: Clock
  readonly journal: Journal
  readonly numbering: Numbering
  readonly platform: PlatformContext
  readonly access: Access
  readonly work: Work
  readonly engines: Engines
  /** Values of `translation.engine` that the options or `configure` in code have named. */
  readonly userModules: Set<string>
  readonly faultRegistry: FaultRegistry
  readonly transport: ClosableTransport
  /** Journals an error in work that no caller waits for. */
  readonly onThrown: OnInternalError
  /** The secrets that outputs about this simulator do not show. */
  readonly secrets: Redactor
}

export function createComponents(
  options: PlatformSimulatorOptions,
  transport: Transport | undefined,
  filePrefix: string,
  secrets: Redactor,
): Components {
  const knobs = knobsFrom(options.knobs ?? {})
  const identity: SimulatorIdentity = { seed: options.seed ?? DEFAULTS.seed, bot: botFrom(options) }
  const clock = clockFrom(options, error => onThrown('timer', error))
  const stamps = createTimestamps(clock.wallMs)
  const journalStamps = createTimestamps(clock.wallMs)
  const memoryLimit = memoryLimitOf(options)
  const { journalLimit = DEFAULTS.journalLimit } = options
  const journal = createJournal({ limit: journalLimit, memoryLimit, time: journalStamps.nextText })
  const onThrown = createErrorNotes(journal)
  const address = addressFrom(options, filePrefix)
  const platform: PlatformContext = {
    state: createPlatformState(memoryLimit),
    knobs,
    settings: { replies: options.bot?.replies ?? [], businessHours: hoursFrom(options.businessHours) },
    nowMs: clock.now,
    wallMs: clock.wallMs,
    stamp: stamps.next,
    journal,
    id: (form, label) => makeId(form, identity.seed, label),
    words: label => hashWords(label, identity.seed),
    address,
  }
  const epoch = new Epoch()
  let token: string | null = null
  return {
    identity,
    address,
    clock,
    journal,
    numbering: {
      stamps,
      journalStamps,
      instance() {
        token ??= randomToken()
        return `${token}-${epoch.count}`
      },
      restorePoint: { seq: 1 },
    },
    platform,
    access: {
      keyring: createKeyring(() => identity.bot.id, knobs),
      callers: createCallerRules(),
      rateLimit: createRateLimit(),
    },
    work: { activity: createActivity(), epoch, chatQueues: createChatQueues(), newChats: createChatQueues() },
    engines: createEngines(options, platform),
    userModules: new Set([knobs['translation.engine']]),
    faultRegistry: new FaultRegistry(),
    transport: transportFrom(options, transport),
    onThrown,
    secrets,
  }
}

const addressFrom = ({ baseUrl, webhook }: PlatformSimulatorOptions, filePrefix: string): Address => ({
  base: (baseUrl ?? DEFAULTS.baseUrl).replace(/\/+$/, ''),
  webhookUrl: webhook?.url ?? null,
  filePrefix,
})

const botFrom = ({ bot }: PlatformSimulatorOptions): BotSpec => ({
  id: bot?.id ?? DEFAULTS.botId,
  name: bot?.name ?? DEFAULTS.botName,
  organizationId: bot?.organizationId ?? DEFAULTS.organizationId,
})

function clockFrom({ clock = 'virtual' }: PlatformSimulatorOptions, onThrown: OnThrown): Clock {
  if (clock === 'real') return createRealClock(onThrown)
  const start = typeof clock === 'object' && clock.start !== undefined ? new Date(clock.start).getTime() : undefined
  if (start === undefined || (start >= 0 && start <= LATEST_MS)) return createVirtualClock(start, onThrown)
  throw invalidOption('clock.start', 'clock.start must be a date such as 2024-01-01T09:00:00Z, from 1970 to 2254.')
}

function hoursFrom(raw: PlatformSimulatorOptions['businessHours']): Settings['businessHours'] {
  if (raw === null || raw === undefined) return null
  const read = readBusinessHours(raw)
  if ('problems' in read) throw new InvalidOptionError(hoursProblems(read))
  return read
}

type ClosableTransport = Transport & { close?(): Promise<void> }

const transportFrom = (options: PlatformSimulatorOptions, shared?: Transport): ClosableTransport => {
  const { webhook } = options
  const { fetch, listener } = webhook ?? {}
  if (fetch && listener) throw invalidOption('webhook', 'webhook takes fetch or listener, not both.')
  // A method of the worker may use `this`.
  if (webhook?.fetch)
    return functionTransport((request, context) => webhook.fetch!(request, webhook.env ?? {}, context))
  if (listener) return listenerTransport(listener)
  return shared ?? httpTransport()
}

/** Loads the `translate` function that a module exports. Throws `InvalidOptionError` if there is none. */
export async function loadTranslate(path: string): Promise<Translate> {
  const name = 'translation.engine'
  const loaded = await loadModule(path).catch((error: Error) => {
    const message = `${name}: cannot load ${JSON.stringify(path)}: ${error.message}`
    throw new InvalidOptionError([{ name, message, allowed: allowedFor(name) }])
  })
  const translate =
    loaded.translate ?? (loaded.default as { translate?: unknown } | undefined)?.translate ?? loaded.default
  if (typeof translate === 'function') return translate as Translate
  const message = `${name}: ${JSON.stringify(path)} exports no function translate(text, from, to).`
  throw new InvalidOptionError([{ name, message, allowed: allowedFor(name) }])
}

function createEngines(options: PlatformSimulatorOptions, platform: PlatformContext): Engines {
  const loaded = new Map<string, Promise<Translate>>()
  const load = (path: string) => {
    const cached = loaded.get(path) ?? loadTranslate(path)
    loaded.set(path, cached)
    return cached
  }
  return {
    translate(text, from, to) {
      if (options.translate) return options.translate(text, from, to)
      const engine = platform.knobs['translation.engine']
      if (engine === 'marker') return markTranslation(text, from, to)
      if (engine === 'identity') return sameText(text, from, to)
      return load(engine).then(translate => translate(text, from, to))
    },
    summarize: options.summarize ?? (input => fillTemplate(platform, input)),
  }
}
