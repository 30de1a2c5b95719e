/**
 * Finds the calls that no expectation claims: too many of an expected call, unexpected ones, those after the end, those that
 * `never` forbids, and those that the platform refused for breaking its contract.
 */

import { groupBy, isMap } from '../../base/objects.ts'
import { ERRORS, type ErrorCode } from '../../platform/contract/errors.ts'
import { InterpolationError, interpolate, type Variables } from '../scenario/interpolation.ts'
import type { CallPattern, Expectation, Plan, Severity } from '../scenario/plan.ts'
import { flow } from '../scenario/value-text.ts'
import { accepts, patternRef, requirementRef } from './claims.ts'
import { type ExpectEvaluator, findClosePair, tooCloseFailure } from './expect.ts'
import type { FailureHint, Happened } from './failure.ts'
import {
  AVAILABILITY,
  type Call,
  type ConversationKey,
  callReference,
  isLater,
  ruleOf,
  seqsOf,
} from './journal-index.ts'
import { fits } from './match.ts'
import {
  type EvaluatedStep,
  type EvaluationContext,
  type FailureDetails,
  failureDetails,
  type PatternGuard,
} from './step-evaluator.ts'

/** A failure with its place: when it occurred, whose it is, and how serious it is. */
export interface AttributedFailure {
  /** Number of the entry with which it occurred. */
  readonly at: number
  readonly step: EvaluatedStep | null
  readonly conversation: string | null
  readonly severity: Severity
  /** Its name when it is only a warning. */
  readonly rule: string
  readonly details: FailureDetails
}

/** The state of an evaluation whose calls are reviewed, in a scenario or at the end of a test. */
export interface CallReview extends EvaluationContext {
  readonly expects: ReadonlyMap<number, ExpectEvaluator>
  readonly guard: PatternGuard
  readonly strict: Plan['strict']
  /** Whether calls about availability need an expectation. */
  readonly mentionsAvailability: boolean
  readonly conversations: readonly string[]
  /** Milliseconds from which the calls of a conversation do not count, because its steps have failed. */
  cutOff(conversation: ConversationKey): number
}

/** `reported`: calls that another failure names already. */
export function unexpectedCalls(review: CallReview, reported: ReadonlySet<number>): AttributedFailure[] {
  const failures: AttributedFailure[] = []
  const conversations: readonly ConversationKey[] = [...review.conversations, AVAILABILITY]
  for (const conversation of conversations) failures.push(...unexpectedIn(review, conversation, reported))
  return failures
}

function unexpectedIn(
  review: CallReview,
  conversation: ConversationKey,
  reported: ReadonlySet<number>,
): AttributedFailure[] {
  const { index, claims, strict } = review
  const cutOffMs = review.cutOff(conversation)
  const leaves = allotCalls(review, [conversation])
  const failures: AttributedFailure[] = []
  const counted = new Set<Call>()
  for (const leaf of leaves) {
    for (const call of [...leaf.surplus, ...leaf.excess]) counted.add(call)
    const more = [tooMany(review, leaf, conversation, cutOffMs), tooCloseLater(leaf, conversation)]
    for (const failure of more) if (failure !== null) failures.push(failure)
  }
  const name = nameOf(conversation)
  const chat = review.chatName(name)
  const endMs = index.ended?.at_ms ?? Number.POSITIVE_INFINITY
  const late: Call[] = []
  const unexpected: Call[] = []
  for (const call of index.callsOf(conversation)) {
    if (claims.ownerOf(call) !== null || counted.has(call) || reported.has(call.seq)) continue
    if (call.readAt >= cutOffMs || !needsExpectation(review, call)) continue
    if (call.readAt > endMs) late.push(call)
    else unexpected.push(call)
  }
  const add = (rule: string, call: Call, calls: readonly Call[], details: Partial<FailureDetails>) => {
    const entrySeqs = seqsOf(calls)
    const { kind = 'unexpected', expected, happened, hint } = details
    const common = { rules: [ruleOf(call.endpoint)], entrySeqs, ...(hint && { hint }) }
    const failure = failureDetails(kind, expected!, happened!, common)
    const severity = strict.unexpected
    failures.push({ at: call.seq, step: null, conversation: name, severity, rule, details: failure })
  }
  // One failure for fifty calls of one endpoint.
  for (const calls of groupBy(unexpected, ({ endpoint }) => endpoint).values()) {
    const [first] = calls
    const afterMs = sinceStart(review, first)
    add('unexpected-call', first, calls, {
      expected: { code: 'step_for_every_call', chat },
      happened: { code: 'unexpected_call', ...firstOf(calls, first), afterMs },
      hint: { code: 'allow_call', endpoint: first.endpoint },
    })
  }
  const [first] = late
  if (first !== undefined)
    add('late-call', first, late, {
      kind: 'late',
      expected: { code: 'no_call_after_end', chat },
      happened: { code: 'call_after_end', ...firstOf(late, first), lateMs: first.readAt - endMs },
      hint: { code: 'settle' },
    })
  return failures
}

