/** Wires the parts of one simulator around one clock and one seed: platform, journal, dispatcher, API, end user. */

import { type Clock, type ClockTimer, wallDelay } from '../../base/runtime/clock.ts'
import { lazily } from '../../base/runtime/lazy.ts'
import type { Transport } from '../../base/runtime/transport.ts'
import type { ApiPorts } from '../api/call.ts'
import type { Api } from '../api/handle.ts'
import { resetResponse } from '../api/messages.ts'
import { type Evidence, isSeen } from '../contract/assumptions.ts'
import { VERSION } from '../contract/version.ts'
import type { UserContent } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { addSecretsOf, createSecrets } from '../journal/mask.ts'
import { evictMessages, refreshIdle } from '../rules/chats.ts'
import { createMessageMemory, ensureBots, fireDue } from '../rules/platform.ts'
import { type Chat, createTransaction, type Effect, type PlatformContext } from '../rules/state.ts'
import { createUserActions, type UserActions } from '../rules/user-actions.ts'
import { createDispatcher, type Dispatcher } from '../webhooks/dispatcher.ts'
import { type Components, createComponents } from './components.ts'
import { createFaultController, type FaultSetter } from './fault-controller.ts'
import { DEFAULTS, memoryLimitOf, type PlatformSimulatorOptions } from './options.ts'

/** All parts of one simulator, for the server, the runner and snapshots. */
export interface Core extends Omit<Components, 'engines' | 'transport'> {
  readonly committer: Committer
  readonly resets: Resets
  readonly dispatcher: Dispatcher
  readonly api: Api
  readonly user: UserActions
  readonly faults: FaultSetter
  readonly moments: Moments
  /** What recorded traffic shows about the platform. */
  readonly evidence: Evidence | undefined
  /** False when the webhook is a function. */
  readonly hasConnection: boolean
  isClosed(): boolean
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
  const faults = createFaultController(components, dispatcher.release)
  const resets = createResets(components, dispatcher, committer, faults)
  resets.refresh()
  const { engines: _, transport: ownTransport, ...parts } = components
  let closed: Promise<void> | null = null
  async function close(): Promise<void> {
    resets.reset()
    if (ownTransport !== transport) await ownTransport.close?.()
  }
  return {
    ...parts,
    committer,
    resets,
    dispatcher,
    api: apiFor(components, committer, options),
    user: createUserActions({ ...sharedPorts(components), commit: committer.commit }),
    faults,
    evidence: options.evidence,
    moments: createMoments(components.platform, components.journal),
    hasConnection: hasConnection(options),
    isClosed: () => closed !== null,
    close() {
      closed ??= close()
      return closed
    },
  }
}

function dispatcherFor(components: Components, options: PlatformSimulatorOptions): Dispatcher {
  const { journal, clock, identity, address, transport, faultRegistry, platform } = components
  return createDispatcher({
    journal,
    clock,
    activity: components.work.activity,
    backgroundWork: new Set(),
    onThrown: components.onThrown,
    seed: () => identity.seed,
    userAgent: `handover-sim/${VERSION}`,
    knobs: () => platform.knobs,
    target: () => webhookTargetOf(options, address.webhookUrl, transport),
    faults: faultRegistry,
    memoryLimit: memoryLimitOf(options),
    hasConnection: () => hasConnection(options),
    signingKey: chatId =>
      components.access.keyring.signingKey(platform.state.chats.get(chatId ?? '')?.botId ?? identity.bot.id),
  })
}

/** A webhook of this process needs no address, but its requests need a URL. */
function webhookTargetOf(options: PlatformSimulatorOptions, url: string | null, transport: Transport) {
  const { fetch, listener } = options.webhook ?? {}
  const address = url ?? (fetch || listener ? DEFAULTS.webhookUrl : null)
  return address === null ? null : { url: address, transport }
}

const hasConnection = ({ webhook }: PlatformSimulatorOptions): boolean => webhook?.fetch === undefined

/**
 * Loads the API with the first call, because the schemas of the contract take half of the time in which
 * `handover-sim start` is ready. Calls that wait for it are answered in their order.
 */
