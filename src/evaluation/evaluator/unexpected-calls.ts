/** Finds the calls that no step claims: too many of an expected call, unexpected ones, and those after the end. */

import { groupBy, isMap } from '../../base/objects.ts'
import type { Expectation, PlannedStep } from '../scenario/plan.ts'
import { flow, type Notation } from '../scenario/value-text.ts'
import { type AttributedFailure, type Evaluation, nameOfConversation, sinceStart } from './evaluation.ts'
import { closeOf, type ExpectEvaluator } from './expect.ts'
import { tooClose } from './expect-failure.ts'
import type { FailureHint, Happened, RequirementRef } from './failure.ts'
import { AVAILABILITY, type Call, type ConversationKey, callReference, isLater, ruleOf } from './journal-index.ts'
import { accepts } from './near-misses.ts'
import { chatIn, requirementRef } from './references.ts'
import { type FailureDetails, failureDetails } from './step-evaluator.ts'

/** `reported`: calls that another failure names already. */
export function unexpectedCalls(evaluation: Evaluation, reported: ReadonlySet<number>): AttributedFailure[] {
  const { index } = evaluation
  const conversations: ConversationKey[] = [...index.plan.conversations.map(({ name }) => name), AVAILABILITY]
  return conversations.flatMap(conversation => ofConversation(evaluation, conversation, reported))
}

function ofConversation(
  evaluation: Evaluation,
  conversation: ConversationKey,
  reported: ReadonlySet<number>,
): AttributedFailure[] {
  const { index, claims } = evaluation
  const leaves = allotted(evaluation, [conversation])
  const counted = new Set(leaves.flatMap(({ surplus, excess }) => [...surplus, ...excess]))
  const cut = cutOff(evaluation, conversation)
  const free = index.callsOf(conversation).filter(call => {
    const explained = claims.ownerOf(call) !== null || counted.has(call) || reported.has(call.seq)
    return !explained && call.readAt < cut && matters(evaluation, call)
  })
  const ended = index.ended?.at_ms ?? Number.POSITIVE_INFINITY
  // One failure for fifty calls of one endpoint.
  const groups = groupBy(
    free.filter(call => call.readAt <= ended),
    ({ endpoint }) => endpoint,
  )
  return [
    ...leaves.filter(one => one.excess.length > 0).flatMap(one => tooMany(evaluation, one, conversation, cut)),
    ...leaves.filter(one => one.surplus.length > 0).flatMap(one => tooCloseLater(one, conversation)),
    ...[...groups.values()].flatMap(calls => unexpected(evaluation, calls, conversation)),
    ...lateCalls(
      evaluation,
      free.filter(call => call.readAt > ended),
      conversation,
    ),
  ]
}

const matters = ({ index: { plan } }: Evaluation, { endpoint }: Call): boolean =>
  endpoint !== null &&
  !plan.strict.allow.includes(endpoint) &&
  (endpoint !== 'availability' || plan.mentionsAvailability)

/** From the turn of the first failure on, a conversation is not played to its end: later calls are no failures. */
function cutOff(evaluation: Evaluation, conversation: ConversationKey): number {
  const { index, windows } = evaluation
  const own = [...index.steps.values()].filter(
    step => conversation === AVAILABILITY || step.conversation === conversation,
  )
  const failed = own.filter(step => stopsConversation(evaluation, step)).map(step => windows.turnStart(step).atMs)
  return Math.min(Number.POSITIVE_INFINITY, ...failed)
}

const stopsConversation = (evaluation: Evaluation, step: PlannedStep): boolean =>
  !step.soft && evaluation.index.begun(step.number) !== null && evaluation.resultOf(step, true).outcome !== 'pass'

function tooMany(
  evaluation: Evaluation,
  { expect, leaf, claimed, surplus, excess }: LeafCalls,
  conversation: ConversationKey,
  cut: number,
): AttributedFailure[] {
  const { plan } = evaluation.index
  const once = leaf.times.min === 1 && leaf.times.max === 1
  const within = excess.filter(call => call.readAt < cut)
  const [first] = within
  if (first === undefined || (once && !within.every(call => matters(evaluation, call)))) return []
  const requirement = requirementRef(leaf)
  const name = nameOfConversation(conversation)
  const hint = repeatedHint(evaluation, claimed.at(-1), first)
  const details = failureDetails(
    'times',
    { code: 'call_count', requirement, chat: chatIn(plan, name) },
    tooManyCalls(requirement, [...claimed, ...surplus], first, within),
    {
      rules: leaf.call === 'any' ? [] : [ruleOf(leaf.call)],
      entrySeqs: within.map(({ seq }) => seq),
      ...(hint && { hint }),
    },
  )
  const severity = once ? plan.strict.unexpected : 'fail'
  return [{ at: first.seq, step: expect.step, conversation: name, severity, rule: 'too-many-calls', details }]
}

function tooManyCalls(
  requirement: RequirementRef,
  allowed: readonly Call[],
  first: Call,
  excess: readonly Call[],
): Happened {
  const last = allowed.at(-1)
  return {
    code: 'too_many_calls',
    requirement,
    seqs: [...allowed, ...excess].map(({ seq }) => seq).sort((a, b) => a - b),
    seq: first.seq,
    after: last === undefined ? null : { seq: last.seq, ms: Math.abs(first.readAt - last.readAt) },
  }
}