const nameOf = (conversation: ConversationKey | null): string | null =>
  conversation === AVAILABILITY ? null : conversation

/** Milliseconds from the first entry to a call. */
const sinceStart = ({ index }: EvaluationContext, call: Call): number => call.readAt - (index.started?.at_ms ?? 0)

const needsExpectation = ({ strict, mentionsAvailability }: CallReview, { endpoint }: Call): boolean =>
  endpoint !== null && !strict.allow.includes(endpoint) && (endpoint !== 'availability' || mentionsAvailability)

const LONGEST_BODY = 60

function firstOf(calls: readonly Call[], first: Call) {
  const { body } = first
  let text: string | null
  if (!isMap(body)) text = flow(body, LONGEST_BODY)
  else {
    // Ids say nothing to a reader; null when nothing else is in the body.
    const { bot_id: _, chat_id: __, ...rest } = body
    text = Object.keys(rest).length === 0 ? null : flow(rest, LONGEST_BODY)
  }
  return { call: callReference(first), body: text, others: seqsOf(calls.slice(1)) }
}

/** One leaf of an `expect`, with its calls. */
interface LeafCalls {
  readonly expect: ExpectEvaluator
  readonly leaf: Expectation
  readonly claimed: readonly Call[]
  /** Beyond what was needed, within what is allowed. */
  readonly surplus: Call[]
  /** Beyond what is allowed. */
  readonly excess: Call[]
}

/** The unclaimed calls that the `times` of an `expect` allows. */
export const surplusCalls = (review: CallReview, conversation: string): Set<Call> =>
  new Set(allotCalls(review, [conversation, AVAILABILITY]).flatMap(({ surplus }) => surplus))

/** Assigns every unclaimed call of these conversations to the latest `expect` that would have claimed it. */
function allotCalls(review: CallReview, conversations: readonly ConversationKey[]): LeafCalls[] {
  const { index, claims, guard, expects } = review
  const all: LeafCalls[] = []
  for (const expect of expects.values())
    for (const { leaf, calls } of expect.leaves) all.push({ expect, leaf, claimed: calls, surplus: [], excess: [] })
  all.reverse()
  const free = conversations
    .flatMap(conversation => index.callsOf(conversation))
    .filter(call => claims.ownerOf(call) === null && !claims.isReported(call))
  for (const call of free) {
    const fitting = all.filter(({ expect, leaf, claimed }) => {
      if (claimed.length < leaf.times.min) return false
      const query = { ...expect.queryOf(leaf), floor: null, untilMs: null }
      return guard.run(expect.step.number, false, () => accepts(query, call, review))
    })
    const roomy = fitting.find(({ leaf, claimed, surplus }) => claimed.length + surplus.length < leaf.times.max)
    if (roomy !== undefined) roomy.surplus.push(call)
    else
      fitting
        .find(({ expect, claimed }) => {
          // A repetition is of the same turn, or has the same body; another call of that kind much later is none.
          const nextMs = review.windows.nextTurnStart(expect.step)
          if (nextMs === null || call.readAt < nextMs) return true
          const text = JSON.stringify(call.body)
          return claimed.some(one => JSON.stringify(one.body) === text && isLater(call, one))
        })
        ?.excess.push(call)
  }
  return all
}

