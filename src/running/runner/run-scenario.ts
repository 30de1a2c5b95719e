/** Runs one scenario: its steps, its `finally` steps, and the wait for late calls. */

import { elapsedMs, wallTimer } from '../../base/runtime/clock.ts'
import { peerLoss } from '../../base/runtime/connection-failure.ts'
import { anySignal } from '../../base/runtime/node.ts'
import type { ScenarioResult, Verdict } from '../../evaluation/evaluator/verdict.ts'
import type { Awaited } from '../../evaluation/evaluator/words.ts'
import { InterpolationError } from '../../evaluation/scenario/interpolation.ts'
import { type PlannedItem, type PlannedStep, stepsOf, type Verb } from '../../evaluation/scenario/plan.ts'
import type { StepDetails } from '../../evaluation/scenario/run-events.ts'
import type { EarlyEnd } from '../../platform/journal/run-failures.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { callDriver } from './inbox.ts'
import { finalVerdict } from './results.ts'
import { nameOf, type RunContext, StepError } from './run-context.ts'
import { runStep } from './steps.ts'
import { awaitAck, awaitPace, earlyEndOf, InterruptedError, settle } from './waiting.ts'

/** Receives the progress of a run. */
export interface RunListener {
  started(name: string): void
  /** The chats of a scenario are open; its steps begin. */
  opened?(name: string, sim: PlatformSimulator): void
  step(name: string, step: PlannedStep): void
  stepEnded?(name: string, step: PlannedStep, failed: boolean): void
  /** A step waits for `what`, since a moment of `elapsedMs()`. */
  waiting(name: string, what: Awaited, sinceMs: number, atMostMs: number): void
  /** All steps have ended; the runner waits for late calls. */
  listening(name: string): void
  finished(result: ScenarioResult): void
}

export const SILENT: RunListener = { started() {}, step() {}, waiting() {}, listening() {}, finished() {} }

export interface ScenarioRunOptions {
  /** Aborts with an `InterruptedError` when the run ends early. */
  readonly signal: AbortSignal
  readonly listener?: Partial<RunListener> | undefined
  /** Called when all steps have ended. */
  onQuiet?(): void
}

/** Never rejects for a failure of the intermediary. Rejects with an internal error of the evaluator. */
export async function runPlan(context: RunContext, options: ScenarioRunOptions): Promise<Verdict> {
  const { plan } = context
  const { settleMs: quietMs } = plan.timeouts
  const steps = new StepsRun(context, options)
  await steps.runItems(plan.steps)
  steps.clearTimeLimit()
  context.note({ note: 'steps_done' })
  // The `finally` steps also run in conversations that have failed, with a time limit of their own.
  const last = new StepsRun(context, options)
  await last.runItems(plan.finally)
  await awaitPendingAcks(context, last.signal).catch(() => {})
  last.clearTimeLimit()
  options.listener?.listening?.(nameOf(context))
  options.onQuiet?.()
  await settle(context, { quietMs, awaitCall: steps.hasTimedOut || last.hasTimedOut, signal: options.signal })
  await rereadInboxes(context, options.signal)
  await awaitTargetEnd(context, options.signal)
  context.note({ note: 'scenario_ended', ...last.earlyEnd(), ...steps.earlyEnd() })
  if (context.evaluationError !== null) throw context.evaluationError
  const verdict = finalVerdict(context)
  if (verdict.outcome !== 'fail' && verdict.outcome !== 'error') return verdict
  context.noteTargetOutput()
  return finalVerdict(context)
}

/** Acts of people, and events that stand for them. */
const ACTING: readonly Verb[] = ['user', 'leaves', 'press', 'agent', 'deliver']
/** Observe what an event or an act of the agent has led to. */
const OBSERVING: readonly Verb[] = ['expect', 'sees']

/** Runs a list of steps within the time limit of the scenario. */
class StepsRun {
  /** Whether an expectation timed out, so that a late call may explain it. */
  hasTimedOut = false
  readonly #context: RunContext
  readonly #options: ScenarioRunOptions
  readonly #timeLimit = new AbortController()
  readonly #timer: { cancel(): void }
  /** Aborts at the time limit, and when the run ends. */
  readonly signal: AbortSignal
  /** Conversations that a failure has ended. */
  readonly #stopped = new Set<string>()