/** The step itself has judged the distances between the calls it claimed. */
function tooCloseLater(
  { expect, leaf, claimed, surplus }: LeafCalls,
  conversation: ConversationKey,
): AttributedFailure[] {
  const close = closeOf(leaf, [...claimed.slice(-1), ...surplus])
  if (close === null) return []
  const name = nameOfConversation(conversation)
  const [at, details] = [close.second.seq, tooClose(close)]
  return [{ at, step: expect.step, conversation: name, severity: 'fail', rule: 'too-close', details }]
}

/** A call whose answer was lost is repeated, and the platform cannot recognise the repetition. */
function repeatedHint(evaluation: Evaluation, first: Call | undefined, second: Call): FailureHint | undefined {
  if (first !== undefined && 'answer_lost' in first.entry) return { code: 'answer_lost' }
  const again = evaluation.index.entries.some(
    entry =>
      entry.kind === 'delivery' &&
      entry.attempt > 1 &&
      entry.seq < second.seq &&
      entry.chat_id === second.entry.chat_id,
  )
  return again ? { code: 'delivered_again' } : undefined
}

function unexpected(
  evaluation: Evaluation,
  calls: readonly Call[],
  conversation: ConversationKey,
): AttributedFailure[] {
  const [first] = calls
  if (first === undefined) return []
  const chat = chatIn(evaluation.index.plan, nameOfConversation(conversation))
  const afterMs = sinceStart(evaluation, first)
  return unclaimed(evaluation, calls, conversation, 'unexpected-call', {
    kind: 'unexpected',
    expected: { code: 'step_for_every_call', chat },
    happened: { code: 'unexpected_call', ...firstOf(calls, first), afterMs },
    hint: { code: 'allow_call', endpoint: first.endpoint },
  })
}

function lateCalls(evaluation: Evaluation, calls: readonly Call[], conversation: ConversationKey): AttributedFailure[] {
  const [first] = calls
  const { plan, ended } = evaluation.index
  if (first === undefined || ended === null) return []
  const lateMs = first.readAt - ended.at_ms
  return unclaimed(evaluation, calls, conversation, 'late-call', {
    kind: 'late',
    expected: { code: 'no_call_after_end', chat: chatIn(plan, nameOfConversation(conversation)) },
    happened: { code: 'call_after_end', ...firstOf(calls, first), lateMs },
    hint: { code: 'settle' },
  })
}

const firstOf = (calls: readonly Call[], first: Call) => ({
  call: callReference(first),
  body: bodyWithoutIds(first),
  others: calls.slice(1).map(({ seq }) => seq),
})

const unclaimed = (
  { index }: Evaluation,
  calls: readonly Call[],
  conversation: ConversationKey,
  rule: string,
  { kind, expected, happened, hint }: Pick<FailureDetails, 'kind' | 'expected' | 'happened' | 'hint'>,
): AttributedFailure[] =>
  calls.slice(0, 1).map(({ seq, endpoint }) => ({
    at: seq,
    step: null,
    conversation: nameOfConversation(conversation),
    severity: index.plan.strict.unexpected,
    rule,
    details: failureDetails(kind, expected, happened, {
      rules: [ruleOf(endpoint)],
      entrySeqs: calls.map(call => call.seq),
      hint,
    }),
  }))

const LONGEST_BODY = 60

/** Ids say nothing to a reader; null when nothing else is in the body. */
function bodyWithoutIds({ body }: Call): Notation | null {
  if (!isMap(body)) return flow(body, LONGEST_BODY)
  const { bot_id: _, chat_id: __, ...rest } = body
  return Object.keys(rest).length === 0 ? null : flow(rest, LONGEST_BODY)
}

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
function allotted(evaluation: Evaluation, conversations: readonly ConversationKey[]): LeafCalls[] {
  const all = [...evaluation.expects.values()].flatMap(leafCalls).reverse()
  const free = conversations
    .flatMap(conversation => evaluation.index.callsOf(conversation))
    .filter(call => evaluation.claims.ownerOf(call) === null && !evaluation.claims.isReported(call))
  for (const call of free) {
    const fitting = all.filter(one => wouldClaim(evaluation, one, call))
    const roomy = fitting.find(({ leaf, claimed, surplus }) => claimed.length + surplus.length < leaf.times.max)
    if (roomy !== undefined) roomy.surplus.push(call)
    else fitting.find(one => isRepetition(evaluation, one, call))?.excess.push(call)
  }
  return all
}

const leafCalls = (expect: ExpectEvaluator): LeafCalls[] =>
  expect.attempt.leaves.map(({ leaf, calls }) => ({ expect, leaf, claimed: calls, surplus: [], excess: [] }))

const wouldClaim = (evaluation: Evaluation, { expect, leaf, claimed }: LeafCalls, call: Call) =>
  claimed.length >= leaf.times.min &&
  evaluation.patterns.within(expect.step.number, () =>
    accepts({ ...expect.queryOf(leaf), floor: null, untilMs: null }, call, evaluation),
  )

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