function tooMany(
  review: CallReview,
  { expect, leaf, claimed, surplus, excess }: LeafCalls,
  conversation: ConversationKey,
  cutOffMs: number,
): AttributedFailure | null {
  const within = excess.filter(call => call.readAt < cutOffMs)
  const [first] = within
  if (first === undefined || (!leaf.statesTimes && !within.every(call => needsExpectation(review, call)))) return null
  const requirement = requirementRef(leaf)
  const allowed = [...claimed, ...surplus]
  const last = allowed.at(-1)
  const hint = repeatedHint(review, claimed.at(-1), first)
  const name = nameOf(conversation)
  const details = failureDetails(
    'times',
    { code: 'call_count', requirement, chat: review.chatName(name) },
    {
      code: 'too_many_calls',
      requirement,
      seqs: seqsOf([...allowed, ...within]).sort((a, b) => a - b),
      seq: first.seq,
      after: last === undefined ? null : { seq: last.seq, ms: Math.abs(first.readAt - last.readAt) },
    },
    {
      rules: leaf.call === 'any' ? [] : [ruleOf(leaf.call)],
      entrySeqs: seqsOf(within),
      ...(hint && { hint }),
    },
  )
  const severity = leaf.statesTimes ? 'fail' : review.strict.unexpected
  return { at: first.seq, step: expect.step, conversation: name, severity, rule: 'too-many-calls', details }
}

/** The step itself has evaluated the distances between the calls it claimed. */
function tooCloseLater(
  { expect, leaf, claimed, surplus }: LeafCalls,
  conversation: ConversationKey,
): AttributedFailure | null {
  const close = surplus.length === 0 ? null : findClosePair(leaf, [...claimed.slice(-1), ...surplus])
  if (close === null) return null
  const details = tooCloseFailure(leaf, ...close)
  const name = nameOf(conversation)
  return { at: close[1].seq, step: expect.step, conversation: name, severity: 'fail', rule: 'too-close', details }
}

/** A call whose answer was lost is repeated, and the platform cannot recognise the repetition. */
function repeatedHint({ index }: CallReview, first: Call | undefined, second: Call): FailureHint | undefined {
  if (first !== undefined && 'answer_lost' in first.entry) return { code: 'answer_lost' }
  for (const entry of index.entries)
    if (entry.kind === 'delivery' && entry.attempt > 1 && entry.seq < second.seq)
      if (entry.chat_id === second.entry.chat_id) return { code: 'delivered_again' }
  return undefined
}

/** Errors that depend on the state of the platform, which the caller cannot know. */
const OF_STATE: readonly string[] = [
  'precondition_failed',
  'conflict',
  'rate_limited',
  'file_not_found',
] satisfies ErrorCode[]
const STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 422]

/** Whether the platform refused the call for what the caller could know. */
export function breaksContract(entry: Call['entry']): boolean {
  // A fault answers in place of the platform, and rests on no assumption about it.
  const isFaulted = 'answer_lost' in entry || ('faults' in entry && Object.keys(entry.unspecified).length === 0)
  if (entry.status < 400 || isFaulted) return false
  const { error } = refusalOf(entry)
  if (error !== null && Object.hasOwn(ERRORS, error)) return !OF_STATE.includes(error)
  return STATUSES.includes(entry.status)
}

