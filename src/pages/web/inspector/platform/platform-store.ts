/** Asks the server for the platform at the shown moment, and again when an entry may have changed it. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { wallTime } from '../../../../base/runtime/clock.ts'
import { messageOf } from '../../../../base/text/error-text.ts'
import type { NamedFault } from '../../../../platform/faults/registry.ts'
import type { Entry } from '../../../../platform/journal/entry.ts'
import type { AgentDescription } from '../../../../server/control/routes/agent.ts'
import type { DescriptionResponse, PlatformKeys } from '../../../../server/control/routes/description.ts'
import type { SimulatorState } from '../../../../server/control/routes/workspace.ts'
import { createRefresh } from '../../client/refresh.ts'
import { countUntil } from '../../model/journal-log.ts'
import { type WebhookHealth, webhookHealthAt } from '../../model/webhook-health.ts'
import type { Session } from '../session.ts'

/** What the server says about the platform after the entry `at`, or now for null. */
interface Loaded {
  readonly at: number | null
  readonly state: SimulatorState
  readonly faults: readonly NamedFault[]
  readonly keys: PlatformKeys
  readonly agent: AgentDescription
  readonly clockOffsetMs: number
}

/** The platform at the shown moment. */
export interface PlatformMoment {
  /** Whether it is an earlier one, which cannot be changed. */
  readonly isPast: boolean
  readonly config: Readonly<Record<string, unknown>>
  readonly queues: SimulatorState['availability']
  readonly faults: readonly NamedFault[]
  readonly health: WebhookHealth
  /** As they are now, also at an earlier moment. */
  readonly keys: PlatformKeys
  /** Who plays the agent now. */
  readonly agent: AgentDescription
  readonly description: DescriptionResponse
  readonly clock: SimulatorState['clock']
  /** How far a clock that runs is from that of this computer. */
  readonly clockOffsetMs: number
}

export interface PlatformStore {
  /** Null until the server has answered, and at a moment that it no longer has. */
  readonly moment: ReadonlySignal<PlatformMoment | null>
  /** What a proxy records; null for a simulator, and until the server has answered. */
  readonly proxy: ReadonlySignal<SimulatorState['proxy']>
  /** Why the state could not be loaded. */
  readonly problem: ReadonlySignal<string | null>
  /** Loads the state again; calls at the same time become one. */
  refresh(): void
  close(): void
}

/** Changes within this time are loaded together. */
const TOGETHER_MS = 80

export function createPlatformStore(session: Session): PlatformStore {
  const { client, log, view } = session
  const loaded = signal<Loaded | null>(null)
  /** Endpoints and schemas stay the same; the values of knobs are in the state. */
  const description = signal<DescriptionResponse | null>(null)
  const proxy = signal<SimulatorState['proxy']>(null)
  const problem = signal<string | null>(null)
  const ended = new AbortController()

  async function load(): Promise<void> {
    const at = view.at.peek()
    try {
      const query = { at: at ?? undefined }
      const [state, { faults }, keys, agent] = await Promise.all([
        client.send<SimulatorState>('GET', '/state', { query }),
        client.send<{ faults: NamedFault[] }>('GET', '/faults', { query }),
        client.send<PlatformKeys>('GET', '/keys'),
        client.send<AgentDescription>('GET', '/agent'),
      ])
      description.value ??= await client.send<DescriptionResponse>('GET', '/description')
      const clockOffsetMs = at === null ? Date.parse(state.clock.now) - Date.parse(wallTime()) : 0
      // Another object would draw the page again.
      proxy.value ??= state.proxy
      loaded.value = { at, state, faults, keys, agent, clockOffsetMs }
      problem.value = null
    } catch (error) {
      if (ended.signal.aborted) return
      if (at !== null) loaded.value = null
      problem.value = messageOf(error)
    }
  }

  const refresh = createRefresh(load, TOGETHER_MS, ended.signal)
  const stopMoment = view.at.subscribe(refresh)
  let read = { entries: log.peek().entries, until: 0 }
  const stopEntries = effect(() => {
    const { entries } = log.value
    const isNew = read.entries !== entries
    const added = entries.slice(countUntil(entries, isNew ? 0 : read.until))
    read = { entries, until: entries.at(-1)?.seq ?? 0 }
    const { state, faults = [] } = loaded.peek() ?? {}
    // While the clock stands still, every entry may set or end a timer. Deliveries release held events.
    const mayChange = state?.clock.paused === true || faults.some(({ holding }) => holding > 0)
    const isChange = ({ kind }: Entry) => kind === 'note' || kind === 'fault' || mayChange
    if (isNew || (view.at.peek() === null && added.some(isChange))) refresh()
  })

  const moment = computed((): PlatformMoment | null => {
    if (loaded.value === null || description.value === null) return null
    const { at, state, ...more } = loaded.value
    const { config, availability: queues, clock } = state
    const url = config['webhook.url']
    const health = webhookHealthAt(log.value.entries, at, typeof url === 'string' ? url : null)
    const isPast = at !== null || view.at.value !== null
    return { isPast, config, queues, health, description: description.value, clock, ...more }
  })
  return {
    moment,
    proxy,
    problem,
    refresh,
    close() {
      stopMoment()
      stopEntries()
      ended.abort()
    },
  }
}
