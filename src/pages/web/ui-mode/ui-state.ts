/** The state of UI mode: files and scenarios, the selected one with its run, and what a person asks for. */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import { counted } from '../../../base/text/quantities.ts'
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/wording/outcomes.ts'
import type { ScenarioReport } from '../../../evaluation/evaluator/wording/report.ts'
import type {
  Catalogue,
  CatalogueScenario,
  RunBody,
  RunStatus,
  ScenarioStatus,
  WatchSetting,
} from '../../../running/ui-mode/protocol.ts'
import type { ControlClient } from '../client/control.ts'
import { createFrameBatches, type FeedState } from '../client/event-feed.ts'
import { followUi, type UiEvent } from '../client/ui-feed.ts'
import { createLiveRuns } from '../model/live-runs.ts'
import { EMPTY_RUN, endedRun, liveRun, type ShownRun } from '../model/shown-run.ts'
import { keepUiAddress, OUTCOME_FILTERS, type OutcomeFilter, type UiView } from './ui-address.ts'

export interface UiState {
  readonly view: UiView
  readonly origin: URL
  readonly feed: ReadonlySignal<FeedState>
  readonly catalogue: ReadonlySignal<Catalogue | null>
  readonly run: ReadonlySignal<RunStatus>
  readonly watch: ReadonlySignal<WatchSetting>
  readonly statuses: ReadonlySignal<ReadonlyMap<string, ScenarioStatus>>
  /** The scenario of the address, else the one that is running or run last, else the first that the filter shows. */
  readonly selected: ReadonlySignal<CatalogueScenario | null>
  readonly shown: ReadonlySignal<ShownRun>
  /** The text of the file of the selected scenario, or of the selected step. */
  readonly source: ReadonlySignal<SourceText | null>
  /** The last refusal or failure of a request; null when there is none. */
  readonly problem: Signal<string | null>
  select(name: string): void
  runScenarios(body: RunBody): void
  stop(): void
  setWatch(setting: WatchSetting): void
}

const UiContext = createContext<UiState | null>(null)
export const UiProvider = UiContext.Provider

/** The state of the page around a component. */
export function useUi(): UiState {
  const ui = useContext(UiContext)
  if (ui === null) throw new Error('Failed to find the state of UI mode: the component is not inside UiProvider.')
  return ui
}

export interface SourceText {
  readonly file: string
  readonly lines: readonly string[]
}

/** The page is drawn so often while a scenario is running. */
const REDRAW_MS = 250

const IDLE: RunStatus = { state: 'idle', done: 0, total: 0, problem: null, failures: [] }

export function createUiState(view: UiView, client: ControlClient, origin: URL): UiState {
  const feed = signal<FeedState>('connecting')
  const catalogue = signal<Catalogue | null>(null)
  const run = signal(IDLE)
  const watch = signal<WatchSetting>({ all: false, files: [] })
  const statuses = signal<ReadonlyMap<string, ScenarioStatus>>(new Map())
  const runs = createLiveRuns()
  /** Replaced whenever entries of a run arrive. */
  const live = signal({ viewOf: runs.viewOf })
  const followed = signal<string | null>(null)
  const problem = signal<string | null>(null)

  const forget = () => {
    statuses.value = new Map()
    followed.value = null
    runs.clear()
    live.value = { viewOf: runs.viewOf }
  }
  const apply = (event: UiEvent) => {
    if (event.name === 'catalogue') {
      if (event.data.instance !== catalogue.peek()?.instance) forget()
      catalogue.value = event.data
    } else if (event.name === 'entries') {
      runs.add(event.data)
      live.value = { viewOf: runs.viewOf }
    } else {
      run.value = event.data.run
      watch.value = event.data.watch
      statuses.value = new Map([...statuses.peek(), ...event.data.scenarios.map(one => [one.name, one] as const)])
      followed.value = followedOf(followed.peek(), statuses.peek())
      event.data.scenarios.forEach(runs.keepOnly)
    }
  }
  const batches = createFrameBatches<UiEvent>(events => batch(() => events.forEach(apply)), REDRAW_MS)
  followUi(client, {
    onEvents: batches.add,
    onState: state => {
      feed.value = state
    },
  })

  const selected = computed(() => {
    const scenarios = catalogue.value?.scenarios ?? []
    const find = (name: string | null) => scenarios.find(one => one.name === name)
    const listed = scenarios.filter(filterOf({ view, statuses }) ?? (() => true))
    return find(view.scenario.value) ?? find(followed.value) ?? listed[0] ?? scenarios[0] ?? null
  })
  const ask = (request: () => Promise<unknown>) => {
    problem.value = null
    request().catch((error: unknown) => {
      problem.value = messageOf(error)
    })
  }
  const report = createReports(client, selected, statuses, ask)
  const shown = computed((): ShownRun => {
    const scenario = selected.value
    if (scenario === null) return EMPTY_RUN
    const status = statuses.value.get(scenario.name)
    if (status?.state === 'running') return liveRun(scenario, status, live.value.viewOf(status))
    return report.value === null ? liveRun(scenario, status) : endedRun(report.value)
  })
  keepUiAddress(view)
  return {
    ...{ view, origin, feed, catalogue, run, watch, statuses, selected, shown, problem },
    source: createSource(client, catalogue, selected, shown, view),
    select(name) {
      batch(() => {
        view.scenario.value = name
        view.step.value = null
        view.entry.value = null
        view.chat.value = null
      })
    },
    runScenarios: body => ask(() => client.send('POST', '/ui/run', { body })),
    stop: () => ask(() => client.send('POST', '/ui/stop')),
    setWatch: setting => ask(() => client.send('PUT', '/ui/watch', { body: setting })),
  }
}

