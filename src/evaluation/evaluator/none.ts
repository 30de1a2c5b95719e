/** Evaluates `none`: calls that must not arrive in the turn, for some time. */

import { formatDuration } from '../../base/text/quantities.ts'
import { createFailure, type FailureDetails } from '../finding.ts'
import type { Action, CallPattern, Expectation } from '../scenario/plan.ts'
import { accepts, calledText, conversationOfQuery, type Moment, nearMiss, unwantedCause } from './claims.ts'
import { callReference, type IndexedCall, ruleOf } from './journal-index.ts'
import {
  type EvaluatedStep,
  evictedFailure,
  FAILED,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { type CallReview, surplusCalls } from './unclaimed-calls.ts'
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

type NoneAction = Extract<Action, { verb: 'none' }>

export class NoneEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  readonly #context: CallReview
  readonly #forMs: number
  readonly #startMs: number
  readonly #from: Moment
  readonly #isComplete: boolean
  readonly #leaves: readonly Expectation[]
  readonly #problem: string | null
  #unwanted: IndexedCall | null = null

  constructor(context: CallReview, step: EvaluatedStep, { calls, forMs }: Pick<NoneAction, 'calls' | 'forMs'>) {
    this.step = step
    this.#context = context
    this.#forMs = forMs
    this.#startMs = context.windows.getStart(step).at_ms
    this.#from = context.windows.turnStart(step)
    this.#isComplete = context.windows.isTurnComplete(step)
    const { value, problem } = context.fill(step, calls)
    this.#leaves = value.map(asExpectation)
    this.#problem = problem
  }

  consider(): void {
    if (this.#unwanted !== null || this.#problem !== null) return
    const { number, conversation } = this.step
    const untilMs = this.#startMs + this.#forMs
    for (const leaf of this.#leaves) {
      const query = { leaf, step: number, conversation, from: this.#from, floor: null, untilMs }
      const calls = this.#context.index.callsOf(conversationOfQuery(query))
      const unwanted = calls.find(
        call =>
          accepts(query, call, this.#context) &&
          // An earlier step of the conversation may still claim it, as one of several.
          !surplusCalls(this.#context, conversation).has(call),
      )
      if (unwanted === undefined) continue
      this.#unwanted = unwanted
      this.#context.claims.report(unwanted)
      return
    }
  }

  status(nowMs: number): StepStatus {
    if (this.#unwanted !== null || this.#problem !== null || !this.#isComplete) return FAILED
    const untilMs = this.#startMs + this.#forMs
    if (nowMs >= untilMs) return MET
    return { state: 'open', untilMs, awaited: { code: 'silence', forMs: this.#forMs, calls: this.#leaves } }
  }

  close(): void {}

  failure(): FailureDetails {
    const forMs = this.#forMs
    const chat = this.#context.chatName(this.step.conversation)
    const expected = `none ${this.#leaves.map(patternText).join(', ')}${inChat(chat)} for ${formatDuration(forMs)}`
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