/** The error in the body of a refusal. */
export function refusalOf({
  response,
}: Call['entry']): Pick<Extract<Happened, { code: 'refused_call' }>, 'error' | 'field' | 'message'> {
  const { code, field, message } = isMap(response) && isMap(response.error) ? response.error : {}
  return {
    error: typeof code === 'string' ? code : null,
    field: typeof field === 'string' ? field : null,
    message: typeof message === 'string' ? message : null,
  }
}

/** The same mistake in the same chat is reported once. */
export function contractViolations({ index, claims, expects, strict }: CallReview): AttributedFailure[] {
  const violations = index.calls.filter(({ seq, endpoint, entry }) => {
    if (!breaksContract(entry)) return false
    // An `expect` with `auth: invalid` claimed it.
    const owner = entry.status === 401 || entry.status === 403 ? claims.ownerOf({ seq }) : null
    const leaves = owner === null ? [] : (expects.get(owner)?.leaves ?? [])
    return !leaves.some(({ leaf: { auth, call } }) => auth === 'invalid' && (call === 'any' || call === endpoint))
  })
  const byMistake = groupBy(violations, ({ chatId, endpoint, entry }) => {
    const { error, field } = refusalOf(entry)
    return JSON.stringify([chatId, endpoint ?? entry.path, entry.status, error, field])
  })
  return [...byMistake.values()].map(calls => {
    const [first] = calls
    const { entry, endpoint, seq } = first
    const seqs = seqsOf(calls)
    let rules = endpoint === null ? ['W7', 'V1'] : [ruleOf(endpoint)]
    if (entry.status === 401) rules = ['A1', ruleOf(endpoint)]
    if (entry.status === 403) rules = [endpoint === 'chat' ? 'A3' : 'A2', ruleOf(endpoint)]
    return {
      at: seq,
      step: null,
      conversation: nameOf(index.conversationOf(first)),
      severity: strict.contract,
      rule: 'contract',
      details: failureDetails(
        'contract',
        endpoint === null ? { code: 'known_path' } : { code: 'accepted_call', endpoint },
        { code: 'refused_call', call: callReference(first), status: entry.status, ...refusalOf(entry), seqs },
        { rules, entrySeqs: seqs },
      ),
    }
  })
}

/** `never`: calls that must not arrive at any time of the scenario. */
export function forbiddenCalls(review: CallReview, { never, conversations }: Plan, variables: Variables) {
  const { index, guard } = review
  const failures: AttributedFailure[] = []
  // Fills in the values of the chat the call is about.
  const fill = (pattern: CallPattern, call: Call): CallPattern => {
    const conversation = index.conversationOf(call)
    const name = typeof conversation === 'string' ? conversation : (conversations[0]?.name ?? '')
    return { ...pattern, body: pattern.body === null ? null : interpolate(pattern.body, variables.scopeOf(name)) }
  }
  for (const pattern of never) {
    const found = index.calls.filter(call => {
      if (call.endpoint === null || (pattern.call !== 'any' && call.endpoint !== pattern.call)) return false
      if (index.ended !== null && call.readAt > index.ended.at_ms) return false
      if (index.conversationOf(call) === null) return false
      if (pattern.body === null) return true
      try {
        return guard.run(null, false, () => fits(fill(pattern, call).body, call.body, review.options))
      } catch (error) {
        // A value that was never captured matches nothing.
        if (error instanceof InterpolationError) return false
        throw error
      }
    })
    const [first, ...rest] = found
    if (first === undefined) continue
    const filled = patternRef(fill(pattern, first))
    const others = seqsOf(rest)
    const call = callReference(first)
    const afterMs = sinceStart(review, first)
    failures.push({
      at: first.seq,
      step: null,
      conversation: nameOf(index.conversationOf(first)),
      severity: 'fail',
      rule: 'never',
      details: failureDetails(
        'never',
        { code: 'never', pattern: filled },
        { code: 'forbidden_call', pattern: filled, call, afterMs, others },
        { rules: [ruleOf(first.endpoint)], entrySeqs: [first.seq, ...others] },
      ),
    })
  }
  return failures
}
