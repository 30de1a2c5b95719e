/** Connects scenario files, queue and watcher of UI mode to one state; a saved run is a state that does not change, an exploration one that grows. */
import type { NamedFile } from '../../base/files/user-files.ts'
import { wallTime } from '../../base/runtime/clock.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { type Plan, stepsOf } from '../../evaluation/scenario/plan.ts'
import { nameOf, numberedName } from '../runner/run-context.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { createFolderWatcher } from './folder-watcher.ts'
import type {
  Catalogue,
  CatalogueFile,
  CatalogueScenario,
  CatalogueStep,
  ExplorationProgress,
  RunBody,
  RunStatus,
  UiStatus,
  WatchSetting,
} from './protocol.ts'
import { createRunQueue, type StartRun, storeResults } from './run-queue.ts'
import { createScenarioFiles, type ScenarioFilesOptions } from './scenario-files.ts'
import { type ActiveRun, createScenarioStates } from './scenario-states.ts'

export interface UiSession {
  catalogue(): Catalogue
  /** The scenarios that have changed after a version of the states, and the version now. */
  status(after: number): { readonly version: number; readonly status: UiStatus }
  active(): readonly ActiveRun[]
  report(name: string): ScenarioResult | null
  findFile(name: string): NamedFile | undefined
  /** Calls `listener` after every change. Returns a function that stops this. */
  subscribe(listener: () => void): () => void
  /** Null where nothing is explored. */
  exploration(): ExplorationProgress | null
  /** Null for a saved run and an exploration. */
  readonly actions: UiActions | null
  close(): Promise<void>
}

export interface UiActions {
  /** Returns the names of the scenarios that it runs. */
  run(body: RunBody): readonly string[]
  stop(): Promise<void>
  watch(setting: WatchSetting): void
}

export interface UiSessionOptions {
  readonly files: ScenarioFilesOptions
  readonly target: string | null
  readonly startRun: StartRun
  readonly secrets: Redactor
}

