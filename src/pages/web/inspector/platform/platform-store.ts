/** Loads the state of the platform, follows its changes, and derives the column of the platform at the shown moment. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { wallDelay } from '../../../../base/runtime/clock.ts'
import { messageOf } from '../../../../base/text/error-text.ts'
import type { NamedFault } from '../../../../platform/faults/registry.ts'
import type { Entry } from '../../../../platform/journal/entry.ts'
import type { DescriptionAnswer } from '../../../../server/control/routes/description.ts'
import type { SimulatorState } from '../../../../server/control/routes/workspace.ts'
import { countUntil } from '../../model/journal-log.ts'
import {
  configAt,
  createPlatformLog,
  type FaultState,
  faultsAt,
  type PlatformLog,
  type QueueState,
  queuesAt,
} from '../../model/platform-log.ts'
import { type WebhookHealth, webhookHealthAt } from '../../model/webhook-health.ts'
import type { Session } from '../session.ts'

/** What the server says about the platform now. */
interface Loaded {
  readonly state: SimulatorState
  readonly description: DescriptionAnswer
  readonly faults: readonly NamedFault[]
}

/** The platform at the shown moment. */
export interface PlatformMoment {
  /** Whether it is an earlier one, which cannot be changed. */
  readonly isPast: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly queues: readonly QueueState[]
  readonly faults: readonly FaultState[]
  readonly health: WebhookHealth
  readonly description: DescriptionAnswer
  readonly clock: SimulatorState['clock']
}

export interface PlatformStore {
  readonly session: Session
  /** Null until the server has answered. */
  readonly moment: ReadonlySignal<PlatformMoment | null>
  /** Why the state could not be loaded. */
  readonly problem: ReadonlySignal<string | null>
  /** Loads the state again; calls at the same time become one. */
  refresh(): void
  close(): void
}

/** Changes within this time are loaded together. */
const TOGETHER_MS = 80

export function createPlatformStore(session: Session): PlatformStore {
  const loaded = signal<Loaded | null>(null)
  const problem = signal<string | null>(null)
  const ended = new AbortController()
  const refresh = createCoalesced(ended.signal, async () => {
    try {
      // The description of endpoints and schemas stays the same; only the values of knobs change, which the
      // state has.
      const { client } = session
      const before = loaded.peek()
      const [state, { faults }, description] = await Promise.all([
        client.send<SimulatorState>('GET', '/state'),
        client.send<{ faults: NamedFault[] }>('GET', '/faults'),
        before?.description ?? client.send<DescriptionAnswer>('GET', '/description'),
      ])
      loaded.value = { state, faults, description }
      problem.value = null
    } catch (error) {
      if (!ended.signal.aborted) problem.value = messageOf(error)
    }
  })
  const isHolding = () => loaded.peek()?.faults.some(({ holding }) => holding > 0) === true
  const { log, stop } = followPlatform(session, refresh, entries => {
    if (entries.some(entry => changesState(entry, isHolding()))) refresh()
  })
  refresh()
  const moment = computed(() => {
    const { version, platform } = log.value
    return loaded.value === null || version < 0 ? null : momentOf(loaded.value, platform, session.view.at.value)
  })
  return {
    session,
    moment,
    problem,
    refresh,
    close() {
      stop()
      ended.abort()
    },
  }
}

/** Runs at most one at a time, and once more when it is called meanwhile. */
function createCoalesced(signal: AbortSignal, run: () => Promise<void>): () => void {
  let isWaiting = false
  let last = Promise.resolve()
  return () => {
    if (isWaiting) return
    isWaiting = true
    last = last.then(async () => {
      await wallDelay(TOGETHER_MS, signal)
      isWaiting = false
      if (!signal.aborted) await run()
    })
  }
}

/** Hits of faults are counted from their entries; how many events a fault holds is known only to the server. */
function changesState(entry: Entry, isHolding: boolean): boolean {
  if (entry.kind === 'fault') return entry.effect.hold !== undefined || entry.effect.swap === true
  return entry.kind === 'note' || isHolding
}

/** Feeds new entries to the log of the platform, and calls `added` with those that concern it. */
function followPlatform(
  { log: journal, version }: Session,
  begun: () => void,
  added: (entries: readonly Entry[]) => void,
) {
  let platform = createPlatformLog()
  let read = { from: journal.peek(), until: 0 }
  const log = signal({ platform, version: 0 })
  const stop = effect(() => {
    if (version.value < 0) return
    const { entries } = journal.value
    if (read.from !== journal.value) {
      platform = createPlatformLog()
      read = { from: journal.value, until: 0 }
      log.value = { platform, version: log.peek().version + 1 }
      begun()
    }
    const concerning = entries.slice(countUntil(entries, read.until)).filter(entry => platform.add(entry))
    read.until = entries.at(-1)?.seq ?? 0
    if (concerning.length === 0) return
    log.value = { platform, version: log.peek().version + 1 }
    added(concerning)
  })
  return { log, stop }
}

function momentOf({ state, faults, description }: Loaded, log: PlatformLog, at: number | null): PlatformMoment {
  const config = configAt(state.config, log, at)
  const url = config['webhook.url']
  return {
    isPast: at !== null,
    config,
    queues: queuesAt(state.availability, log, at, config),
    faults: faultsAt(faults, log, at),
    health: webhookHealthAt(log, at, typeof url === 'string' ? url : null),
    description,
    clock: state.clock,
  }
}