function apiFor(components: Components, { commitCall, lastEvent }: Committer, options: PlatformSimulatorOptions): Api {
  let api: Api | null = null
  const load = lazily(async () => {
    const { createApi } = await import('../api/handle.ts')
    api = createApi({
      ...sharedPorts(components),
      keyring: components.access.keyring,
      callers: components.access.callers,
      rateLimit: components.access.rateLimit,
      marked: createMarker(options, components),
      commitCall,
      faults: components.faultRegistry,
      lastEvent: chatId => lastEvent.get(chatId) ?? null,
      delay: ms => wallDelay(ms, components.work.epoch.delaySignal()),
      resetSignal: components.work.epoch.signal,
    })
    return api
  })
  return request => {
    if (api !== null) return api(request)
    const ended = components.work.activity.begin()
    const begun = components.work.epoch.count
    // A reset meanwhile cancels the call.
    return load()
      .then(loaded => (begun === components.work.epoch.count ? loaded(request) : resetResponse()))
      .finally(ended)
  }
}

/** The assumptions that an answer names: those that the evidence of the user does not confirm. */
function createMarker(
  { markers = true, evidence }: PlatformSimulatorOptions,
  { platform }: Components,
): ApiPorts['marked'] {
  if (!markers) return () => []
  if (evidence === undefined) return assumed => assumed
  return assumed => assumed.filter(name => !isSeen(evidence, name, platform.knobs))
}

/** The ports that the API and the end user share. */
const sharedPorts = ({ platform, engines, work }: Components) => ({
  platform,
  engines,
  inOrder: work.chatQueues.inOrder,
  epoch: work.epoch,
  inFlight: work.activity.begin,
})

/** Repeats until nothing is in flight, because deliveries and answers may start others. */
export async function settled(core: Core): Promise<void> {
  for (let quiet = false; !quiet; ) {
    await core.work.activity.idle()
    const due = core.clock.nextDue()
    quiet = !core.work.activity.isBusy() && (due === null || due > core.clock.now())
    if (!quiet) {
      // A clock that runs fires them by itself, and may be paused meanwhile.
      ;(await core.clock.isPaused()) ? advancePaused(core, 0) : wallDelay(1)
    }
  }
}

/** Advances a virtual clock, or a real one that is paused. Waits after each timer until the work it started has ended. */
export const advancePaused = ({ clock, work }: Core, ms: number): Promise<void> =>
  clock.advance(ms, () => work.activity.idle())

export interface Committer {
  /** Appends what the user did, and its effects. */
  commit(action: UserContent, effects: readonly Effect[]): void
  /** Appends a call, the faults applied to it, and its effects. */
  commitCall: ApiPorts['commitCall']
  /** Appends effects that follow no entry from outside. */
  commitEffects(effects: readonly Effect[], cause: number | null): void
  /** `seq` of the latest webhook event, by chat id. */
  readonly lastEvent: Map<string, number>
  /** The timer of the nearest deadline; the effects of deadlines are journaled too. */
  readonly deadlineTimer: DeadlineTimer
}

