/** The state of UI mode: files and scenarios, the selected one with its run, and what a person asks for. */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { groupBy } from '../../../base/objects.ts'
import { messageOf } from '../../../base/text/error-text.ts'
import { OUTCOME_TEXTS } from '../../../evaluation/evaluator/outcomes.ts'
import type { ScenarioResult } from '../../../evaluation/evaluator/verdict.ts'
import type {
  Catalogue,
  CatalogueScenario,
  ExplorationProgress,
  RunBody,
  RunStatus,
  ScenarioStatus,
  WatchSetting,
} from '../../../running/ui-mode/protocol.ts'
import type { ControlClient } from '../client/control.ts'
import { type FeedState, followUi, type UiEvent } from '../client/event-feed.ts'
import { createFrameBatches } from '../client/frame-batches.ts'
import { createLiveRuns } from '../model/live-runs.ts'
import { EMPTY_RUN, endedRun, liveRun, type ShownRun, type ShownStep } from '../model/shown-run.ts'
import { keepUiAddress, type OutcomeFilter, type UiView } from './ui-address.ts'

export interface UiState {
  readonly view: UiView
  readonly origin: URL
  readonly feed: ReadonlySignal<FeedState>
  readonly catalogue: ReadonlySignal<Catalogue | null>
  /** Null where nothing is explored. */
  readonly exploration: ReadonlySignal<ExplorationProgress | null>
  readonly run: ReadonlySignal<RunStatus>
  readonly watch: ReadonlySignal<WatchSetting>
  readonly statuses: ReadonlySignal<ReadonlyMap<string, ScenarioStatus>>
  /** The scenarios that the filter shows. */
  readonly listed: ReadonlySignal<readonly CatalogueScenario[]>
  /** What several scenarios failed for, the most frequent first; they come first in the list. */
  readonly causes: ReadonlySignal<readonly CauseGroup[]>
  readonly isFiltered: ReadonlySignal<boolean>
  /** How many scenarios have each outcome. */
  readonly counts: ReadonlySignal<Readonly<Record<OutcomeFilter, number>>>
  /** The scenario that a person or the end of a run has selected, else the one that is running, else the first that the filter shows. */
  readonly selected: ReadonlySignal<CatalogueScenario | null>
  readonly shown: ReadonlySignal<ShownRun>
  /** The selected step, else the one that is running, else the first that failed. */
  readonly step: ReadonlySignal<ShownStep | null>
  /** The names of files that cannot be run; `counts` leaves their scenarios out. */
  readonly brokenFiles: ReadonlySignal<ReadonlySet<string>>
  /** The text of the file of the selected scenario, or of the selected step. */
  readonly source: ReadonlySignal<SourceText | null>
  /** The last refusal or failure of a request; null when there is none. */
  readonly problem: Signal<string | null>
  select(name: string): void
  /** Shows the details of an entry; null closes them. */
  showEntry(seq: number | null): void
  runScenarios(body: RunBody): void
  stop(): void
  setWatch(setting: WatchSetting): void
  /** Opens a file in the editor of the server's machine. */
  openFile(name: string, line: number | null): void
}

const UiContext = createContext<UiState | null>(null)
export const UiProvider = UiContext.Provider

/** The state of the page around a component. */
export function useUi(): UiState {
  const ui = useContext(UiContext)
  if (ui === null) throw new Error('Failed to find the state of UI mode: the component is not inside UiProvider.')
  return ui
}

export interface CauseGroup {
  readonly text: string
  /** Names of scenarios. */
  readonly scenarios: readonly string[]
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
  const exploration = signal<ExplorationProgress | null>(null)
  const run = signal(IDLE)
  const watch = signal<WatchSetting>({ all: false, files: [] })
  const statuses = signal<ReadonlyMap<string, ScenarioStatus>>(new Map())
  const runs = createLiveRuns()
  /** Replaced whenever entries of a run arrive. */
  const live = signal({ viewOf: runs.viewOf })
  const followed = signal<string | null>(null)
  /** Whether a person has selected a scenario since the last run was started here. */
  let isChosen = view.scenario.peek() !== null
  /** The scenarios that have ended since the last run did. */
  const ended = new Set<string>()
  /** Of the time when nothing was running, so that the list stays in its order during a run. */
  const causes = signal<readonly CauseGroup[]>([])
  const problem = signal<string | null>(null)

