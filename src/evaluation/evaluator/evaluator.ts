/**
 * Evaluates a scenario by its journal: a reducer over entries. During a run it reads them one by one and answers questions
 * in between; later it reads a saved journal. Both give the same verdict, because nothing but plan and entries counts.
 */
import type { Entry } from '../../platform/journal/entry.ts'
import { createVariables, InterpolationError, interpolate } from '../scenario/interpolation.ts'
import { type Plan, type PlannedStep, stepsOf, type Verb } from '../scenario/plan.ts'
import { isRunEvent, type RunEventOf } from '../scenario/run-events.ts'
import { CheckEvaluator } from './check.ts'
import { ClaimRegistry, InboxClaims } from './claims.ts'
import { computeVerdict, type Evaluation } from './compute-verdict.ts'
import { stripToken } from './echo.ts'
import { ExpectEvaluator } from './expect.ts'
import { AVAILABILITY, type ConversationKey, JournalIndex } from './journal-index.ts'
import { NoneEvaluator } from './none.ts'
import { SeesEvaluator } from './sees.ts'
import {
  type EvaluatedStep,
  FAILED,
  type Filled,
  PASSED,
  PatternGuard,
  type StepEvaluator,
  type StepResult,
  type StepStatus,
} from './step-evaluator.ts'
import { failedStepResult, stimulusResult } from './stimulus.ts'
import type { Verdict } from './verdict.ts'
import { Windows } from './windows.ts'

/** Evaluates a whole journal at once. */
export function evaluate(plan: Plan, entries: readonly Entry[]): Verdict {
  const evaluator = new Evaluator(plan)
  for (const entry of entries) evaluator.add(entry)
  return evaluator.finish()
}

export class Evaluator implements Evaluation {
  readonly plan
  readonly strict
  readonly mentionsAvailability
  readonly conversations
  readonly index
  readonly claims = new ClaimRegistry()
  readonly inboxClaims = new InboxClaims()
  readonly guard = new PatternGuard()
  readonly variables
  readonly options
  readonly windows
  readonly expects = new Map<number, ExpectEvaluator>()
  readonly firstSeq = 1
  readonly #evaluators = new Map<number, StepEvaluator>()
  /** The evaluators of the steps that are running. */
  readonly #open = new Map<number, StepEvaluator>()
  /** The status of steps when they ended. */
  readonly #ended = new Map<number, StepStatus['state']>()
  /** Results of steps while the verdict is computed, which asks for each several times. */
  #results: Map<number, StepResult> | null = null

  constructor(plan: Plan) {
    this.plan = plan
    this.strict = plan.strict
    this.mentionsAvailability = plan.mentionsAvailability
    this.conversations = plan.conversations.map(({ name }) => name)
    this.index = new JournalIndex(plan, stepsOf([...plan.steps, ...plan.finally]))
    this.variables = createVariables(plan)
    this.windows = new Windows(plan, this.index, this.claims)
    this.options = plan.tokens ? { clean: stripToken } : {}
  }

  /** Reads an entry; every entry, in the order of the journal. */
  add(entry: Entry): void {
    const { index, variables } = this
    const call = index.add(entry)
    if (call !== null) {
      // Expectations first: a call that one of them claims is not unwanted.
      const conversation = index.conversationOf(call)
      this.#consider('expect', conversation)
      this.#consider('none', conversation)
    } else if (entry.kind === 'driver') this.#consider('sees', index.history.conversationOf(entry.chat_id))
    else if (entry.kind === 'event') this.#consider('check', index.history.conversationOf(entry.chat_id))
    else if (isRunEvent(entry, 'scenario_started')) variables.start(entry)
    else if (isRunEvent(entry, 'conversation')) variables.open(entry)
    else if (isRunEvent(entry, 'step_started')) this.#startStep(entry.step)
    else if (isRunEvent(entry, 'step_ended')) this.#endStep(entry)
    else if (isRunEvent(entry, 'observed')) {
      const check = this.#open.get(entry.step)
      if (check instanceof CheckEvaluator) this.guard.run(entry.step, undefined, () => check.observe(entry))
    }
  }

  #consider(verb: Verb, conversation: ConversationKey | null): void {
    const numbers: number[] = []
    for (const [number, { step }] of this.#open) {
      if (this.index.steps.get(number)?.action.verb !== verb) continue
      if (conversation === AVAILABILITY || conversation === step.conversation) numbers.push(number)
    }
    for (const number of numbers.sort((a, b) => a - b))
      this.guard.run(number, undefined, () => this.#open.get(number)?.consider())
  }