  constructor(context: RunContext, options: ScenarioRunOptions) {
    this.#context = context
    this.#options = options
    this.#timer = wallTimer(context.plan.timeouts.scenarioMs, () => this.#timeLimit.abort())
    this.signal = anySignal([options.signal, this.#timeLimit.signal])
  }

  clearTimeLimit(): void {
    this.#timer.cancel()
  }

  /** Why the steps ended before the last one. */
  earlyEnd(): { stopped?: EarlyEnd } {
    const { signal } = this.#options
    if (signal.aborted) return { stopped: earlyEndOf(signal) }
    const { scenarioMs } = this.#context.plan.timeouts
    return this.signal.aborted ? { stopped: { code: 'time_limit', limit_ms: scenarioMs } } : {}
  }

  /** `observedSeq`: the last entry when a step had observed what its turn led to. */
  async runItems(items: readonly PlannedItem[], observedSeq = 0): Promise<void> {
    const { conversations, core } = this.#context
    let seenSeq = observedSeq
    for (const item of items) {
      const areStopped = conversations.size > 0 && [...conversations.keys()].every(name => this.#stopped.has(name))
      if (this.signal.aborted || areStopped) return
      if (item.kind === 'parallel') await Promise.all(item.branches.map(branch => this.runItems(branch, seenSeq)))
      else if (!this.#stopped.has(item.conversation)) await this.#runOne(item, seenSeq)
      if (item.kind === 'step' && OBSERVING.includes(item.action.verb)) seenSeq = core.journal.nextSeq - 1
    }
  }

  async #runOne(step: PlannedStep, observedSeq: number): Promise<void> {
    const context = this.#context
    const { driver, conversations, core, evaluator } = context
    const { verb } = step.action
    // An agent sees all chats of the help desk.
    const chatId = verb === 'agent' ? null : (context.chatOf(step)?.id ?? null)
    if (ACTING.includes(verb)) await awaitPace(core, { chatId, observedSeq }, this.signal)
    if (this.signal.aborted) return
    // Records what the agent sees before the user acts.
    if (driver?.verbs.includes('inbox')) {
      for (const name of step.readsInboxOf) {
        const chat = conversations.get(name)
        const cause = core.journal.nextSeq - 1
        if (chat !== undefined) await callDriver(context, { verb: 'inbox', chat, cause, signal: this.signal })
      }
    }
    const { listener } = this.#options
    const name = nameOf(context)
    listener?.step?.(name, step)
    const details = await this.#runAndRecord(step)
    if (context.evaluationError !== null) throw context.evaluationError
    const isFailed = evaluator.failed(step.number)
    listener?.stepEnded?.(name, step, isFailed)
    if (!isFailed) return
    if ((verb === 'expect' || verb === 'sees') && details.missing === undefined && !this.signal.aborted) {
      // Tests whether the target is reachable, when it did not do what a step expects.
      const failure = (await context.checkTarget?.()) ?? null
      if (failure === null) this.hasTimedOut = true
      else context.note({ note: 'target_unreachable', failure })
    }
    if (!step.soft) this.#stopped.add(step.conversation)
  }

  /** Adds the run events of the start and the end of a step. */
  async #runAndRecord(step: PlannedStep): Promise<StepDetails> {
    const context = this.#context
    const { number, label, action } = step
    const chatId = context.chatOf(step)?.id
    const startSeq = context.note({ note: 'step_started', step: number, verb: action.verb, label }, chatId)
    // A wait is reported from the beginning of its step on.
    const sinceMs = elapsedMs()
    const waiting = (what: Awaited, forMs: number) =>
      this.#options.listener?.waiting?.(nameOf(context), what, sinceMs, elapsedMs() - sinceMs + forMs)
    let details: StepDetails
    try {
      details = await runStep({ context, step, startSeq, signal: this.signal, waiting })
    } catch (error) {
      if (error instanceof StepError) details = { failure: error.failure }
      else if (error instanceof InterruptedError) details = { interrupted: true }
      else if (error instanceof InterpolationError)
        details = { failure: { code: 'not_interpolated', detail: error.message } }
      else throw error
    }
    context.note({ note: 'step_ended', step: number, ...details }, chatId)
    return details
  }
}

/** Waits for the answers to `async` steps, except of events that a fault holds. Rejects with `InterruptedError`. */
async function awaitPendingAcks(context: RunContext, signal: AbortSignal): Promise<void> {
  const { plan, core, evaluator } = context
  for (const { number, action } of stepsOf([...plan.steps, ...plan.finally])) {
    if (!('async' in action) || !action.async || action.ack === null) continue
    const started = evaluator.index.findStart(number)
    const ended = evaluator.index.findEnd(number)
    const id = ended?.delivery_id
    if (!started || !id || core.dispatcher.find(id)?.phase.kind === 'held') continue
    await awaitAck({ context, signal, startSeq: started.seq }, id, ended.at_ms)
  }
}

/** Waits for the end of a target whose connections broke: its end is reported after theirs. */
async function awaitTargetEnd({ driver, core }: RunContext, signal: AbortSignal): Promise<void> {
  const [deliveries, calls] = [core.journal.query({ kind: 'delivery' }), core.journal.query({ kind: 'driver' })]
  if ([...deliveries, ...calls].some(({ failure }) => peerLoss(failure) !== null))
    await driver?.target?.endedOrServing(signal)
}

/** Reads the inboxes once more, because an item may have come twice. */
async function rereadInboxes(context: RunContext, signal: AbortSignal): Promise<void> {
  const { driver, plan, conversations, core } = context
  if (!driver?.verbs.includes('inbox') || !plan.needs.includes('inbox')) return
  const reads = core.journal.query({ kind: 'driver' }).filter(({ verb }) => verb === 'inbox')
  for (const chat of conversations.values()) {
    if (reads.some(({ chat_id }) => chat_id === chat.id))
      await callDriver(context, { verb: 'inbox', chat, cause: core.journal.nextSeq - 1, signal })
  }
}
