/** Evaluates `none`: calls that must not arrive in the turn, for some time. */

import { interpolate } from '../scenario/interpolation.ts'
import type { CallPattern, Expectation, PlannedStep } from '../scenario/plan.ts'
import type { Expected, PatternRef } from './failure.ts'
import { type Call, callReference, ruleOf } from './journal-index.ts'
import { accepts, type CallQuery, conversationOfQuery } from './near-misses.ts'
import { chatIn, patternRef } from './references.ts'
import {
  type EvaluationContext,
  evictedFailure,
  FAILED,
  type FailureDetails,
  failureDetails,
  interpolationProblem,
  MET,
  openUntil,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import type { Moment } from './windows.ts'

/** A pattern says nothing about how often a call arrives, or by which path and key. */
export const asExpectation = (pattern: CallPattern): Expectation => ({
  ...pattern,
  times: { min: 1, max: Number.POSITIVE_INFINITY },
  apartMs: null,
  since: null,
  alias: null,
  auth: 'valid',
  capture: {},
})

interface NoneAction {
  readonly calls: readonly CallPattern[]
  readonly forMs: number
}

export class NoneEvaluator implements StepEvaluator {
  readonly step: PlannedStep
  readonly #context: EvaluationContext
  readonly #action: NoneAction
  readonly #isSurplus: (call: Call) => boolean
  readonly #startMs: number
  readonly #from: Moment
  readonly #isWhole: boolean
  #leaves: readonly Expectation[] = []
  #unwanted: Call | null = null
  #unfillable: string | null = null

  /** `isSurplus`: an earlier step of the conversation may still claim the call, as one of several. */
  constructor(context: EvaluationContext, step: PlannedStep, action: NoneAction, isSurplus: (call: Call) => boolean) {
    this.step = step
    this.#context = context
    this.#action = action
    this.#isSurplus = isSurplus
    this.#startMs = context.index.startOf(step.number).at_ms
    this.#from = context.windows.turnStart(step)
    this.#isWhole = context.windows.isWhole(step)
    this.#fill()
  }

  #fill(): void {
    const scope = this.#context.scopeOf(this.step.number)
    this.#unfillable = interpolationProblem(() => {
      this.#leaves = this.#action.calls.map(({ call, body }) =>
        asExpectation({ call, body: body === null ? null : interpolate(body, scope) }),
      )
    })
  }

  #queryOf(leaf: Expectation): CallQuery {
    const { number, conversation } = this.step
    const untilMs = this.#startMs + this.#action.forMs
    return { leaf, step: number, conversation, from: this.#from, floor: null, untilMs }
  }

  #patterns(): PatternRef[] {
    return (this.#leaves.length > 0 ? this.#leaves : this.#action.calls).map(patternRef)
  }

  consider(): void {
    if (this.#unwanted !== null) return
    const found = this.#leaves.map(leaf => this.#callOf(leaf)).find(call => call !== undefined)
    if (found === undefined) return
    this.#unwanted = found
    this.#context.claims.report(found)
  }

  #callOf(leaf: Expectation): Call | undefined {
    const query = this.#queryOf(leaf)
    const calls = this.#context.index.callsOf(conversationOfQuery(query))
    return calls.find(call => accepts(query, call, this.#context) && !this.#isSurplus(call))
  }

  status(nowMs: number): StepStatus {
    if (this.#unwanted !== null || this.#unfillable !== null || !this.#isWhole) return FAILED
    const { forMs } = this.#action
    return openUntil(nowMs, this.#startMs + forMs, MET, { code: 'silence', forMs, calls: this.#patterns() })
  }

  close(): void {}

  /** There is no unwanted call, and there may be one that was not recognized or not read. */
  #undecided(expected: Expected): FailureDetails {
    const message = this.#unfillable
    if (message !== null) return failureDetails('none', expected, { code: 'unfillable', message })
    return evictedFailure(expected, this.#context.index)
  }

  failure(): FailureDetails {
    const { forMs } = this.#action
    const chat = chatIn(this.#context.index.plan, this.step.conversation)
    const expected = { code: 'no_calls', calls: this.#patterns(), forMs, chat } as const
    if (this.#unwanted === null) return this.#undecided(expected)
    const afterMs = Math.round(this.#unwanted.readAt - this.#startMs)
    const call = callReference(this.#unwanted)
    return failureDetails(
      'none',
      expected,
      { code: 'unwanted_call', call, afterMs, forMs },
      {
        rules: [ruleOf(this.#unwanted.endpoint)],
        nearest: [{ seq: call.seq, subject: { code: 'call', ...call }, afterMs, obstacles: [], differences: [] }],
        entrySeqs: [call.seq],
      },
    )
  }
}
