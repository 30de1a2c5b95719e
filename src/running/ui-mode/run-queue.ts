/** Runs scenarios of UI mode: one run at a time, and what is asked for meanwhile in the next one. */
import { messageOf } from '../../base/text/error-text.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import type { RunResult } from '../../evaluation/evaluator/verdict.ts'
import type { Failure } from '../../evaluation/finding.ts'
import { nameOf, numberedName } from '../runner/run-context.ts'
import type { RunListener } from '../runner/run-scenario.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { RunStatus } from './protocol.ts'
import type { ScenarioStates } from './scenario-states.ts'

export interface RunRequest {
  readonly wanted: readonly SelectedScenario[]
  /** All scenarios of the files. */
  readonly all: readonly SelectedScenario[]
  readonly listener: RunListener
  /** Aborts with an `InterruptedError`. */
  readonly signal: AbortSignal
}

/** Runs scenarios. Rejects for an internal error. */
export type StartRun = (request: RunRequest) => Promise<RunResult>

export interface RunQueueOptions {
  readonly startRun: StartRun
  readonly states: ScenarioStates
  readonly secrets: Redactor
  /** The scenarios that can be run now. */
  runnable(): readonly SelectedScenario[]
  onChange(): void
}

export function createRunQueue({ startRun, states, secrets, runnable, onChange }: RunQueueOptions) {
  const queue = new Set<string>()
  let status: RunStatus = { state: 'idle', done: 0, total: 0, problem: null, failures: [] }
  let current: { readonly end: AbortController; readonly ended: Promise<void> } | null = null

  const setStatus = (change: Partial<RunStatus>) => {
    status = { ...status, ...change }
    onChange()
  }
  const listener: RunListener = {
    ...states.listener,
    waiting() {},
    listening() {},
    finished(result) {
      states.listener.finished(result)
      setStatus({ done: status.done + 1 })
    },
  }

  async function runQueued({ signal }: AbortController): Promise<void> {
    while (queue.size > 0 && !signal.aborted) {
      const scenarios = runnable()
      const wanted = scenarios.filter(scenario => queue.has(nameOf(scenario)))
      queue.clear()
      for (const scenario of wanted) states.queue(nameOf(scenario))
      setStatus({ state: 'running', done: 0, total: wanted.length, problem: null, failures: [] })
      try {
        const result = await startRun({ wanted, all: scenarios, listener, signal })
        setStatus({ failures: storeResults(result, states, secrets) })
      } catch (error) {
        setStatus({ problem: messageOf(error) })
      }
    }
  }

  function start(): void {
    const end = new AbortController()
    const ended = runQueued(end).finally(() => {
      current = null
      states.settle()
      setStatus({ state: 'idle' })
      // Added while the run was stopping.
      if (queue.size > 0) start()
    })
    current = { end, ended }
  }

  return {
    /** Runs these scenarios: now, or after the run that is under way. Returns the names that it accepts. */
    add(names: readonly string[]): string[] {
      const accepted = runnable()
        .map(nameOf)
        .filter(name => names.includes(name))
      for (const name of accepted) {
        queue.add(name)
        states.queue(name)
      }
      if (current === null && queue.size > 0) start()
      return accepted
    },
    /** Ends the run, and empties the queue. Resolves when the run has ended; what is added until then is run next. */
    async stop(): Promise<void> {
      if (current === null) return
      queue.clear()
      setStatus({ state: 'stopping' })
      current.end.abort(new InterruptedError())
      await current.ended
    },
    status: () => status,
  }
}

/**
 * Stores the final results: late calls may have changed verdicts after the end of their scenarios. Returns the failures
 * that belong to no scenario.
 */
export function storeResults(result: RunResult, states: ScenarioStates, secrets: Redactor): readonly Failure[] {
  const { scenarios, failures } = secrets.redactDeep(result)
  for (const scenario of scenarios) states.finish(numberedName(scenario.name, scenario.instance), scenario)
  return failures
}