  const forget = () => {
    statuses.value = new Map()
    followed.value = null
    ended.clear()
    runs.clear()
    live.value = { viewOf: runs.viewOf }
  }
  const apply = (event: UiEvent) => {
    if (event.name === 'catalogue') {
      if (event.data.instance !== catalogue.peek()?.instance) forget()
      catalogue.value = event.data
    } else if (event.name === 'exploration') exploration.value = event.data
    else if (event.name === 'entries') {
      runs.add(event.data)
      live.value = { viewOf: runs.viewOf }
    } else {
      run.value = event.data.run
      watch.value = event.data.watch
      const before = statuses.peek()
      for (const { name, last } of event.data.scenarios)
        if (last !== null && last.run !== before.get(name)?.last?.run) ended.add(name)
      statuses.value = new Map([...before, ...event.data.scenarios.map(status => [status.name, status] as const)])
      followed.value = chooseFollowed(followed.peek(), statuses.peek())
      event.data.scenarios.forEach(runs.keepOnly)
      if (event.data.run.state !== 'idle') return
      causes.value = sharedCauses(statuses.peek())
      selectFirstFailure()
    }
  }
  /** Selects the first failed scenario of a run that has ended, unless a person has selected one. */
  function selectFirstFailure(): void {
    const failed = ordered
      .peek()
      .find(({ name }) => ended.has(name) && FAILED.has(outcomeOfStatus(statuses.peek().get(name))))
    ended.clear()
    if (failed === undefined || isChosen) return
    // What a person has selected in it meanwhile stays selected.
    if (failed.name === selected.peek()?.name) view.scenario.value = failed.name
    else show(failed.name)
  }
  const show = (name: string | null) => {
    batch(() => {
      view.scenario.value = name
      for (const part of [view.step, view.entry, view.chat]) part.value = null
    })
  }
  const batches = createFrameBatches<UiEvent>(events => batch(() => events.forEach(apply)), REDRAW_MS)
  followUi(client, batches.add, state => {
    feed.value = state
  })

  const ordered = computed(() => {
    const scenarios = catalogue.value?.scenarios ?? []
    const names = causes.value.flatMap(cause => cause.scenarios)
    const first = names.flatMap(name => scenarios.find(scenario => scenario.name === name) ?? [])
    return [...first, ...scenarios.filter(({ name }) => !names.includes(name))]
  })
  const isFiltered = computed(
    () => view.text.value.trim() !== '' || view.tag.value !== '' || view.outcome.value !== null,
  )
  const brokenFiles = computed(() => {
    const files = catalogue.value?.files ?? []
    return new Set(files.filter(({ problems }) => problems.length > 0).map(({ name }) => name))
  })
  const listed = computed(() => {
    const text = view.text.value.trim().toLowerCase()
    const [tag, outcome] = [view.tag.value, view.outcome.value]
    const matches: CatalogueScenario[] = []
    for (const scenario of ordered.value) {
      const { name, file, description, spec, tags } = scenario
      if (tag !== '' && !tags.includes(tag)) continue
      if (outcome !== null && (brokenFiles.value.has(file) || outcomeOfStatus(statuses.value.get(name)) !== outcome))
        continue
      if ([name, file, description, ...spec].join('\n').toLowerCase().includes(text)) matches.push(scenario)
    }
    return matches
  })
  const counts = computed(() => {
    const byOutcome = { pass: 0, fail: 0, error: 0, inconclusive: 0, none: 0 }
    for (const { name, file } of catalogue.value?.scenarios ?? [])
      if (!brokenFiles.value.has(file)) byOutcome[outcomeOfStatus(statuses.value.get(name))]++
    return byOutcome
  })
  const selected = computed(() => {
    const scenarios = catalogue.value?.scenarios ?? []
    for (const name of [view.scenario.value, followed.value]) {
      const scenario = scenarios.find(candidate => candidate.name === name)
      if (scenario !== undefined) return scenario
    }
    return listed.value[0] ?? scenarios[0] ?? null
  })

