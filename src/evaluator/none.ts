/** `none`: calls that must not come in the turn, watched for a while. */

import type { CallPattern, Expectation } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import { type Call, nameOf, ruleOf, shortName } from './call.ts'
import { conversationOfWanted, takes, type Wanted } from './near-misses.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  MET,
  type StepEvaluator,
  until,
} from './step-evaluator.ts'
import { inConversation, offset, patternText } from './wording.ts'

/** A pattern asks nothing about how often, by which path or by which way. */
export const asExpectation = (pattern: CallPattern): Expectation => ({
  ...pattern,
  times: { min: 1, max: Number.POSITIVE_INFINITY },
  apartMs: null,
  since: null,
  alias: null,
  auth: 'valid',
  capture: {},
})

/** `isSpare`: an earlier step of the lane may still have it, as one of several. */
export function evaluateNone(
  context: EvaluationContext,
  step: PlannedStep,
  { calls: patterns, forMs }: { readonly calls: readonly CallPattern[]; readonly forMs: number },
  isSurplus: (call: Call) => boolean,
): StepEvaluator {
  const { index, claims, windows } = context
  const untilMs = index.begun(step.number)!.at_ms + forMs
  const from = windows.turnStart(step)
  let unwanted: { readonly call: Call; readonly pattern: CallPattern } | null = null
  let broken: string | null = null
  let leaves: Expectation[] = []

  try {
    const scope = context.scopeOf(step.number)
    leaves = patterns.map(({ call, body }) =>
      asExpectation({ call, body: body === null ? null : interpolate(body, scope) }),
    )
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    broken = error.message
  }

  const wantedOf = (leaf: Expectation): Wanted => ({
    leaf,
    step: step.number,
    conversation: step.conversation,
    from,
    floor: null,
    untilMs,
  })
  const text = () => `none ${(leaves.length > 0 ? leaves : patterns).map(one => patternText(one)).join(', ')}`

  function consider(): void {
    if (unwanted !== null) return
    for (const leaf of leaves) {
      const calls = index.callsOf(conversationOfWanted({ conversation: step.conversation, leaf }))
      const call = calls.find(one => takes(wantedOf(leaf), one, context) && !isSurplus(one))
      if (call === undefined) continue
      unwanted = { call, pattern: leaf }
      claims.report(call)
      return
    }
  }

  function told(): FailureDetails {
    const many = index.plan.conversations.length > 1
    const wanted = `${text()}${inConversation(step.conversation, many)} for ${formatDuration(forMs)}`
    const common = { kind: 'none' as const, wanted }
    if (unwanted === null) return { ...common, happened: broken ?? '', rules: [], nearest: [], marks: [] }
    const { call } = unwanted
    const afterMs = Math.round(call.readAt - index.begun(step.number)!.at_ms)
    const early = afterMs < 0 ? ' (before this step, in the same turn)' : ''
    const why = 'came, and no step claimed it'
    return {
      ...common,
      happened: `${shortName(call)} came at ${offset(afterMs)}${early}`,
      rules: [ruleOf(call.endpoint)],
      nearest: [{ seq: call.seq, what: nameOf(call), afterMs, why, differences: [] }],
      marks: [call.seq],
    }
  }

  return {
    step,
    consider,
    look: nowMs => {
      if (unwanted !== null || broken !== null) return FAILED
      return until(nowMs, untilMs, MET, `${formatDuration(forMs)} without ${text().slice('none '.length)}`)
    },
    close() {},
    failure: told,
  }
}
