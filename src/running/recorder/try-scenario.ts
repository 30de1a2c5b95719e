/**
 * Tries a recorded scenario once, beside the running simulator: a simulator of its own with a virtual clock plays it
 * against an intermediary that repeats the recorded calls. Then each call is left out of the journal of that run, to
 * show that the scenario fails without it.
 */

import { ConfigError } from '../../base/files/errors.ts'
import { elapsedMs, nextMacrotask, wallTimer } from '../../base/runtime/clock.ts'
import { createAbort } from '../../base/runtime/node.ts'
import { evaluate } from '../../evaluation/evaluator/evaluator.ts'
import type { Verdict } from '../../evaluation/evaluator/verdict.ts'
import { describeVerdict } from '../../evaluation/evaluator/wording/report.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { loadText } from '../../evaluation/scenario/load/load.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { PlatformSimulatorOptions } from '../../platform/simulator/platform-options.ts'
import { createPlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { RecordingTrial } from '../../server/control/recorder.ts'
import { runInProcess } from '../runner/run-in-process.ts'
import { InterruptedError } from '../runner/waiting.ts'
import type { DrawnStep } from './drawn-steps.ts'
import { describeCall, isExpectable } from './recorded-calls.ts'
import type { Recording } from './recording.ts'
import { createScriptedIntermediary } from './scripted-intermediary.ts'
import { TRIAL_TEXTS } from './texts.ts'

/** The longest run of the scenario. */
const LIMIT_MS = 8_000
/** The longest time for leaving out calls. */
const LEAVE_OUT_MS = 2_000

/** Every call of the trial comes at once, so nothing has to be awaited for long. */
const withShortWaits = (plan: Plan): Plan => ({
  ...plan,
  timeouts: { ...plan.timeouts, expectMs: 2_000, settleMs: 20 },
  steps: plan.steps.map(item =>
    item.kind === 'step' && item.action.verb === 'none' ? { ...item, action: { ...item.action, forMs: 20 } } : item,
  ),
})

export interface Trial {
  readonly recording: Recording
  readonly steps: readonly DrawnStep[]
  readonly yaml: string
  readonly signal: AbortSignal
}

const NO_CALLS: LeftOut = { count: 0, unnoticed: [] }

export async function tryScenario(trial: Trial): Promise<RecordingTrial> {
  const begun = elapsedMs()
  const calls = trial.steps.flatMap(step => step.calls).length
  const result = (
    outcome: RecordingTrial['outcome'],
    failures: readonly string[],
    { count, unnoticed }: LeftOut = NO_CALLS,
  ): RecordingTrial => ({
    outcome,
    duration_ms: Math.round(elapsedMs() - begun),
    calls,
    left_out: count,
    noticed: count - unnoticed.length,
    failures,
  })
  try {
    const [plan] = compile(await loadText('recorded.yaml', trial.yaml, { cwd: '.', nodeVersion: process.version }))
    if (plan === undefined) return result('skipped', [])
    const { verdict, otherwise } = await play(trial, withShortWaits(plan))
    if (verdict.outcome !== 'pass') return result(verdict.outcome, [...otherwise, ...failuresOf(verdict)])
    if (otherwise.length > 0) return result('fail', otherwise)
    const leftOut = await leaveOutCalls(plan, verdict.journal)
    return result('pass', leftOut.unnoticed.map(TRIAL_TEXTS.unnoticed), leftOut)
  } catch (error) {
    if (error instanceof ConfigError)
      return result(
        'skipped',
        error.problems.map(problem => problem.message),
      )
    throw error
  }
}

function failuresOf(verdict: Verdict): string[] {
  const { failures, reason } = describeVerdict(verdict)
  return [...(reason === null ? [] : [reason]), ...failures.map(({ happened }) => happened)]
}

async function play({ recording, steps, signal }: Trial, plan: Plan) {
  const sim = createPlatformSimulator(optionsFor(plan, () => intermediary.answer()))
  const intermediary = createScriptedIntermediary(recording, steps, () => sim)
  const own = createAbort()
  const timer = wallTimer(LIMIT_MS, () => own.abort(new InterruptedError({ code: 'time_limit', limit_ms: LIMIT_MS })))
  try {
    const { driver, onStep } = intermediary
    const shared = { driver, onStep, seed: 1, strict: false, env: {} }
    const verdict = await runInProcess(sim, plan, { ...shared, signal: AbortSignal.any([signal, own.signal]) })
    const otherwise = intermediary.otherwise.map(one => TRIAL_TEXTS.otherStatus(describeCall(one.call), one.status))
    return { verdict, otherwise }
  } finally {
    timer.cancel()
    await sim.close()
  }
}

/** The settings of the scenario are applied by the runner. */
const optionsFor = (plan: Plan, answer: () => Response): PlatformSimulatorOptions => ({
  clock: 'virtual',
  webhook: { fetch: async () => answer() },
  bot: plan.bot as NonNullable<PlatformSimulatorOptions['bot']>,
})

interface LeftOut {
  readonly count: number
  /** The calls without which the scenario passes as well. */
  readonly unnoticed: readonly string[]
}

/** Evaluates the journal without each call, in turn, as long as there is time. */
async function leaveOutCalls(plan: Plan, journal: readonly Entry[]): Promise<LeftOut> {
  const until = elapsedMs() + LEAVE_OUT_MS
  const unnoticed: string[] = []
  let count = 0
  for (const call of journal) {
    if (call.kind !== 'api' || !isExpectable(call)) continue
    if (elapsedMs() > until) break
    const without = journal.filter(entry => entry !== call)
    if (evaluate(plan, without).outcome === 'pass') unnoticed.push(describeCall(call))
    count++
    await nextMacrotask()
  }
  return { count, unnoticed }
}
