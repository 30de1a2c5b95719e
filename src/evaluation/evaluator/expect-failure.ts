/** Explains why an `expect` was not met. */

import type { Expectation, ExpectTree, PlannedStep } from '../scenario/plan.ts'
import { leavesOf } from './assignment.ts'
import { refusedEventHint, unreachableReason } from './deliveries.ts'
import type { Expected, FailureHint, Happened, NoCallDetail, ObstacleCode } from './failure.ts'
import { type Call, callReference, ruleOf } from './journal-index.ts'
import { type CallMiss, type CallQuery, callMisses, conversationOfQuery, has, nearMissOf } from './near-misses.ts'
import { chatIn, requirementRef, requirementTree, stepName } from './references.ts'
import { type EvaluationContext, type FailureDetails, failureDetails } from './step-evaluator.ts'
import type { Deadline } from './windows.ts'

/** One leaf of an `expect`, and the calls that it claims. */
export interface AttemptedLeaf {
  readonly leaf: Expectation
  readonly calls: readonly Call[]
}

/** One alternative of an `expect`, with the calls of each of its leaves. */
export interface Attempt {
  readonly met: boolean
  readonly leaves: readonly AttemptedLeaf[]
}

export const claimedCalls = ({ leaves }: Attempt): Call[] => leaves.flatMap(({ calls }) => calls)

/** Whether the leaf needs more calls. */
export const isMissing = ({ leaf, calls }: AttemptedLeaf): boolean => calls.length < leaf.times.min

/** Two calls of one leaf that follow each other too fast. */
export interface ClosePair {
  readonly leaf: Expectation
  readonly first: Call
  readonly second: Call
}

const rulesOf = (leaves: readonly Expectation[]): string[] => [
  ...new Set(leaves.flatMap(({ call }) => (call === 'any' ? [] : [ruleOf(call)]))),
]

const expectedCalls = (tree: ExpectTree): Expected => ({
  code: 'calls',
  tree: requirementTree(tree),
  chat: null,
  within: null,
})

/** An `expect` that cannot be evaluated: a `$(...)` without a value, or a capture of a missing field. */
export const unusable = (tree: ExpectTree, happened: Happened, call?: Call): FailureDetails =>
  failureDetails('expect', expectedCalls(tree), happened, {
    rules: rulesOf(leavesOf(tree)),
    entrySeqs: call === undefined ? [] : [call.seq],
  })

export function tooClose({ leaf, first, second }: ClosePair): FailureDetails {
  const seqs = [first.seq, second.seq] as const
  const gapMs = second.readAt - first.readAt
  const happened = { code: 'calls_too_close', requirement: requirementRef(leaf), seqs, gapMs } as const
  const more = { rules: rulesOf([leaf]), entrySeqs: seqs }
  return failureDetails('times', expectedCalls({ op: 'call', ...leaf }), happened, more)
}

export interface Unmet {
  readonly step: PlannedStep
  readonly tree: ExpectTree
  readonly deadline: Deadline
  readonly attempt: Attempt
  queryOf(leaf: Expectation): CallQuery
}

export function missingCall(context: EvaluationContext, unmet: Unmet): FailureDetails {
  const { step, tree, deadline, attempt, queryOf } = unmet
  const missing = attempt.leaves.find(isMissing)
  if (missing === undefined) throw new Error(`Failed to explain step ${step.number}: no call is missing.`)
  const { leaf } = missing
  const ended = context.index.endOf(step.number)
  const misses = callMisses(context, queryOf(leaf), claimedCalls(attempt), ended?.at_ms ?? null)
  const [best] = misses
  const mark = best?.call.seq ?? ended?.seq
  const hint = hintOf(context, best, step)
  const chat = chatIn(context.index.plan, step.conversation)
  const expected = { code: 'calls', tree: requirementTree(tree), within: deadline.within, chat } as const
  return failureDetails('expect', expected, happenedInstead(context, unmet, missing, best), {
    rules: rulesOf([leaf]),
    nearest: misses.map(nearMissOf),
    entrySeqs: mark === undefined ? [] : [mark],
    ...(hint && { hint }),
  })
}

function happenedInstead(
  context: EvaluationContext,
  { step, deadline }: Unmet,
  { leaf, calls }: AttemptedLeaf,
  miss: CallMiss | undefined,
): Happened {
  const common = {
    requirement: requirementRef(leaf),
    progress: leaf.times.min === 1 ? null : { min: leaf.times.min, seqs: calls.map(({ seq }) => seq) },
  }
  if (miss !== undefined && !has(miss, 'call', 'claimed')) {
    const { call, afterMs, obstacles, differences } = miss
    return { code: 'no_matching_call', ...common, call: callReference(call), afterMs, obstacles, differences }
  }
  const detail = calls.length > 0 && miss === undefined ? null : detailOf(context, step, leaf, miss)
  return { code: 'no_call', ...common, withinMs: deadline.within.ms, detail }
}

/** What arrived instead shows where things went another way. */
function detailOf(
  { index }: EvaluationContext,
  step: PlannedStep,
  leaf: Expectation,
  other: CallMiss | undefined,
): NoCallDetail {
  const failure = unreachableReason(index)
  if (failure !== null) return { code: 'unreachable', failure }
  if (index.calls.length === 0) return { code: 'no_call_at_all' }
  const claimed = other?.obstacles.find(({ code }) => code === 'claimed' || code === 'call')
  if (other !== undefined && claimed?.code === 'claimed')
    return { code: 'claimed', call: callReference(other.call), step: claimed.step }
  if (other !== undefined) return { code: 'other_call', call: callReference(other.call), afterMs: other.afterMs }
  const last = index.callsOf(conversationOfQuery({ conversation: step.conversation, leaf })).at(-1)
  return last === undefined ? { code: 'nothing' } : { code: 'last_call', call: callReference(last) }
}

const HINTS: Readonly<Partial<Record<ObstacleCode, FailureHint>>> = {
  late: { code: 'allow_time' },
  earlier: { code: 'any_order' },
  before: { code: 'since' },
  key: { code: 'bearer_key' },
  chat: { code: 'chat_id' },
}

function hintOf(context: EvaluationContext, miss: CallMiss | undefined, step: PlannedStep): FailureHint | undefined {
  const claimed = miss !== undefined && has(miss, 'claimed')
  const chief = claimed ? undefined : miss?.obstacles.find(({ code }) => code in HINTS)?.code
  return (
    (isOtherCall(miss) ? refusedEventHint(context, step) : null) ??
    noEventHint(context, miss, step) ??
    noCallHint(context) ??
    (chief && HINTS[chief])
  )
}

/** No call arrived that could have been the expected one. */
const isOtherCall = (miss: CallMiss | undefined): boolean => miss === undefined || has(miss, 'call')

function noCallHint({ index }: EvaluationContext): FailureHint | null {
  if (index.calls.length > 0 || unreachableReason(index) !== null) return null
  const url = index.started?.sim.url
  return { code: 'platform_address', url: typeof url === 'string' ? url : null }
}

/** A press while the handover is closed, or a message while the bot has the chat, causes no event. */
function noEventHint(
  { index, windows }: EvaluationContext,
  miss: CallMiss | undefined,
  step: PlannedStep,
): FailureHint | null {
  const stimulus = index.steps.get(windows.stimulus(step).step ?? 0)
  if (stimulus === undefined || !isOtherCall(miss)) return null
  const ended = index.endOf(stimulus.number)
  const { verb } = stimulus.action
  if ((verb !== 'press' && verb !== 'user') || ended === null || ended.delivery_id) return null
  return { code: 'no_event', step: stepName(stimulus), verb }
}
