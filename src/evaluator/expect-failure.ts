/** What to tell about an `expect` that was not met. */

import type { Expectation, ExpectTree } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { counted } from '../text/counted.ts'
import { formatDuration } from '../text/duration.ts'
import { leavesOf } from './assignment.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Attempt, Close } from './expect.ts'
import { conversationOfWanted, type Miss, nearMissesOf, shown, type Wanted } from './near-misses.ts'
import { notTakenHint, unreachableReason } from './reachability.ts'
import type { EvaluationContext, FailureDetails } from './step-evaluator.ts'
import type { Deadline } from './windows.ts'
import { differenceText, inConversation, listed, offset, requirementText, seconds, stepName } from './wording.ts'

const OPS = { all: 'all of', seq: 'in this order', oneOf: 'one of' } as const

const treeText = (tree: ExpectTree): string =>
  tree.op === 'call' ? requirementText(tree) : `${OPS[tree.op]} [${tree.of.map(treeText).join(', ')}]`

const rulesOf = (leaves: readonly Expectation[]): string[] => [
  ...new Set(leaves.flatMap(({ call }) => (call === 'any' ? [] : [ruleOf(call)]))),
]

/** It cannot be judged: a name that leads nowhere, a capture of what is not there. */
export const unusable = (tree: ExpectTree, why: string, call?: Call): FailureDetails => ({
  kind: 'expect',
  wanted: `expect ${treeText(tree)}`,
  happened: why,
  rules: rulesOf(leavesOf(tree)),
  nearest: [],
  marks: call === undefined ? [] : [call.seq],
})

export function tooClose({ leaf, first, second }: Close): FailureDetails {
  const gap = seconds(second.readAt - first.readAt)
  return {
    kind: 'times',
    wanted: `expect ${requirementText(leaf)}`,
    happened: `#${first.seq} and #${second.seq} are only ${gap} apart, ${formatDuration(leaf.apartMs!)} wanted`,
    rules: rulesOf([leaf]),
    nearest: [],
    marks: [first.seq, second.seq],
  }
}

export interface Unmet {
  readonly step: PlannedStep
  readonly tree: ExpectTree
  readonly deadline: Deadline
  readonly attempt: Attempt
  wantedOf(leaf: Expectation): Wanted
}

export function missingCall(context: EvaluationContext, unmet: Unmet): FailureDetails {
  const { step, tree, deadline, attempt, wantedOf } = unmet
  const leaves = attempt.alternative.leaves
  const at = leaves.findIndex((leaf, index) => attempt.taken[index]!.length < leaf.times.min)
  const leaf = leaves[at]!
  const endMs = context.index.endOf(step.number)?.at_ms ?? null
  const nearMisses = nearMissesOf(context, wantedOf(leaf), attempt.taken.flat(), endMs)
  const many = context.index.plan.conversations.length > 1
  return {
    kind: 'expect',
    wanted: `expect ${treeText(tree)}${inConversation(step.conversation, many)} ${deadline.text}`,
    happened: happenedText(context, unmet, leaf, attempt.taken[at]!, nearMisses[0]),
    rules: rulesOf([leaf]),
    nearest: nearMisses.map(shown),
    marks: marksOf(context, nearMisses[0], step),
    ...hintOf(context, nearMisses[0], step),
  }
}

function happenedText(
  context: EvaluationContext,
  { tree, step }: Unmet,
  leaf: Expectation,
  taken: readonly Call[],
  miss: Miss | undefined,
): string {
  const near = miss !== undefined && !miss.obstacles.includes('call') && !miss.obstacles.includes('claimed')
  const parts = near
    ? [tree.op === 'call' ? '' : `${requirementText(leaf)} is missing`, soFar(leaf, taken), nearestText(miss)]
    : [soFar(leaf, taken), taken.length > 0 && miss === undefined ? '' : nothingCame(context, step, leaf, miss)]
  return parts.filter(part => part !== '').join('; ')
}

function soFar({ times }: Expectation, taken: readonly Call[]): string {
  if (times.min === 1) return ''
  return `${taken.length} of ${times.min} came${taken.length > 0 ? ` (${listed(taken.map(({ seq }) => seq))})` : ''}`
}

function nearestText(miss: Miss): string {
  const [first, ...more] = miss.differences
  const reason = first === undefined || miss.obstacles.length > 1 ? miss.why : differenceText(first)
  const others = first === undefined || more.length === 0 ? '' : ` and ${counted(more.length, 'more difference')}`
  return `nearest: ${shortName(miss.call)} ${offset(miss.afterMs)}: ${reason}${others}`
}

/** Nothing that could have been it; what there is instead helps to see where things went another way. */
function nothingCame(
  { index }: EvaluationContext,
  step: PlannedStep,
  leaf: Expectation,
  other: Miss | undefined,
): string {
  const what = leaf.call === 'any' ? 'call' : leaf.call
  const gone = unreachableReason(index)
  if (gone !== null) return gone
  if (index.calls.length === 0) return 'the intermediary made no call for this scenario'
  if (other?.obstacles.includes('claimed')) return `no other ${what} came: ${shortName(other.call)} is ${other.why}`
  if (other !== undefined) return `no ${what} came; what came is ${shortName(other.call)} ${offset(other.afterMs)}`
  const last = index.callsOf(conversationOfWanted({ conversation: step.conversation, leaf })).at(-1)
  return last === undefined ? `no ${what} came` : `no ${what} came; the last call was ${shortName(last)}`
}

function marksOf({ index }: EvaluationContext, miss: Miss | undefined, { number }: PlannedStep): number[] {
  const mark = miss?.seq ?? index.endOf(number)?.seq
  return mark === undefined ? [] : [mark]
}

const HINTS: Partial<Record<Miss['obstacles'][number], string>> = {
  late: 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
  earlier: 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].',
  before: 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
  key: 'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.',
  chat: 'Is the chat id taken from the event that belongs to this conversation?',
}

function hintOf(context: EvaluationContext, miss: Miss | undefined, step: PlannedStep): { hint?: string } {
  const claimed = miss?.obstacles.includes('claimed') === true
  const chief = claimed ? undefined : miss?.obstacles.find(name => name in HINTS)
  const hint =
    (isAnother(miss) ? notTakenHint(context, step) : null) ??
    noEventHint(context, miss, step) ??
    noCallHint(context) ??
    (chief && HINTS[chief])
  return hint === undefined ? {} : { hint }
}

/** Nothing came that could have been it. */
const isAnother = (miss: Miss | undefined): boolean => miss === undefined || miss.obstacles.includes('call')

function noCallHint({ index }: EvaluationContext): string | null {
  if (index.calls.length > 0 || unreachableReason(index) !== null) return null
  const url = index.started?.sim.url
  return `Does the intermediary know the address of the platform${typeof url === 'string' ? ` (${url})` : ''}?`
}

/** A press while the handover is closed, a message while the bot has the chat. */
function noEventHint({ index, windows }: EvaluationContext, miss: Miss | undefined, step: PlannedStep): string | null {
  const stimulus = index.steps.get(windows.stimulus(step).step ?? 0)
  if (stimulus === undefined || !isAnother(miss)) return null
  const ended = index.endOf(stimulus.number)
  const due = stimulus.action.verb === 'press' || stimulus.action.verb === 'user'
  if (!due || ended === null || ended.delivery_id) return null
  const why =
    stimulus.action.verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'
  return `${stepName(stimulus)} caused no webhook event: ${why}`
}