function createCommitter({ journal, platform, clock }: Components, dispatcher: Dispatcher): Committer {
  const lastEvent = new Map<string, number>()
  const deadlineTimer = createDeadlineTimer(platform, clock, effects => commitEffects(effects, null))

  function commitEffects(effects: readonly Effect[], cause: number | null): void {
    for (const effect of effects) {
      const { seq } = journal.append(effect, cause)
      if (effect.kind !== 'event') continue
      lastEvent.set(effect.chat_id, seq)
      dispatcher.enqueue(effect, seq)
    }
    const evicted = evictMessages(platform)
    if (evicted !== null) journal.append(evicted, cause)
    deadlineTimer.set()
  }

  return {
    commit(action, effects) {
      commitEffects(effects, journal.append(action, null).seq)
    },
    commitCall(call, size, effects, faults) {
      const { seq } = journal.append(call, null, size)
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

  function move(armedTimer: ArmedTimer, at: number): void {
    armedTimer.timer.move(at - clock.now())
    armedTimer.at = at
  }

  function fire(): void {
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
      const { deadlines } = platform.state
      const at = deadlines.current.size === 0 ? null : deadlines.nextMs()
      if (at === (armed?.at ?? null)) return
      if (at === null) return cancel()
      if (armed === null) armed = { at, timer: clock.after(at - clock.now(), fire) }
      else move(armed, at)
    },
    cancel,
  }
}

export interface Resets {
  /** Updates keys and bots; call it after a change of knobs or identity. */
  refreshBots(): void
  /** Updates all parts that depend on settings; call it after a change of knobs or settings. */
  refresh(): void
  /** Ends the epoch: aborts what is in flight and removes chats, timers, faults and deliveries. */
  forget(): void
  reset(): void
}

function createResets(
  components: Components,
  dispatcher: Dispatcher,
  { deadlineTimer, lastEvent }: Committer,
  faults: FaultSetter,
): Resets {
  const { platform, clock } = components

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
    components.work.epoch.next()
    deadlineTimer.cancel()
    components.faultRegistry.reset()
    faults.forget()
    dispatcher.reset()
    components.work.activity.forget()
    components.access.rateLimit.reset()
    components.work.chatQueues.clear()
    const { state } = platform
    if (state.chats.size > 0) state.forgotten = new Set(state.chats.keys())
    state.bots.clear()
    state.chats.clear()
    state.files.clear()
    state.deadlines.clear()
    state.messageMemory = createMessageMemory(state.messageMemory.limit)
    state.memory.clear()
    state.chatCounter = 0
    state.summaryCounter = 0

    lastEvent.clear()
    components.access.keyring.forgetReplaced()
    components.numbering.restorePoint.seq = 1
  }
  function reset(): void {
    forget()
    clock.rewind()
    components.numbering.stamps.reset()
    components.numbering.journalStamps.reset()
    components.journal.reset()
    refresh()
  }
  return { refreshBots: () => refreshBots(components), refresh, forget, reset }
}

function refreshBots({ access: { keyring }, clock, identity: { bot }, platform, secrets }: Components): void {
  const { knobs } = platform
  keyring.refresh(knobs, clock.now())
  addSecretsOf(secrets, knobs)
  const botOf = (id: number) => (id === bot.id ? bot : { ...bot, id, name: `${bot.name} ${id}` })
  ensureBots(platform, keyring.botIds().map(botOf))
}

/** What changes in a chat beside its messages, which know the entry that brought them. */
interface ChatMoment extends Pick<Chat, 'status' | 'typing' | 'active' | 'userLeft' | 'takeover'> {
  /** The entry after which the chat was so. */
  readonly seq: number
}

export interface Moments {
  /** The first `seq` that can be asked for: earlier entries were dropped, or happened before a restored snapshot. */
  firstSeq(): number
  /** The chat after the entry `seq`; null when it was created later. Its messages are those that memory still has. */
  chatAt(chat: Chat, seq: number): Chat | null
}

function createMoments(platform: PlatformContext, journal: Journal): Moments {
  const moments = new Map<string, ChatMoment[]>()
  let startSeq = 0
  const firstSeq = () => Math.max(startSeq, journal.firstSeq - 1)

  function record({ id, status, typing, active, userLeft, takeover }: Chat, seq: number): void {
    const earlier = moments.get(id) ?? []
    const last = earlier.at(-1)
    const isSame = last?.status === status && last.typing === typing && last.active === active
    if (isSame && last.userLeft === userLeft && last.takeover === takeover) return
    earlier.push({ seq, status, typing, active, userLeft, takeover })
    // Of the moments before the journal, only the latest can be asked for.
    while (earlier[1] !== undefined && earlier[1].seq <= firstSeq()) earlier.shift()
    moments.set(id, earlier)
  }

  /** A reset or a restored snapshot replaces all chats. */
  function restart(): void {
    moments.clear()
    startSeq = journal.nextSeq - 1
    for (const chat of platform.state.chats.values()) record(chat, startSeq)
  }

  journal.subscribe(({ seq, chat_id: id, kind }) => {
    if (kind === 'delivery' || kind === 'fault') return
    const chat = platform.state.chats.get(id ?? '')
    if (chat !== undefined) record(chat, seq)
  }, restart)

  return {
    firstSeq,
    chatAt(chat, seq) {
      const moment = moments.get(chat.id)?.findLast(chatMoment => chatMoment.seq <= seq)
      if (moment === undefined) return null
      const { seq: _changedAt, ...state } = moment
      return { ...chat, ...state, messages: chat.messages.filter(message => message.seq <= seq) }
    },
  }
}