  const showProblem = (error: unknown) => {
    problem.value = messageOf(error)
  }
  const send = (method: 'POST' | 'PUT', path: string, body?: unknown) => {
    problem.value = null
    client.send(method, path, { body }).catch(showProblem)
  }
  /** Changes with the selected scenario and with its last result; null while there is none. */
  const resultKey = computed(() => {
    const name = selected.value?.name ?? ''
    const last = statuses.value.get(name)?.last ?? null
    return last === null ? null : JSON.stringify([name, last.run, last.startedAt, last.failures])
  })
  const result = signal<{ readonly name: string; readonly report: ScenarioResult } | null>(null)
  effect(() => {
    const key = resultKey.value
    const name = selected.peek()?.name
    if (key === null || name === undefined) return
    problem.value = null
    client
      .send<ScenarioResult>('GET', '/ui/result', { query: { name } })
      .then(report => {
        if (key === resultKey.peek()) result.value = { name, report }
      })
      .catch(showProblem)
  })
  const shown = computed((): ShownRun => {
    const scenario = selected.value
    if (scenario === null) return EMPTY_RUN
    const status = statuses.value.get(scenario.name)
    if (status?.state === 'running') return liveRun(scenario, status, live.value.viewOf(status))
    // The result before stays until the next one is loaded.
    const isLoaded = status?.last != null && result.value?.name === scenario.name
    return isLoaded && result.value !== null ? endedRun(result.value.report) : liveRun(scenario, status)
  })

  const step = computed(() => {
    const { steps } = shown.value
    const current =
      steps.find(({ number }) => number === view.step.value) ??
      steps.find(({ state }) => state === 'running') ??
      steps.find(({ failures }) => failures.length > 0)
    return current ?? null
  })
  const file = computed(() => step.value?.place?.file ?? selected.value?.file ?? null)
  /** Changes when files were read again, too. */
  const sourceKey = computed(() => `${catalogue.value?.version} ${file.value}`)
  const source = signal<SourceText | null>(null)
  effect(() => {
    const key = sourceKey.value
    const name = file.peek()
    if (name === null) return
    const showLines = (lines: readonly string[]) => {
      if (key === sourceKey.peek()) source.value = { file: name, lines }
    }
    client.send<{ text: string }>('GET', '/ui/file', { query: { name } }).then(
      ({ text }) => showLines(text.split(/\r?\n/)),
      () => showLines([]),
    )
  })
  keepUiAddress(view)
  return {
    ...{ view, origin, feed, catalogue, run, watch, statuses, listed, isFiltered, counts, selected, shown, source },
    ...{ causes, exploration, step, problem, brokenFiles },
    select(name) {
      isChosen = true
      show(name)
    },
    showEntry(seq) {
      view.entry.value = seq
    },
    runScenarios(body) {
      isChosen = false
      followed.value = selected.peek()?.name ?? null
      show(null)
      send('POST', '/ui/run', body)
    },
    stop: () => send('POST', '/ui/stop'),
    setWatch: setting => send('PUT', '/ui/watch', setting),
    openFile: (name, line) => send('POST', '/ui/open', { name, ...(line !== null && { line }) }),
  }
}

function sharedCauses(statuses: ReadonlyMap<string, ScenarioStatus>): CauseGroup[] {
  const failed = [...statuses.values()].flatMap(({ name, last }) => (last?.cause ? [{ name, ...last.cause }] : []))
  const shared: CauseGroup[] = []
  for (const group of groupBy(failed, ({ key }) => key).values())
    if (group.length > 1) shared.push({ text: group[0].text, scenarios: group.map(({ name }) => name) })
  return shared.sort((a, b) => b.scenarios.length - a.scenarios.length)
}

/** Several may run at once: the page stays with one until it has ended. */
function chooseFollowed(before: string | null, statuses: ReadonlyMap<string, ScenarioStatus>): string | null {
  if (before !== null && statuses.get(before)?.state === 'running') return before
  return [...statuses.values()].find(({ state }) => state === 'running')?.name ?? before
}

const FAILED: ReadonlySet<OutcomeFilter> = new Set(['fail', 'error', 'inconclusive'])

export const OUTCOME_NAMES = { ...OUTCOME_TEXTS, none: 'not run' }

/** Of the last run; a scenario that a run skipped was not run. */
export function outcomeOfStatus(status: ScenarioStatus | undefined): OutcomeFilter {
  const outcome = status?.last?.outcome ?? 'none'
  return outcome === 'skipped' ? 'none' : outcome
}

/** The item `by` places after the current one, or the last one in that direction. */
export function itemAfter<Item>(items: readonly Item[], current: Item | undefined, by: number): Item | undefined {
  const at = current === undefined ? -1 : items.indexOf(current)
  if (at === -1) return by > 0 ? items[0] : items.at(-1)
  return items[Math.max(0, Math.min(items.length - 1, at + by))]
}
