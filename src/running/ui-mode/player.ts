/** Plays scenarios of UI mode: one run at a time, and what is asked for meanwhile in the next one. */

import { messageOf } from '../../base/text/error-text.ts'
import type { Redactor } from '../../base/text/redactor.ts'
import type { RunResult } from '../../evaluation/evaluator/verdict.ts'
import { describeRun } from '../../evaluation/evaluator/wording/report.ts'
import type { SelectedScenario } from '../runner/schedule.ts'
import type { RunListener } from '../runner/suite.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { RunStatus, RunSummary } from './protocol.ts'
import { nameOf, numberedName, type ScenarioStates } from './scenario-states.ts'

export interface PlayRequest {
  readonly wanted: readonly SelectedScenario[]
  /** All scenarios of the files. */
  readonly all: readonly SelectedScenario[]
  readonly listener: RunListener
  /** Aborts with an `InterruptedError`. */
  readonly signal: AbortSignal
}

/** Plays scenarios as one run. Rejects for an internal error. */
export type PlayRun = (request: PlayRequest) => Promise<RunResult>

export interface PlayerOptions {
  readonly play: PlayRun
  readonly states: ScenarioStates
  readonly secrets: Redactor
  /** The scenarios that can be played now. */
  playable(): readonly SelectedScenario[]
  onChange(): void
}

export interface Player {
  /** Plays these scenarios: now, or in a run after the one that is under way. Returns the names that it accepts. */
  play(names: readonly string[]): readonly string[]
  /** Ends the run, and empties the queue. Resolves when the run has ended; what is asked for until then is played next. */
  stop(): Promise<void>
  status(): RunStatus
  /** What the last run says beside its scenarios; null before the first one has ended. */
  summary(): RunSummary | null
}

export function createPlayer(options: PlayerOptions): Player {
  const { states } = options
  const queue = new Set<string>()
  let status: RunStatus = { state: 'idle', done: 0, total: 0, problem: null, failures: [] }
  let summary: RunSummary | null = null
  let current: { readonly end: AbortController; readonly ended: Promise<void> } | null = null

  const setStatus = (change: Partial<RunStatus>) => {
    status = { ...status, ...change }
    options.onChange()
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

  async function playQueue(end: AbortController): Promise<void> {
    while (queue.size > 0 && !end.signal.aborted) {
      const all = options.playable()
      const wanted = all.filter(one => queue.has(nameOf(one)))
      queue.clear()
      for (const one of wanted) states.queue(nameOf(one))
      setStatus({ state: 'playing', done: 0, total: wanted.length, problem: null, failures: [] })
      try {
        summary = finishRun(await options.play({ wanted, all, listener, signal: end.signal }), options)
        setStatus({ failures: summary.failures })
      } catch (error) {
        setStatus({ problem: messageOf(error) })
      }
    }
  }

  const start = () => {
    const end = new AbortController()
    const ended = playQueue(end).finally(() => {
      current = null
      states.settle()
      setStatus({ state: 'idle' })
      // Asked for while the run was stopping.
      if (queue.size > 0) start()
    })
    current = { end, ended }
  }

  return {
    play(names) {
      const wanted = new Set(names)
      const accepted = options
        .playable()
        .map(nameOf)
        .filter(name => wanted.has(name))
      for (const name of accepted) {
        queue.add(name)
        states.queue(name)
      }
      if (current === null && queue.size > 0) start()
      return accepted
    },
    async stop() {
      if (current === null) return
      queue.clear()
      setStatus({ state: 'stopping' })
      current.end.abort(new InterruptedError())
      await current.ended
    },
    status: () => status,
    summary: () => summary,
  }
}

/** Stores the final results: late calls may have changed verdicts after the end of their scenarios. */
function finishRun(result: RunResult, { states, secrets }: PlayerOptions): RunSummary {
  const { scenarios, ...rest } = describeRun(secrets.redactDeep(result))
  for (const report of scenarios) states.finish(numberedName(report.name, report.instance), report)
  return rest
}
