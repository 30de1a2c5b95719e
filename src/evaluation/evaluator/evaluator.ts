/**
 * Evaluates a play by its journal: a reducer over entries. During a run it reads them one by one and answers questions
 * in between; later it reads a saved journal. Both give the same verdict, because nothing but plan and entries counts.
 */
import type { Entry } from '../../platform/journal/entry.ts'
import { createVariables, type InterpolationScope } from '../scenario/interpolation.ts'
import type { Plan, PlannedStep, Verb } from '../scenario/plan.ts'
import { isRunEvent, type RunEventOf } from '../scenario/run-events.ts'
import { type CheckEvaluator, evaluateCheck } from './check.ts'
import { ClaimRegistry, InboxClaims } from './claims.ts'
import { computeVerdict } from './compute-verdict.ts'
import type { Evaluation } from './evaluation.ts'
import { ExpectEvaluator } from './expect.ts'
import { AVAILABILITY, type ConversationKey, JournalIndex } from './journal-index.ts'
import { NoneEvaluator } from './none.ts'
import { PatternTester, slowPatternFailure } from './pattern-tester.ts'
import { SeesEvaluator } from './sees.ts'
import {
  FAILED,
  type FailureDetails,
  PASSED,
  type StepEvaluator,
  type StepResult,
  type StepStatus,
} from './step-evaluator.ts'
import { failedStepResult, stimulusResult } from './stimulus.ts'
import { stripToken } from './tokens.ts'
import { surplusCalls } from './unexpected-calls.ts'
import type { Verdict } from './verdict.ts'
import { Windows } from './windows.ts'

/** Evaluates a whole journal at once. */
export function evaluate(plan: Plan, entries: readonly Entry[]): Verdict {
  const evaluator = new Evaluator(plan)
  for (const entry of entries) evaluator.add(entry)
  return evaluator.finish()
}

const READ_EVENTS = ['scenario_started', 'conversation', 'step_started', 'step_ended', 'observed'] as const
type ReadEvent = RunEventOf<(typeof READ_EVENTS)[number]>

export class Evaluator implements Evaluation {
  readonly index
  readonly claims = new ClaimRegistry()
  readonly variables
  readonly windows
  readonly options
  readonly patterns = new PatternTester()
  readonly expects = new Map<number, ExpectEvaluator>()
  readonly sees = new Map<number, SeesEvaluator>()
  readonly #inboxClaims = new InboxClaims()
  readonly #checks = new Map<number, CheckEvaluator>()
  readonly #all = new Map<number, StepEvaluator>()
  readonly #open = new Map<number, StepEvaluator>()
  /** Results of steps, kept while the verdict is computed, which asks for each several times. */
  #results: Map<number, StepResult> | null = null
  /** How steps stood when they ended. */
  readonly #ended = new Map<number, StepStatus['state']>()

  constructor(plan: Plan) {
    this.index = new JournalIndex(plan)
    this.variables = createVariables(plan)
    this.windows = new Windows(this.index)
    const { patterns } = this
    this.options = plan.tokens ? { clean: stripToken, patterns } : { patterns }
  }

  /** Reads an entry; every entry, in the order of the journal. */
  add(entry: Entry): void {
    const { index } = this
    const call = index.add(entry)
    if (call !== null) this.#considerCall(index.conversationOf(call))
    else if (isRunEvent(entry, ...READ_EVENTS)) this.#addRunEvent(entry)
    else if (entry.kind === 'driver') this.#consider(['sees'], index.conversationOfChat(entry.chat_id))
    else if (entry.kind === 'event') this.#consider(['check'], index.conversationOfChat(entry.chat_id))
  }

  /** Adds a step to a plan that receives its steps one by one; the entry of its start comes after it. */
  addStep(step: PlannedStep): void {
    this.index.steps.set(step.number, step)
    this.windows.addStep(step)
  }

