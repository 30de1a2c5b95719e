/**
 * Finds unclaimed calls that an earlier `expect` of the conversation explains: as one of several it allows, or as one
 * too many of it.
 */
import type { Expectation } from '../scenario/action.ts'
import { type Call, isLater } from './call.ts'
import type { Evaluation } from './evaluation.ts'
import type { ExpectEvaluator } from './expect.ts'
import { AVAILABILITY, type ConversationKey } from './journal-index.ts'
import { accepts } from './near-misses.ts'

/** One leaf of an `expect`, with its calls. */
export interface LeafCalls {
  readonly expect: ExpectEvaluator
  readonly leaf: Expectation
  readonly claimed: readonly Call[]
  /** Beyond what was needed, within what is allowed. */
  readonly surplus: Call[]
  /** Beyond what is allowed. */
  readonly excess: Call[]
}

/** The unclaimed calls that the `times` of an `expect` allows. */
export const surplusCalls = (evaluation: Evaluation, conversation: string): Set<Call> =>
  new Set(allotted(evaluation, [conversation, AVAILABILITY]).flatMap(({ surplus }) => surplus))

/** Assigns every unclaimed call of these conversations to the latest `expect` that would have claimed it. */
export function allotted(evaluation: Evaluation, conversations: readonly ConversationKey[]): LeafCalls[] {
  const all = [...evaluation.expects.values()].flatMap(leafCalls).reverse()
  const free = conversations
    .flatMap(conversation => evaluation.index.callsOf(conversation))
    .filter(call => isFree(evaluation, call))
  for (const call of free) {
    const fitting = all.filter(one => wouldClaim(evaluation, one, call))
    const roomy = fitting.find(({ leaf, claimed, surplus }) => claimed.length + surplus.length < leaf.times.max)
    if (roomy !== undefined) roomy.surplus.push(call)
    else fitting.find(one => isRepetition(evaluation, one, call))?.excess.push(call)
  }
  return all
}

const isFree = ({ claims }: Evaluation, call: Call) => claims.ownerOf(call) === null && !claims.isReported(call)

const leafCalls = (expect: ExpectEvaluator): LeafCalls[] =>
  expect.attempt.leaves.map(({ leaf, calls }) => ({ expect, leaf, claimed: calls, surplus: [], excess: [] }))

const wouldClaim = (evaluation: Evaluation, { expect, leaf, claimed }: LeafCalls, call: Call) =>
  claimed.length >= leaf.times.min && accepts({ ...expect.queryOf(leaf), floor: null, untilMs: null }, call, evaluation)

/** Of the same turn, or with the same body; another call of that kind much later is not a repetition. */
function isRepetition(evaluation: Evaluation, { expect, claimed }: LeafCalls, call: Call): boolean {
  const next = nextStimulus(evaluation, expect)
  if (next === null || call.readAt < next) return true
  const text = JSON.stringify(call.body)
  return claimed.some(one => JSON.stringify(one.body) === text && isLater(call, one))
}

function nextStimulus({ index, windows }: Evaluation, { step }: ExpectEvaluator): number | null {
  const starts = [...index.steps.values()].flatMap(later => {
    const turn = windows.turnStart(later)
    return later.number > step.number && later.conversation === step.conversation && (turn.step ?? 0) > step.number
      ? [turn.atMs]
      : []
  })
  return starts.length === 0 ? null : Math.min(...starts)
}
