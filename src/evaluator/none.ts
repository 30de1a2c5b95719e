/** Evaluates `none`: calls that must not arrive in the turn, for some time. */

import type { CallPattern, Expectation } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { type Call, callReference, ruleOf } from './call.ts'
import { accepts, type CallQuery, conversationOfQuery } from './near-misses.ts'
import { chatIn, patternRef } from './references.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  MET,
  openUntil,
  type StepEvaluator,
} from './step-evaluator.ts'

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

/** `isSurplus`: an earlier step of the conversation may still claim the call, as one of several. */
export function evaluateNone(
  context: EvaluationContext,
  step: PlannedStep,
  { calls: patterns, forMs }: { readonly calls: readonly CallPattern[]; readonly forMs: number },
  isSurplus: (call: Call) => boolean,
): StepEvaluator {
  const { index, claims, windows } = context
  const untilMs = index.startOf(step.number).at_ms + forMs
  const from = windows.turnStart(step)
  let unwanted: Call | null = null
  let unfillable: string | null = null
  let leaves: Expectation[] = []

  try {
    const scope = context.scopeOf(step.number)
    leaves = patterns.map(({ call, body }) =>
      asExpectation({ call, body: body === null ? null : interpolate(body, scope) }),
    )
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    unfillable = error.message
  }

  const queryOf = (leaf: Expectation): CallQuery => ({
    leaf,
    step: step.number,
    conversation: step.conversation,
    from,
    floor: null,
    untilMs,
  })
  const calls = () => (leaves.length > 0 ? leaves : patterns).map(patternRef)

  function consider(): void {
    if (unwanted !== null) return
    for (const leaf of leaves) {
      const arrived = index.callsOf(conversationOfQuery({ conversation: step.conversation, leaf }))
      const call = arrived.find(one => accepts(queryOf(leaf), one, context) && !isSurplus(one))
      if (call === undefined) continue
      unwanted = call
      claims.report(call)
      return
    }
  }

  function failure(): FailureDetails {
    const chat = chatIn(index.plan, step.conversation)
    const common = { kind: 'none', expected: { code: 'no_calls', calls: calls(), forMs, chat } } as const
    if (unwanted === null) {
      const happened = { code: 'unfillable', message: unfillable ?? '' } as const
      return { ...common, happened, rules: [], nearest: [], marks: [] }
    }
    const afterMs = Math.round(unwanted.readAt - index.startOf(step.number).at_ms)
    const call = callReference(unwanted)
    return {
      ...common,
      happened: { code: 'unwanted_call', call, afterMs, forMs },
      rules: [ruleOf(unwanted.endpoint)],
      nearest: [{ seq: call.seq, subject: { code: 'call', ...call }, afterMs, obstacles: [], differences: [] }],
      marks: [call.seq],
    }
  }

  return {
    step,
    consider,
    status: nowMs => {
      if (unwanted !== null || unfillable !== null) return FAILED
      return openUntil(nowMs, untilMs, MET, { code: 'silence', forMs, calls: calls() })
    },
    close() {},
    failure,
  }
}