  #startStep(number: number): void {
    const step = this.index.steps.get(number)
    const evaluator = step === undefined ? null : this.#createEvaluator(step)
    if (evaluator === null) return
    this.#evaluators.set(number, evaluator)
    this.#open.set(number, evaluator)
    this.guard.run(number, undefined, () => evaluator.consider())
  }

  #createEvaluator(step: PlannedStep): StepEvaluator | null {
    const { action, number } = step
    switch (action.verb) {
      case 'expect': {
        const evaluator = new ExpectEvaluator(this, step, action)
        this.expects.set(number, evaluator)
        return evaluator
      }
      case 'none':
        return new NoneEvaluator(this, step, action)
      case 'check':
        return new CheckEvaluator(this, step, action.check)
      case 'sees':
        return new SeesEvaluator(this, step, action)
      default:
        return null
    }
  }

  fill<Value>({ number, conversation }: EvaluatedStep, template: Value): Filled<Value> {
    const scope = this.variables.scopeOf(conversation, this.index.steps.get(number)?.scope)
    try {
      return { value: interpolate(template, scope) as Value, problem: null }
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      return { value: template, problem: error.message }
    }
  }

  #endStep({ step: number, at_ms, captured }: RunEventOf<'step_ended'>): void {
    const evaluator = this.#open.get(number)
    if (evaluator === undefined) return
    const status = this.status(number, at_ms)
    this.#ended.set(number, status.state)
    // The runner recorded what it captured. A journal of a scenario that has changed since may lack it.
    if (status.state === 'met') this.variables.capture(evaluator.step.conversation, captured ?? status.captured ?? {})
    evaluator.close()
    this.#open.delete(number)
  }

  /** The status of the checking step `number`, started and not ended, at a moment on the clock of `at_ms`. */
  status(number: number, nowMs: number): StepStatus {
    const evaluator = this.#open.get(number)
    if (evaluator === undefined) return { state: this.#ended.get(number) === 'met' ? 'met' : 'failed' }
    // A step with a pattern that is too slow cannot be decided.
    return this.guard.run(number, FAILED, () => evaluator.status(nowMs))
  }

  /** Whether a step that has ended has failed. */
  failed(number: number): boolean {
    const step = this.index.steps.get(number)
    if (step === undefined || this.index.findEnd(number) === null) return false
    return !['pass', 'open'].includes(this.resultOf(step, false).outcome)
  }

  /** A checking step that is undecided when it ends has failed. */
  resultOf(step: PlannedStep, isOver: boolean): StepResult {
    const { number } = step
    const computed = this.guard.slow.has(number) ? undefined : this.#results?.get(number)
    if (isOver && computed !== undefined) return computed
    const evaluator = this.#evaluators.get(number)
    let result: StepResult
    if (evaluator === undefined) result = stimulusResult(this.index, step, isOver)
    else if (this.#ended.get(number) === 'met' && !this.guard.slow.has(number)) result = PASSED
    else
      result = this.guard.run(number, PASSED, () => {
        const failed = failedStepResult(this.index, step)
        if (failed !== null) return failed
        const failure = evaluator.failure()
        return { outcome: failure.kind === 'evicted' ? 'inconclusive' : 'fail', failure }
      })
    const slow = this.guard.failureOf(number)
    if (slow !== null) return { outcome: 'error', failure: slow }
    if (isOver) this.#results?.set(number, result)
    return result
  }

  finish(): Verdict {
    this.#results = new Map()
    try {
      return computeVerdict(this)
    } finally {
      this.#results = null
    }
  }

  /** From the turn of the first failure on, a conversation does not run to its end: later calls are no failures. */
  cutOff(conversation: ConversationKey): number {
    let cutOffMs = Number.POSITIVE_INFINITY
    for (const step of this.index.steps.values()) {
      if (step.soft || (conversation !== AVAILABILITY && step.conversation !== conversation)) continue
      if (this.index.findStart(step.number) === null || this.resultOf(step, true).outcome === 'pass') continue
      cutOffMs = Math.min(cutOffMs, this.windows.turnStart(step).atMs)
    }
    return cutOffMs
  }

  /** Excess items in the inbox of a step that has passed; null without. */
  excessOf({ number }: EvaluatedStep) {
    const evaluator = this.#evaluators.get(number)
    return evaluator instanceof SeesEvaluator ? this.guard.run(number, null, () => evaluator.excess()) : null
  }

  chatName(conversation: string | null): string | null {
    return this.conversations.length > 1 ? conversation : null
  }
}
