/** Stores the state and the last result of each scenario of UI mode; every change has a version. */

import type { Redactor } from '../../base/text/redactor.ts'
import { describeCause } from '../../evaluation/evaluator/causes.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { PlannedStep } from '../../evaluation/scenario/plan.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { presentEntry } from '../../platform/wording/entry.ts'
import type { ScenarioStatus, StepState } from './protocol.ts'

export type ScenarioStates = ReturnType<typeof createScenarioStates>

export interface ActiveRun {
  readonly name: string
  readonly run: number
  /** Without keys, but with other secrets. */
  entriesAfter(seq: number, limit: number): readonly Entry[]
}

interface ScenarioState {
  readonly status: ScenarioStatus
  readonly report: ScenarioResult | null
  /** Set while it is running. */
  readonly sim: PlatformSimulator | null
  /** When it changed last. */
  readonly version: number
}

const IDLE = { state: 'idle', run: null, steps: {} } as const

/** `onChange` is called for every change, and for every entry of a run that is under way. */
export function createScenarioStates(secrets: Redactor, onChange: () => void) {
  const states = new Map<string, ScenarioState>()
  let version = 0
  const get = (name: string): ScenarioState =>
    states.get(name) ?? { status: { name, ...IDLE, last: null }, report: null, sim: null, version: 0 }
  function set(name: string, status: Partial<ScenarioStatus>, more: Partial<ScenarioState> = {}): void {
    version++
    const before = get(name)
    states.set(name, { ...before, ...more, status: { ...before.status, ...status }, version })
    onChange()
  }
  const setStep = (name: string, { number }: PlannedStep, state: StepState) =>
    set(name, { steps: { ...get(name).status.steps, [number]: state } })
  /** Stores the result of a run; a scenario that was not run keeps its last result. */
  function finish(name: string, result: ScenarioResult): void {
    if (result.reason?.code === 'run_stopped') return set(name, IDLE, { sim: null })
    const { outcome, failures, warnings, reason, durationMs, startedAt } = result
    const { status } = get(name)
    const last = {
      ...{ outcome, durationMs, startedAt, failures: failures.length, warnings: warnings.length, outdated: false },
      run: status.run ?? status.last?.run ?? version,
      cause: describeCause(result),
      summary: failures[0]?.happened ?? reason?.text ?? null,
    }
    set(name, { ...IDLE, last }, { report: result, sim: null })
  }
  return {
    finish,
    /** The states that have changed after a version, and the version now. */
    changedSince(after: number) {
      const statuses: ScenarioStatus[] = []
      for (const state of states.values()) if (state.version > after) statuses.push(state.status)
      return { version, statuses }
    },
    /** The last result, without secrets. */
    report: (name: string): ScenarioResult | null => get(name).report,
    /** The names of scenarios whose last outcome is neither pass nor skipped. */
    failed(): string[] {
      const names: string[] = []
      for (const { status } of states.values())
        if (status.last !== null && !['pass', 'skipped'].includes(status.last.outcome)) names.push(status.name)
      return names
    },
    /** Without effect on a scenario that is running. */
    queue(name: string): void {
      if (get(name).status.state === 'idle') set(name, { state: 'queued' })
    },
    /** Removes scenarios from the queue, and ends runs without a result. */
    settle(): void {
      for (const { status } of states.values()) if (status.state !== 'idle') set(status.name, IDLE, { sim: null })
    },
    /** Marks the last result of a scenario that has changed. */
    outdate(name: string): void {
      const { last } = get(name).status
      if (last !== null && !last.outdated) set(name, { last: { ...last, outdated: true } })
    },
    active(): ActiveRun[] {
      const active: ActiveRun[] = []
      for (const { status, sim } of states.values()) {
        const { name, run } = status
        if (sim === null || run === null) continue
        const header = String(sim.config()['webhook.signatureHeader'])
        const entriesAfter = (seq: number, limit: number) =>
          sim.journal.query({ after: seq, limit }).map(entry => presentEntry(entry, header))
        active.push({ name, run, entriesAfter })
      }
      return active
    },
    listener: {
      started: (name: string) => set(name, { state: 'running', run: version, steps: {} }),
      opened(name: string, sim: PlatformSimulator) {
        set(name, {}, { sim })
        sim.journal.subscribe(onChange)
      },
      step: (name: string, step: PlannedStep) => setStep(name, step, 'running'),
      stepEnded: (name: string, step: PlannedStep, failed: boolean) => setStep(name, step, failed ? 'fail' : 'pass'),
      finished: (result: ScenarioResult) => finish(result.name, secrets.redactDeep(result)),
    },
  }
}
