/** `never`: calls that must not come at any time of the play. */
import type { CallPattern } from '../action.ts'
import { fill, Unfillable } from '../fill.ts'
import { fits } from '../match/match.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Charge } from './charge.ts'
import { AVAILABILITY } from './facts.ts'
import type { Court } from './referee.ts'
import { scopeFor } from './scope.ts'
import { listed, offset, patternText } from './words.ts'

export const brokenInvariants = (court: Court): Charge[] =>
  court.facts.plan.never.flatMap(pattern => ofPattern(court, pattern))

function ofPattern(court: Court, pattern: CallPattern): Charge[] {
  const { facts } = court
  const calls = facts.calls.filter(call => isMeant(court, pattern, call))
  const [first] = calls
  if (first === undefined) return []
  const lane = facts.laneOf(first)
  const seqs = calls.map(({ seq }) => seq)
  const more = calls.length === 1 ? '' : `, and ${calls.length - 1} more (${listed(seqs.slice(1))})`
  return [
    {
      at: first.seq,
      step: null,
      lane: lane === AVAILABILITY ? null : lane,
      severity: 'fail',
      rule: 'never',
      told: {
        kind: 'never',
        wanted: `never ${patternText(filledFor(court, pattern, first))}`,
        happened: `${shortName(first)} came at ${offset(first.readAt - (facts.started?.at_ms ?? 0))}${more}`,
        rules: [ruleOf(first.endpoint)],
        nearest: [],
        marks: seqs,
      },
    },
  ]
}

/** With the values of the chat the call is about. Throws `Unfillable`. */
function filledFor({ facts, captures }: Court, pattern: CallPattern, call: Call): CallPattern {
  const lane = facts.laneOf(call)
  const own = typeof lane === 'string' ? lane : (facts.plan.lanes[0]?.name ?? '')
  return { ...pattern, body: pattern.body === null ? null : fill(pattern.body, scopeFor(facts, captures, own)) }
}

function isMeant(court: Court, { call: name, body }: CallPattern, call: Call): boolean {
  const { facts, options } = court
  if (call.endpoint === null || (name !== 'any' && call.endpoint !== name)) return false
  if (facts.ended !== null && call.readAt > facts.ended.at_ms) return false
  const lane = facts.laneOf(call)
  if (lane === null || body === null) return lane !== null
  try {
    return fits(filledFor(court, { call: name, body }, call).body, call.body, options)
  } catch (error) {
    // A value that was never captured: there was nothing it could have been like.
    if (error instanceof Unfillable) return false
    throw error
  }
}