function createListeners() {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Reads the files and watches them until `close`. */
export async function createUiSession(options: UiSessionOptions): Promise<UiSession> {
  const { target, startRun, secrets } = options
  const { notify, subscribe } = createListeners()
  const files = createScenarioFiles(options.files)
  const states = createScenarioStates(secrets, notify)
  const runnable = () => files.scenarios().filter(({ plan }) => files.isRunnable(plan))
  const queue = createRunQueue({ startRun, states, secrets, runnable, onChange: notify })
  const instance = wallTime()
  const describe = (version: number): Catalogue => ({
    ...{ kind: 'run', instance, version, target },
    files: files.files(),
    scenarios: files.scenarios().map(describePlan),
  })
  let catalogue = describe(1)
  let watched: WatchSetting = { all: false, files: [] }

  /** Reads changed files, and runs the scenarios of those that are watched; the first reading runs none. */
  async function readChanges(isFirst: boolean): Promise<void> {
    const changed = new Set(await files.refresh())
    watcher.follow(files.folders())
    const isDifferent = JSON.stringify(describe(catalogue.version)) !== JSON.stringify(catalogue)
    if (isDifferent || changed.size > 0) catalogue = describe(catalogue.version + 1)
    notify()
    if (isFirst) return
    const next: string[] = []
    for (const scenario of files.scenarios()) {
      const { file } = scenario.plan
      if (!changed.has(file)) continue
      states.outdate(nameOf(scenario))
      if (watched.all || watched.files.includes(file)) next.push(nameOf(scenario))
    }
    if (next.length > 0) queue.add(next)
  }
  let isReading = false
  let isChanged = false
  /** Reads one time after the other: what changes during a reading is read after it. */
  async function readAgain(): Promise<void> {
    isChanged = isReading
    if (isReading) return
    isReading = true
    await readChanges(false).finally(() => {
      isReading = false
    })
    if (isChanged) await readAgain()
  }
  const watcher = createFolderWatcher(() => void readAgain())
  await readChanges(true)
  return {
    catalogue: () => catalogue,
    status(after) {
      const { version, statuses } = states.changedSince(after)
      return { version, status: { run: queue.status(), watch: watched, scenarios: statuses } }
    },
    active: states.active,
    report: states.report,
    findFile: files.find,
    subscribe,
    exploration: () => null,
    actions: {
      run({ scenarios, failed }) {
        const names = scenarios ?? runnable().map(nameOf)
        const failing = new Set(states.failed())
        return queue.add(failed === true ? names.filter(name => failing.has(name)) : names)
      },
      stop: queue.stop,
      watch(setting) {
        watched = setting
        notify()
      },
    },
    async close() {
      watcher.close()
      await queue.stop()
    },
  }
}

/** A run that was saved, with the plans of its scenarios. */
export function createSavedSession(
  run: RunResult,
  plans: readonly Plan[],
  secrets: Redactor,
  findFile: UiSession['findFile'],
): UiSession {
  const result = secrets.redactDeep(run)
  const { target, scenarios } = result
  const states = createScenarioStates(secrets, () => {})
  const failures = storeResults(result, states, secrets)
  const total = scenarios.length
  const status: Omit<UiStatus, 'scenarios'> = {
    run: { state: 'idle', done: total, total, problem: null, failures },
    watch: { all: false, files: [] },
  }
  const described: CatalogueScenario[] = []
  const files = new Map<string, CatalogueFile>()
  for (const { name, instance, file } of scenarios) {
    files.set(file, { name: file, problems: [] })
    const plan = plans.findLast(candidate => candidate.name === name)
    if (plan !== undefined) described.push(describePlan({ plan, instance }))
  }
  const catalogue: Catalogue = {
    ...{ kind: 'report', instance: wallTime(), version: 1, target },
    files: [...files.values()],
    scenarios: described,
  }
  return {
    catalogue: () => catalogue,
    status(after) {
      const { version, statuses } = states.changedSince(after)
      return { version, status: { ...status, scenarios: statuses } }
    },
    active: () => [],
    report: states.report,
    findFile,
    subscribe: () => () => {},
    exploration: () => null,
    actions: null,
    close: async () => {},
  }
}

/** `add` adds a failure. Without a plan it has no scenario file. */
export function createExploreSession(target: string, secrets: Redactor, findFile: UiSession['findFile']) {
  const { notify, subscribe } = createListeners()
  const states = createScenarioStates(secrets, notify)
  let exploration: ExplorationProgress | null = null
  let catalogue: Catalogue = {
    ...{ kind: 'explore', instance: wallTime(), version: 1, target, files: [], scenarios: [] },
  }
  const run: RunStatus = { state: 'idle', done: 0, total: 0, problem: null, failures: [] }
  const watch: WatchSetting = { all: false, files: [] }
  const session: UiSession = {
    catalogue: () => catalogue,
    status(after) {
      const { version, statuses } = states.changedSince(after)
      return { version, status: { run, watch, scenarios: statuses } }
    },
    active: () => [],
    report: states.report,
    findFile,
    subscribe,
    exploration: () => exploration,
    actions: null,
    close: async () => {},
  }
  return {
    session,
    show(next: ExplorationProgress): void {
      exploration = next
      notify()
    },
    add(plan: Plan | null, name: string, result: ScenarioResult): void {
      const { version, files, scenarios } = catalogue
      const none = { description: null, tags: [], spec: [], needs: [], steps: [], place: null }
      const added = plan === null ? { ...none, name, file: 'no scenario file' } : describePlan({ plan, instance: 1 })
      catalogue = {
        ...catalogue,
        version: version + 1,
        files: [...files.filter(file => file.name !== added.file), { name: added.file, problems: [] }],
        scenarios: [...scenarios, added],
      }
      states.finish(added.name, secrets.redactDeep(result))
    },
  }
}

function describePlan({ plan, instance }: SelectedScenario): CatalogueScenario {
  const { name, file, place, description, tags, spec, needs } = plan
  const steps: CatalogueStep[] = []
  for (const list of [plan.steps, plan.finally])
    for (const { number, name, label, conversation, place, action } of stepsOf(list))
      steps.push({ number, name, label, conversation, place, verb: action.verb, last: list === plan.finally })
  return { name: numberedName(name, instance), file, place, description, tags, spec, needs, steps }
}
