/** What to tell about an `expect` that was not met. */
import { counted } from '../../text/counted.ts'
import { formatDuration } from '../../text/duration.ts'
import type { Expectation, ExpectTree } from '../action.ts'
import type { PlannedStep } from '../plan.ts'
import { type Call, ruleOf, shortName } from './call.ts'
import type { Deadline } from './deadline.ts'
import type { Attempt, Close } from './expect.ts'
import { laneOfWanted, type Wanted } from './fit.ts'
import { goneText } from './home.ts'
import { type Miss, missesOf, shown } from './misses.ts'
import { notTakenHint } from './not-taken.ts'
import { leavesOf } from './tree.ts'
import type { Bench, Told } from './watch.ts'
import { differenceText, inLane, listed, offset, seconds, stepName, wishText } from './words.ts'

const OPS = { all: 'all of', seq: 'in this order', oneOf: 'one of' } as const

const treeText = (tree: ExpectTree): string =>
  tree.op === 'call' ? wishText(tree) : `${OPS[tree.op]} [${tree.of.map(treeText).join(', ')}]`

const rulesOf = (leaves: readonly Expectation[]): string[] => [
  ...new Set(leaves.flatMap(({ call }) => (call === 'any' ? [] : [ruleOf(call)]))),
]

/** It cannot be judged: a name that leads nowhere, a capture of what is not there. */
export const unusable = (tree: ExpectTree, why: string, call?: Call): Told => ({
  kind: 'expect',
  wanted: `expect ${treeText(tree)}`,
  happened: why,
  rules: rulesOf(leavesOf(tree)),
  nearest: [],
  marks: call === undefined ? [] : [call.seq],
})

export function tooClose({ leaf, first, second }: Close): Told {
  const gap = seconds(second.readAt - first.readAt)
  return {
    kind: 'times',
    wanted: `expect ${wishText(leaf)}`,
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

export function missingCall(bench: Bench, unmet: Unmet): Told {
  const { step, tree, deadline, attempt, wantedOf } = unmet
  const leaves = attempt.way.leaves
  const at = leaves.findIndex((leaf, index) => attempt.taken[index]!.length < leaf.times.min)
  const leaf = leaves[at]!
  const endMs = bench.facts.endOf(step.number)?.at_ms ?? null
  const misses = missesOf(bench, wantedOf(leaf), attempt.taken.flat(), endMs)
  const many = bench.facts.plan.lanes.length > 1
  return {
    kind: 'expect',
    wanted: `expect ${treeText(tree)}${inLane(step.lane, many)} ${deadline.text}`,
    happened: happenedText(bench, unmet, leaf, attempt.taken[at]!, misses[0]),
    rules: rulesOf([leaf]),
    nearest: misses.map(shown),
    marks: marksOf(bench, misses[0], step),
    ...hintOf(bench, misses[0], step),
  }
}

function happenedText(
  bench: Bench,
  { tree, step }: Unmet,
  leaf: Expectation,
  taken: readonly Call[],
  miss: Miss | undefined,
): string {
  const near = miss !== undefined && !miss.obstacles.includes('call') && !miss.obstacles.includes('claimed')
  const parts = near
    ? [tree.op === 'call' ? '' : `${wishText(leaf)} is missing`, soFar(leaf, taken), nearestText(miss)]
    : [soFar(leaf, taken), taken.length > 0 && miss === undefined ? '' : nothingCame(bench, step, leaf, miss)]
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
function nothingCame({ facts }: Bench, step: PlannedStep, leaf: Expectation, other: Miss | undefined): string {
  const what = leaf.call === 'any' ? 'call' : leaf.call
  const gone = goneText(facts)
  if (gone !== null) return gone
  if (facts.calls.length === 0) return 'the intermediary made no call for this scenario'
  if (other?.obstacles.includes('claimed')) return `no other ${what} came: ${shortName(other.call)} is ${other.why}`
  if (other !== undefined) return `no ${what} came; what came is ${shortName(other.call)} ${offset(other.afterMs)}`
  const last = facts.callsOf(laneOfWanted({ lane: step.lane, leaf })).at(-1)
  return last === undefined ? `no ${what} came` : `no ${what} came; the last call was ${shortName(last)}`
}

function marksOf({ facts }: Bench, miss: Miss | undefined, { number }: PlannedStep): number[] {
  const mark = miss?.seq ?? facts.endOf(number)?.seq
  return mark === undefined ? [] : [mark]
}

const HINTS: Partial<Record<Miss['obstacles'][number], string>> = {
  late: 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
  earlier: 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].',
  before: 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
  key: 'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.',
  chat: 'Is the chat id taken from the event that belongs to this conversation?',
}

function hintOf(bench: Bench, miss: Miss | undefined, step: PlannedStep): { hint?: string } {
  const claimed = miss?.obstacles.includes('claimed') === true
  const chief = claimed ? undefined : miss?.obstacles.find(name => name in HINTS)
  const hint =
    (isAnother(miss) ? notTakenHint(bench, step) : null) ??
    noEventHint(bench, miss, step) ??
    noCallHint(bench) ??
    (chief && HINTS[chief])
  return hint === undefined ? {} : { hint }
}

/** Nothing came that could have been it. */
const isAnother = (miss: Miss | undefined): boolean => miss === undefined || miss.obstacles.includes('call')

function noCallHint({ facts }: Bench): string | null {
  if (facts.calls.length > 0 || goneText(facts) !== null) return null
  const url = facts.started?.sim.url
  return `Does the intermediary know the address of the platform${typeof url === 'string' ? ` (${url})` : ''}?`
}

/** A press while the handover is closed, a message while the bot has the chat. */
function noEventHint({ facts, windows }: Bench, miss: Miss | undefined, step: PlannedStep): string | null {
  const stimulus = facts.steps.get(windows.stimulus(step).step ?? 0)
  if (stimulus === undefined || !isAnother(miss)) return null
  const ended = facts.endOf(stimulus.number)
  const due = stimulus.action.verb === 'press' || stimulus.action.verb === 'user'
  if (!due || ended === null || ended.delivery_id) return null
  const why =
    stimulus.action.verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'
  return `${stepName(stimulus)} caused no webhook event: ${why}`
}
