/** Executes one scenario: its steps, its `finally` steps, and the wait for late calls. */

import { onAbort } from '../../base/runtime/activity.ts'
import { wallTimer } from '../../base/runtime/clock.ts'
import type { Awaited } from '../../evaluation/evaluator/step-evaluator.ts'
import type { Verdict } from '../../evaluation/evaluator/verdict.ts'
import type { Action, PlannedItem, PlannedStep, Verb } from '../../evaluation/scenario/plan.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import { readInbox, runAgentStep, runTargetStep } from './agent-steps.ts'
import { runCheckStep, runSeesStep, waitForVerdict } from './check-steps.ts'
import { finalVerdict } from './results.ts'
import { performStep, type RunContext, type StepContext, type StepExecution, type StepHandler } from './run-context.ts'
import {
  runAvailabilityStep,
  runBotStep,
  runDeliverStep,
  runFaultStep,
  runLogStep,
  runPressStep,
  runUserStep,
  runWaitStep,
} from './stimulus-steps.ts'
import { awaitPendingAcks, earlyEndOf, settle } from './waiting.ts'

export interface ExecuteOptions {
  /** Aborts with an `InterruptedError` when the run ends early. */
  readonly signal: AbortSignal
  /** Called before each step. */
  onStep?(step: PlannedStep): void
  /** Called after each step. */
  onStepEnd?(step: PlannedStep, failed: boolean): void
  /** Called when a step waits: for what, and for at most how long. */
  onWaiting?(step: PlannedStep, what: Awaited, forMs: number): void
  /** Called when all steps have ended. */
  onQuiet?(): void
}

/** Never rejects for a failure of the intermediary. Rejects with an internal error of the evaluator. */
export async function executeScenario(context: RunContext, options: ExecuteOptions): Promise<Verdict> {
  const timeLimit = createTimeLimit(context, options.signal)
  const run: Run = { context, options, signal: timeLimit.signal, stopped: new Set(), timedOut: false }
  await executeItems(run, context.plan.steps)
  timeLimit.clear()
  context.note({ note: 'steps_done' })
  const end = await executeFinally(run)
  options.onQuiet?.()
  const { settleMs: quietMs } = context.plan.timeouts
  await settle(context, { quietMs, awaitCall: run.timedOut, signal: options.signal })
  await rereadInboxes(run)
  context.note({ note: 'scenario_ended', ...end, ...timeLimit.why() })
  if (context.evaluationError !== null) throw context.evaluationError
  return finalVerdict(context)
}

interface Run {
  readonly context: RunContext
  readonly options: ExecuteOptions
  readonly signal: AbortSignal
  /** Conversations that a failure has ended. */
  readonly stopped: Set<string>
  /** Whether an expectation timed out, so that a late call may explain it. */
  timedOut: boolean
}

/** Combines the time limit of the scenario and the end of the run in one signal. */
function createTimeLimit({ plan }: RunContext, outer: AbortSignal) {
  const own = new AbortController()
  const { scenarioMs } = plan.timeouts
  const timer = wallTimer(scenarioMs, () => own.abort())
  const stopFollowing = onAbort(outer, () => own.abort())
  if (outer.aborted) own.abort()
  const why = (): { stopped?: EarlyEnd } => {
    if (outer.aborted) return { stopped: earlyEndOf(outer) }
    return own.signal.aborted ? { stopped: { code: 'time_limit', limit_ms: scenarioMs } } : {}
  }
  const clear = () => {
    timer.cancel()
    stopFollowing()
  }
  return { signal: own.signal, why, clear }
}

async function executeItems(run: Run, items: readonly PlannedItem[]): Promise<void> {
  for (const item of items) {
    if (run.signal.aborted || allStopped(run)) return
    if (item.kind === 'parallel') await Promise.all(item.branches.map(branch => executeItems(run, branch)))
    else if (!run.stopped.has(item.conversation)) await executeStep(run, item)
  }
}

const allStopped = ({ context, stopped }: Run): boolean =>
  context.conversations.size > 0 && [...context.conversations.keys()].every(conversation => stopped.has(conversation))

/** Executes them also in conversations that have failed, with a time limit of their own. */
async function executeFinally(run: Run): Promise<{ stopped?: EarlyEnd }> {
  const timeLimit = createTimeLimit(run.context, run.options.signal)
  const last: Run = { ...run, signal: timeLimit.signal, stopped: new Set() }
  await executeItems(last, run.context.plan.finally)
  await awaitPendingAcks(last).catch(() => {})
  timeLimit.clear()
  run.timedOut ||= last.timedOut
  return timeLimit.why()
}

async function executeStep(run: Run, step: PlannedStep): Promise<void> {
  const { context, options } = run
  const { number, action } = step
  await readInboxesBefore(run, step)
  options.onStep?.(step)
  const execute = STEP_HANDLERS[action.verb] as (stepContext: StepContext & { action: Action }) => StepExecution
  const waiting = (what: Awaited, forMs: number) => options.onWaiting?.(step, what, forMs)
  const details = await performStep({ context, step, signal: run.signal, waiting }, stepContext =>
    execute({ ...stepContext, action }),
  )
  if (context.evaluationError !== null) throw context.evaluationError
  const failed = context.evaluator.failed(number)
  options.onStepEnd?.(step, failed)
  if (!failed) return
  if ((action.verb === 'expect' || action.verb === 'sees') && details.missing === undefined && !run.signal.aborted)
    await probeAfterTimeout(run)
  if (!step.soft) run.stopped.add(step.conversation)
}

/** Tests whether the target is reachable, when it did not do what a step expects. */
async function probeAfterTimeout(run: Run): Promise<void> {
  const { context } = run
  const failure = (await context.checkTarget?.()) ?? null
  if (failure === null) run.timedOut = true
  else context.note({ note: 'target_unreachable', failure })
}

/** Records what the agent sees before the user acts. */
async function readInboxesBefore({ context, signal }: Run, step: PlannedStep): Promise<void> {
  if (!context.driver?.verbs.includes('inbox')) return
  for (const name of step.readsInboxOf) {
    const chat = context.conversations.get(name)
    if (chat !== undefined) await readInbox(context, chat, context.core.journal.nextSeq - 1, signal)
  }
}

/** Reads the inboxes once more, because an item may have come twice. */
async function rereadInboxes({ context, options }: Run): Promise<void> {
  const { driver, plan, conversations, core } = context
  if (!driver?.verbs.includes('inbox') || !plan.needs.includes('inbox')) return
  const reads = core.journal.query({ kind: 'driver' }).filter(({ verb }) => verb === 'inbox')
  for (const chat of conversations.values()) {
    if (!reads.some(({ chat_id }) => chat_id === chat.id)) continue
    await readInbox(context, chat, core.journal.nextSeq - 1, options.signal)
  }
}

/** Executes a step by its verb. */
const STEP_HANDLERS: { readonly [V in Verb]: StepHandler<V> } = {
  user: runUserStep,
  press: runPressStep,
  bot: runBotStep,
  agent: runAgentStep,
  sees: runSeesStep,
  wait: runWaitStep,
  availability: runAvailabilityStep,
  fault: runFaultStep,
  deliver: runDeliverStep,
  target: runTargetStep,
  expect: waitForVerdict,
  none: waitForVerdict,
  check: runCheckStep,
  log: runLogStep,
}
