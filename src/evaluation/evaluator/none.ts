/** Evaluates `none`: calls that must not arrive in the turn, for some time. */

import { formatDuration } from '../../base/text/quantities.ts'
import { createFailure, type FailureDetails } from '../finding.ts'
import { InterpolationError } from '../scenario/interpolation.ts'
import type { CallPattern, Expectation } from '../scenario/plan.ts'
import { accepts, calledText, conversationOfQuery, type Moment, nearMiss, unwantedCause } from './claims.ts'
import { type Call, callReference, ruleOf } from './journal-index.ts'
import {
  type EvaluatedStep,
  type EvaluationContext,
  evictedFailure,
  FAILED,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { callText, inChat, offset, patternText } from './words.ts'

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

  #patterns(): readonly CallPattern[] {
    return this.#leaves.length > 0 ? this.#leaves : this.#options.calls
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
    const expected = `none ${this.#patterns().map(patternText).join(', ')}${inChat(chat)} for ${formatDuration(forMs)}`
    if (this.#problem !== null) return createFailure('none', { code: 'unfillable', expected, happened: this.#problem })
    // There is no unwanted call, and there may be one that was not read.
    if (this.#unwanted === null) return evictedFailure(expected, this.#context.firstSeq)
    const call = this.#unwanted
    const { seq, endpoint } = call
    const afterMs = Math.round(call.readAt - this.#startMs)
    const when = `${offset(afterMs)}${afterMs < 0 ? ' (before this step, in the same turn)' : ''}`
    return createFailure('none', {
      code: 'unwanted_call',
      expected,
      happened: `${callText(call)} was called at ${when}, expected none for ${formatDuration(forMs)}`,
      details: { call: callReference(call), afterMs, forMs },
      rules: [ruleOf(endpoint)],
      nearest: [nearMiss({ seq, what: calledText(call), afterMs, differences: [] }, [])],
      entrySeqs: [seq],
      cause: unwantedCause(call),
    })
  }
}