  /** Drops what is before `firstSeq`. Checks that need it do not pass from then on. */
  evict(firstSeq: number): readonly number[] {
    const ended = this.index.evict(firstSeq)
    this.claims.evict(firstSeq, ended)
    this.windows.evict(ended)
    for (const steps of [this.expects, this.sees, this.#checks, this.#all, this.#ended])
      for (const number of ended) steps.delete(number)
    return ended
  }

  /** The status of the checking step `step`, started and not ended, at a moment on the clock of `at_ms`. */
  status(step: number, nowMs: number): StepStatus {
    const evaluator = this.#open.get(step)
    if (evaluator !== undefined) return this.#statusOf(evaluator, nowMs)
    return { state: this.#ended.get(step) === 'met' ? 'met' : 'failed' }
  }

  /** A step with a pattern that is too slow cannot be decided. */
  #statusOf(evaluator: StepEvaluator, nowMs: number): StepStatus {
    const { number } = evaluator.step
    const status = this.patterns.within(number, () => evaluator.status(nowMs))
    return this.patterns.slowIn(number) === null ? status : FAILED
  }

  scopeOf(number: number): InterpolationScope {
    const step = this.index.steps.get(number)
    const conversation = step?.conversation ?? this.index.plan.conversations[0]?.name ?? ''
    return this.variables.scopeOf(conversation, step?.scope)
  }

  /** Whether a step that has ended has failed. */
  failed(number: number): boolean {
    const step = this.index.steps.get(number)
    if (step === undefined || this.index.endOf(number) === null) return false
    return !['pass', 'open'].includes(this.resultOf(step, false).outcome)
  }

  /** A checking step that is undecided when it ends has failed. */
  resultOf(step: PlannedStep, over: boolean): StepResult {
    const evaluator = this.#all.get(step.number)
    const slow = evaluator === undefined ? null : this.#slowResult(step)
    if (slow !== null) return slow
    const known = over ? this.#results?.get(step.number) : undefined
    if (known !== undefined) return known
    const result =
      evaluator === undefined
        ? stimulusResult(this.index, step, over)
        : this.patterns.within(step.number, () => this.#checkResult(evaluator))
    if (over) this.#results?.set(step.number, result)
    return result
  }

  #checkResult(evaluator: StepEvaluator): StepResult {
    const { step } = evaluator
    if (this.#ended.get(step.number) === 'met') return PASSED
    const result = failedStepResult(this.index, step) ?? failedCheck(evaluator.failure())
    return this.#slowResult(step) ?? result
  }

  #slowResult({ number }: PlannedStep): StepResult | null {
    const slow = this.patterns.slowIn(number)
    return slow === null ? null : { outcome: 'error', failure: slowPatternFailure(slow) }
  }

  finish(): Verdict {
    this.#results = new Map()
    try {
      return computeVerdict(this)
    } finally {
      this.#results = null
    }
  }

  #addRunEvent(event: ReadEvent): void {
    if (event.note === 'scenario_started') this.variables.start(event)
    else if (event.note === 'conversation') this.variables.open(event)
    else if (event.note === 'step_started') this.#begin(event.step)
    else if (event.note === 'step_ended') this.#end(event)
    else if (event.note === 'observed' && this.#open.has(event.step)) this.#observe(event)
  }

  #observe(event: RunEventOf<'observed'>): void {
    this.patterns.within(event.step, () => this.#checks.get(event.step)?.observe(event))
  }

  #begin(number: number): void {
    const step = this.index.steps.get(number)
    const evaluator = step === undefined ? null : this.#evaluatorFor(step)
    if (evaluator === null) return
    this.#all.set(number, evaluator)
    this.#open.set(number, evaluator)
    this.patterns.within(number, () => evaluator.consider())
  }

  #evaluatorFor(step: PlannedStep): StepEvaluator | null {
    const { action, number } = step
    switch (action.verb) {
      case 'expect':
        return stored(this.expects, number, new ExpectEvaluator(this, step, action.tree, action.withinMs))
      case 'none':
        return new NoneEvaluator(this, step, action, call => surplusCalls(this, step.conversation).has(call))
      case 'check':
        return stored(this.#checks, number, evaluateCheck(this, step, action.check))
      case 'sees':
        return stored(this.sees, number, new SeesEvaluator(this, this.#inboxClaims, step, action))
      default:
        return null
    }
  }

  #end({ step, at_ms, captured }: RunEventOf<'step_ended'>): void {
    const evaluator = this.#open.get(step)
    if (evaluator === undefined) return
    const status = this.#statusOf(evaluator, at_ms)
    this.#ended.set(step, status.state)
    // The runner recorded what it captured. A journal of a scenario that has changed since may lack it.
    if (status.state === 'met') this.variables.capture(evaluator.step.conversation, captured ?? status.captured ?? {})
    evaluator.close()
    this.#open.delete(step)
  }

  /** Expectations first: a call that one of them claims is not unwanted. */
  #considerCall(conversation: ConversationKey | null): void {
    this.#consider(['expect'], conversation)
    this.#consider(['none'], conversation)
  }

  #consider(verbs: readonly Verb[], conversation: ConversationKey | null): void {
    if (this.#open.size === 0) return
    const steps = [...this.#open.values()].filter(({ step }) => verbs.includes(step.action.verb))
    const concerned = steps.filter(({ step }) => conversation === AVAILABILITY || conversation === step.conversation)
    for (const evaluator of concerned.sort((a, b) => a.step.number - b.step.number))
      this.patterns.within(evaluator.step.number, () => evaluator.consider())
  }
}

/** A check that needs evicted entries has no result. */
const failedCheck = (failure: FailureDetails): StepResult => ({
  outcome: failure.kind === 'evicted' ? 'inconclusive' : 'fail',
  failure,
})

function stored<One extends StepEvaluator>(evaluators: Map<number, One>, number: number, evaluator: One): One {
  evaluators.set(number, evaluator)
  return evaluator
}
