/** `never`: calls that must not come at any time of the play. */
import type { CallPattern } from '../scenario/action.ts'
import { fill, Unfillable } from '../scenario/interpolation.ts'
import type { AttributedFailure } from './attributed-failure.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Evaluation } from './evaluation.ts'
import { AVAILABILITY } from './journal-index.ts'
import { fits } from './matching/match.ts'
import { scopeFor } from './scope.ts'
import { listed, offset, patternText } from './wording.ts'

export const brokenInvariants = (evaluation: Evaluation): AttributedFailure[] =>
  evaluation.index.plan.never.flatMap(pattern => ofPattern(evaluation, pattern))

function ofPattern(evaluation: Evaluation, pattern: CallPattern): AttributedFailure[] {
  const { index } = evaluation
  const calls = index.calls.filter(call => isMeant(evaluation, pattern, call))
  const [first] = calls
  if (first === undefined) return []
  const conversation = index.conversationOf(first)
  const seqs = calls.map(({ seq }) => seq)
  const more = calls.length === 1 ? '' : `, and ${calls.length - 1} more (${listed(seqs.slice(1))})`
  return [
    {
      at: first.seq,
      step: null,
      conversation: conversation === AVAILABILITY ? null : conversation,
      severity: 'fail',
      rule: 'never',
      told: {
        kind: 'never',
        wanted: `never ${patternText(filledFor(evaluation, pattern, first))}`,
        happened: `${shortName(first)} came at ${offset(first.readAt - (index.started?.at_ms ?? 0))}${more}`,
        rules: [ruleOf(first.endpoint)],
        nearest: [],
        marks: seqs,
      },
    },
  ]
}

/** With the values of the chat the call is about. Throws `Unfillable`. */
function filledFor({ index, captures }: Evaluation, pattern: CallPattern, call: Call): CallPattern {
  const conversation = index.conversationOf(call)
  const own = typeof conversation === 'string' ? conversation : (index.plan.conversations[0]?.name ?? '')
  return { ...pattern, body: pattern.body === null ? null : fill(pattern.body, scopeFor(index, captures, own)) }
}

function isMeant(evaluation: Evaluation, { call: name, body }: CallPattern, call: Call): boolean {
  const { index, options } = evaluation
  if (call.endpoint === null || (name !== 'any' && call.endpoint !== name)) return false
  if (index.ended !== null && call.readAt > index.ended.at_ms) return false
  const conversation = index.conversationOf(call)
  if (conversation === null || body === null) return conversation !== null
  try {
    return fits(filledFor(evaluation, { call: name, body }, call).body, call.body, options)
  } catch (error) {
    // A value that was never captured: there was nothing it could have been like.
    if (error instanceof Unfillable) return false
    throw error
  }
}
