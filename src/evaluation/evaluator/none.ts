/** Evaluates `none`: calls that must not arrive in the turn, for some time. */

import { InterpolationError } from '../scenario/interpolation.ts'
import type { CallPattern, Expectation } from '../scenario/plan.ts'
import { accepts, conversationOfQuery, type Moment, patternRef } from './claims.ts'
import type { PatternRef } from './failure.ts'
import { type Call, callReference, ruleOf } from './journal-index.ts'
import {
  type EvaluatedStep,
  type EvaluationContext,
  evictedFailure,
  FAILED,
  type FailureDetails,
  failureDetails,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'

/** A pattern says nothing about how often a call arrives, or by which path and key. */
export const asExpectation = (pattern: CallPattern): Expectation => ({
  ...pattern,
  times: { min: 1, max: Number.POSITIVE_INFINITY },
  statesTimes: true,
  apartMs: null,
  since: null,
  alias: null,
  auth: 'valid',
  capture: {},
})

export interface NoneOptions {
  readonly calls: readonly CallPattern[]
  readonly forMs: number
  /** Fills in the values of `$(...)`. Throws `InterpolationError`. */
  readonly fill: (pattern: CallPattern) => CallPattern
  /** Whether an earlier step of the conversation may still claim the call, as one of several. */
  readonly isSurplus: (call: Call) => boolean
}

export class NoneEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  readonly #context: EvaluationContext
  readonly #options: NoneOptions
  readonly #startMs: number
  readonly #from: Moment
  readonly #isComplete: boolean
  #leaves: readonly Expectation[] = []
  #unwanted: Call | null = null
  #problem: string | null = null

  constructor(context: EvaluationContext, step: EvaluatedStep, options: NoneOptions) {
    this.step = step
    this.#context = context
    this.#options = options
    this.#startMs = context.windows.getStart(step).at_ms
    this.#from = context.windows.turnStart(step)
    this.#isComplete = context.windows.isTurnComplete(step)
    try {
      this.#leaves = options.calls.map(pattern => asExpectation(options.fill(pattern)))
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      this.#problem = error.message
    }
  }

  consider(): void {
    if (this.#unwanted !== null) return
    const { number, conversation } = this.step
    const untilMs = this.#startMs + this.#options.forMs
    for (const leaf of this.#leaves) {
      const query = { leaf, step: number, conversation, from: this.#from, floor: null, untilMs }
      const calls = this.#context.index.callsOf(conversationOfQuery(query))
      const found = calls.find(call => accepts(query, call, this.#context) && !this.#options.isSurplus(call))
      if (found === undefined) continue
      this.#unwanted = found
      this.#context.claims.report(found)
      return
    }
  }

  #patterns(): PatternRef[] {
    return (this.#leaves.length > 0 ? this.#leaves : this.#options.calls).map(patternRef)
  }

  status(nowMs: number): StepStatus {
    if (this.#unwanted !== null || this.#problem !== null || !this.#isComplete) return FAILED
    const { forMs } = this.#options
    const untilMs = this.#startMs + forMs
    if (nowMs >= untilMs) return MET
    return { state: 'open', untilMs, awaited: { code: 'silence', forMs, calls: this.#patterns() } }
  }

  close(): void {}

  failure(): FailureDetails {
    const { forMs } = this.#options
    const chat = this.#context.chatName(this.step.conversation)
    const expected = { code: 'no_calls', calls: this.#patterns(), forMs, chat } as const
    if (this.#problem !== null) return failureDetails('none', expected, { code: 'unfillable', message: this.#problem })
    // There is no unwanted call, and there may be one that was not read.
    if (this.#unwanted === null) return evictedFailure(expected, this.#context.firstSeq)
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