/** Several may run at once: the page stays with one until it has ended. */
function followedOf(before: string | null, statuses: ReadonlyMap<string, ScenarioStatus>): string | null {
  if (before !== null && statuses.get(before)?.state === 'running') return before
  return [...statuses.values()].find(({ state }) => state === 'running')?.name ?? before
}

/** The result of the selected scenario. The one before it stays until the next one is there. */
function createReports(
  client: ControlClient,
  selected: ReadonlySignal<CatalogueScenario | null>,
  statuses: ReadonlySignal<ReadonlyMap<string, ScenarioStatus>>,
  ask: (request: () => Promise<unknown>) => void,
): ReadonlySignal<ScenarioReport | null> {
  const loaded = signal<{ readonly name: string; readonly report: ScenarioReport } | null>(null)
  /** The name of the selected scenario and its last outcome; null without one. */
  const last = computed(() => {
    const name = selected.value?.name ?? ''
    const outcome = statuses.value.get(name)?.last ?? null
    return outcome === null ? null : { name, key: `${name} ${outcome.run} ${outcome.startedAt} ${outcome.failures}` }
  })
  const key = computed(() => last.value?.key ?? null)
  effect(() => {
    const wanted = key.value
    const name = last.peek()?.name
    if (name === undefined) return
    ask(async () => {
      const report = await client.send<ScenarioReport>('GET', '/ui/result', { query: { name } })
      if (wanted === key.peek()) loaded.value = { name, report }
    })
  })
  return computed(() => (last.value?.name === loaded.value?.name ? (loaded.value?.report ?? null) : null))
}

/** Asks for the text again when files were read again. */
function createSource(
  client: ControlClient,
  catalogue: ReadonlySignal<Catalogue | null>,
  selected: ReadonlySignal<CatalogueScenario | null>,
  shown: ReadonlySignal<ShownRun>,
  view: UiView,
): ReadonlySignal<SourceText | null> {
  const source = signal<SourceText | null>(null)
  const file = computed(() => {
    const step = shown.value.steps.find(({ number }) => number === view.step.value)
    return step?.place?.file ?? selected.value?.file ?? null
  })
  const key = computed(() => `${catalogue.value?.version} ${file.value}`)
  effect(() => {
    const wanted = key.value
    const name = file.peek()
    if (name === null) return
    const show = (lines: readonly string[]) => {
      if (wanted === key.peek()) source.value = { file: name, lines }
    }
    client.send<{ text: string }>('GET', '/ui/file', { query: { name } }).then(
      ({ text }) => show(text.split(/\r?\n/)),
      () => show([]),
    )
  })
  return source
}

export const OUTCOME_NAMES = { ...OUTCOME_TEXTS, none: 'not run' }

/** Of the last run; a scenario that a run skipped was not run. */
export function outcomeOfStatus(status: ScenarioStatus | undefined): OutcomeFilter {
  const outcome = status?.last?.outcome ?? 'none'
  return outcome === 'skipped' ? 'none' : outcome
}

/** The test of the filter; null when everything is shown. A scenario that is running keeps its place in the list. */
export function filterOf({
  view,
  statuses,
}: Pick<UiState, 'view' | 'statuses'>): ((scenario: CatalogueScenario) => boolean) | null {
  const text = view.text.value.trim().toLowerCase()
  const [tag, outcome] = [view.tag.value, view.outcome.value]
  if (text === '' && tag === '' && outcome === null) return null
  return scenario =>
    (text === '' ||
      [scenario.name, scenario.file, scenario.description, ...scenario.spec].join('\n').toLowerCase().includes(text)) &&
    (tag === '' || scenario.tags.includes(tag)) &&
    (outcome === null || outcomeOfStatus(statuses.value.get(scenario.name)) === outcome)
}

export function shownScenarios(ui: UiState): readonly CatalogueScenario[] {
  const scenarios = ui.catalogue.value?.scenarios ?? []
  const filter = filterOf(ui)
  return filter === null ? scenarios : scenarios.filter(filter)
}

export function countOutcomes({ catalogue, statuses }: UiState): Readonly<Record<OutcomeFilter, number>> {
  const counts = { pass: 0, fail: 0, error: 0, inconclusive: 0, none: 0 }
  for (const { name } of catalogue.value?.scenarios ?? []) counts[outcomeOfStatus(statuses.value.get(name))]++
  return counts
}

/** `3 scenarios: 2 passed, 1 failed` */
export function summaryOfOutcomes(ui: UiState): string {
  const counts = countOutcomes(ui)
  const parts = OUTCOME_FILTERS.filter(one => counts[one] > 0).map(one => `${counts[one]} ${OUTCOME_NAMES[one]}`)
  return `${counted(ui.catalogue.value?.scenarios.length ?? 0, 'scenario')}: ${parts.join(', ') || 'none'}`
}

export const tagsOf = ({ catalogue }: UiState): string[] =>
  [...new Set((catalogue.value?.scenarios ?? []).flatMap(({ tags }) => tags))].sort()
