/** Connects scenario files, player and watcher of UI mode to one state; a saved run is a state that does not change. */

import type { NamedFile } from '../../base/files/user-files.ts'
import { wallTime } from '../../base/runtime/clock.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import type { RunResult } from '../../evaluation/evaluator/verdict.ts'
import { describeRun, type ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { type Plan, type PlannedStep, stepsOf } from '../../evaluation/scenario/plan.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { createFolderWatcher } from './folder-watcher.ts'
import { createPlayer, type PlayRun } from './player.ts'
import type {
  Catalogue,
  CatalogueScenario,
  CatalogueStep,
  PlayBody,
  RunStatus,
  RunSummary,
  Status,
  WatchSetting,
} from './protocol.ts'
import { createScenarioFiles, type ScenarioFiles, type ScenarioFilesOptions } from './scenario-files.ts'
import {
  createScenarioStates,
  nameOf,
  numberedName,
  type PlayUnderWay,
  type ScenarioStates,
} from './scenario-states.ts'

export interface UiSession {
  catalogue(): Catalogue
  /** The scenarios that have changed after a version of the states, and the version now. */
  status(after: number): { readonly version: number; readonly status: Status }
  playing(): readonly PlayUnderWay[]
  report(name: string): ScenarioReport | null
  summary(): RunSummary | null
  findFile(name: string): NamedFile | undefined
  /** Calls `listener` after every change. Returns a function that stops this. */
  subscribe(listener: () => void): () => void
  /** Null for a saved run. */
  readonly actions: UiActions | null
  close(): Promise<void>
}

export interface UiActions {
  /** Returns the names of the scenarios that it plays. */
  play(body: PlayBody): readonly string[]
  stop(): Promise<void>
  watch(setting: WatchSetting): void
}

export interface UiSessionOptions {
  readonly files: ScenarioFilesOptions
  readonly target: string | null
  readonly play: PlayRun
  readonly secrets: Redactor
}

const NOTHING_WATCHED: WatchSetting = { all: false, files: [] }

/** Reads the files and watches them until `close`. */
export async function createUiSession({ files: options, target, play, secrets }: UiSessionOptions): Promise<UiSession> {
  const listeners = createListeners()
  const files = createScenarioFiles(options)
  const states = createScenarioStates(secrets, listeners.notify)
  const playable = () => files.scenarios().filter(({ plan }) => files.isPlayable(plan))
  const player = createPlayer({ play, states, secrets, playable, onChange: listeners.notify })
  const describe = describeFiles(files, target)
  let catalogue = describe(1)
  let watched = NOTHING_WATCHED

  const readAgain = async () => {
    const changed = new Set(await files.refresh())
    watcher.follow(files.folders())
    const isDifferent = JSON.stringify(describe(catalogue.version)) !== JSON.stringify(catalogue)
    if (isDifferent || changed.size > 0) catalogue = describe(catalogue.version + 1)
    listeners.notify()
    return files.scenarios().filter(({ plan }) => changed.has(plan.file))
  }
  const watcher = createFolderWatcher(
    oneAtATime(async () => {
      const changed = await readAgain()
      for (const one of changed) states.outdate(nameOf(one))
      const again = changed.filter(({ plan }) => watched.all || watched.files.includes(plan.file))
      if (again.length > 0) player.play(again.map(nameOf))
    }),
  )
  await readAgain()
  return {
    catalogue: () => catalogue,
    status: statusOf(states, player.status, () => watched),
    playing: states.playing,
    report: states.report,
    summary: player.summary,
    findFile: files.find,
    subscribe: listeners.subscribe,
    actions: {
      play: body => player.play(wantedNames(body, states, playable())),
      stop: player.stop,
      watch(setting) {
        watched = setting
        listeners.notify()
      },
    },
    async close() {
      watcher.close()
      await player.stop()
    },
  }
}

function wantedNames({ scenarios, failed }: PlayBody, states: ScenarioStates, playable: readonly SelectedScenario[]) {
  const names = scenarios ?? playable.map(nameOf)
  if (failed !== true) return names
  const failing = new Set(states.failed())
  return names.filter(name => failing.has(name))
}

const statusOf =
  (states: ScenarioStates, run: () => RunStatus, watch: () => WatchSetting): UiSession['status'] =>
  after => {
    const { version, statuses } = states.changedSince(after)
    return { version, status: { run: run(), watch: watch(), scenarios: statuses } }
  }

/** A run that was saved, with the plans of its scenarios. */
export function createSavedSession(
  result: RunResult,
  plans: readonly Plan[],
  secrets: Redactor,
  findFile: UiSession['findFile'],
): UiSession {
  const states = createScenarioStates(secrets, () => {})
  const { scenarios, ...summary } = describeRun(secrets.redactDeep(result))
  for (const report of scenarios) states.finish(numberedName(report.name, report.instance), report)
  const total = scenarios.length
  const run: RunStatus = { state: 'idle', done: total, total, problem: null, failures: summary.failures }
  const byName = new Map(plans.map(plan => [plan.name, plan]))
  const described = scenarios.flatMap(({ name, instance }) => {
    const plan = byName.get(name)
    return plan === undefined ? [] : [describeScenarioOf({ plan, instance })]
  })
  const files = [...new Set(scenarios.map(({ file }) => file))].map(name => ({ name, problems: [] }))
  const { target } = result
  const catalogue: Catalogue = { kind: 'report', instance: wallTime(), version: 1, target, files, scenarios: described }
  return {
    catalogue: () => catalogue,
    status: statusOf(
      states,
      () => run,
      () => NOTHING_WATCHED,
    ),
    playing: () => [],
    report: states.report,
    summary: () => summary,
    findFile,
    subscribe: () => () => {},
    actions: null,
    close: async () => {},
  }
}

function createListeners() {
  const listeners = new Set<() => void>()
  return {
    notify: () => {
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Runs `work` again after its end when it was asked for meanwhile. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running = false
  let again = false
  const run = async () => {
    again = running
    if (running) return
    running = true
    await work().finally(() => {
      running = false
    })
    if (again) await run()
  }
  return () => void run()
}

const describeFiles = (files: ScenarioFiles, target: string | null) => {
  const instance = wallTime()
  return (version: number): Catalogue => ({
    ...{ kind: 'run', instance, version, target },
    files: files.files(),
    scenarios: files.scenarios().map(describeScenarioOf),
  })
}

function describeScenarioOf({ plan, instance }: SelectedScenario): CatalogueScenario {
  const { name, file, place, description, tags, spec, needs } = plan
  const steps = [
    ...[...stepsOf(plan.steps)].map(step => describeStep(step, false)),
    ...[...stepsOf(plan.finally)].map(step => describeStep(step, true)),
  ]
  return { name: numberedName(name, instance), file, place, description, tags, spec, needs, steps }
}

const describeStep = (step: PlannedStep, last: boolean): CatalogueStep => {
  const { number, name, label, conversation, place, action } = step
  return { number, name, label, conversation, place, verb: action.verb, last }
}
