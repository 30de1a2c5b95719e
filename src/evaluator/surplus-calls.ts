/**
 * Calls nobody claimed that an earlier `expect` of the lane still explains: as one of several it allows, or as one too
 * many of it.
 */
import type { Expectation } from '../scenario/action.ts'
import { type Call, isLater } from './call.ts'
import type { Evaluation } from './evaluation.ts'
import type { ExpectEvaluator } from './expect.ts'
import { AVAILABILITY, type ConversationKey } from './journal-index.ts'
import { takes } from './near-misses.ts'

/** One leaf of an `expect`, with what came of it. */
export interface Taken {
  readonly watch: ExpectEvaluator
  readonly leaf: Expectation
  readonly claimed: readonly Call[]
  /** Beyond what was needed, within what is allowed. */
  readonly surplus: Call[]
  /** Beyond what is allowed. */
  readonly excess: Call[]
}

/** The calls that are within the bounds of a `times`. */
export const surplusCalls = (evaluation: Evaluation, conversation: string): Set<Call> =>
  new Set(allotted(evaluation, [conversation, AVAILABILITY]).flatMap(({ surplus }) => surplus))

/** Every unclaimed call of these lanes, given to the latest `expect` that would have taken it. */
export function allotted(evaluation: Evaluation, conversations: readonly ConversationKey[]): Taken[] {
  const all = [...evaluation.expects.values()].flatMap(leavesTaken).reverse()
  const free = conversations
    .flatMap(conversation => evaluation.index.callsOf(conversation))
    .filter(call => isFree(evaluation, call))
  for (const call of free) {
    const fitting = all.filter(taken => wouldTake(evaluation, taken, call))
    const roomy = fitting.find(({ leaf, claimed, surplus }) => claimed.length + surplus.length < leaf.times.max)
    if (roomy !== undefined) roomy.surplus.push(call)
    else fitting.find(taken => isRepetition(evaluation, taken, call))?.excess.push(call)
  }
  return all
}

const isFree = ({ claims }: Evaluation, call: Call) => claims.ownerOf(call) === null && !claims.isReported(call)

const leavesTaken = (watch: ExpectEvaluator): Taken[] =>
  (watch.attempt?.alternative.leaves ?? []).map((leaf, at) => ({
    watch,
    leaf,
    claimed: watch.attempt!.taken[at]!,
    surplus: [],
    excess: [],
  }))

const wouldTake = (evaluation: Evaluation, { watch, leaf, claimed }: Taken, call: Call) =>
  claimed.length >= leaf.times.min && takes({ ...watch.wantedOf(leaf), floor: null, untilMs: null }, call, evaluation)

/** Of the same turn, or the same words again; another call of that kind much later is a matter of its own. */
function isRepetition(evaluation: Evaluation, { watch, claimed }: Taken, call: Call): boolean {
  const next = nextStimulus(evaluation, watch)
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
