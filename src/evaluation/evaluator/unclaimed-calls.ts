/**
 * Finds the calls that no expectation claims: too many of an expected call, unexpected ones, those after the end, those that
 * `never` forbids, and those that the platform refused for breaking its contract.
 */

import { groupBy, isMap } from '../../base/objects.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import { ERRORS, type ErrorCode } from '../../platform/contract/errors.ts'
import { causedBy, createFailure, type FailureDetails, type Hint } from '../finding.ts'
import { InterpolationError, interpolate, type Variables } from '../scenario/interpolation.ts'
import type { CallPattern, Expectation, Plan, Severity } from '../scenario/plan.ts'
import { flow } from '../scenario/value-text.ts'
import { accepts, BEGINNING, describeRequirement, shownName, unwantedCause } from './claims.ts'
import { type ExpectEvaluator, findClosePair, tooCloseFailure } from './expect.ts'
import {
  AVAILABILITY,
  type ConversationKey,
  callReference,
  type IndexedCall,
  isLater,
  ruleOf,
  seqsOf,
} from './journal-index.ts'
import { fits } from './match.ts'
import type { EvaluatedStep, EvaluationContext, PatternGuard } from './step-evaluator.ts'
import {
  another,
  callNamed,
  callText,
  howOften,
  inChat,
  listed,
  offset,
  patternText,
  requirementText,
  seconds,
  timesText,
} from './words.ts'

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
  const counted = new Set<IndexedCall>()
  for (const leaf of leaves) {
    for (const call of [...leaf.surplus, ...leaf.excess]) counted.add(call)
    const more = [tooMany(review, leaf, conversation, cutOffMs), tooCloseLater(leaf, conversation)]
    for (const failure of more) if (failure !== null) failures.push(failure)
  }
  const name = nameOf(conversation)
  const chat = review.chatName(name)
  const endMs = index.ended?.at_ms ?? Number.POSITIVE_INFINITY
  const late: IndexedCall[] = []
  const unexpected: IndexedCall[] = []
  for (const call of index.callsOf(conversation)) {
    if (claims.ownerOf(call) !== null || counted.has(call) || reported.has(call.seq)) continue
    if (call.readAt >= cutOffMs || !needsExpectation(review, call)) continue
    if (call.readAt > endMs) late.push(call)
    else unexpected.push(call)
  }
  const isTest = index.audience === 'test'
  const add = (rule: string, first: IndexedCall, details: FailureDetails) => {
    const severity = strict.unexpected
    failures.push({ at: first.seq, step: null, conversation: name, severity, rule, details })
  }
  // One failure for fifty calls of one endpoint.
  for (const calls of groupBy(unexpected, ({ endpoint }) => endpoint).values()) {
    const [first] = calls
    const { endpoint } = first
    const otherSeqs = seqsOf(calls.slice(1))
    const allowed = isTest ? `assertClean({ allow: ['${endpoint}'] })` : `strict: { allow: [${endpoint}] }`
    const details = createFailure('unexpected', {
      code: 'unexpected_call',
      expected: `${isTest ? 'an expectation' : 'a step'} for every call${inChat(chat)}`,
      happened: `${isTest ? 'nothing' : 'no step'} expects ${withBody(first)} at ${offset(sinceStart(review, first))}${another(otherSeqs)}`,
      details: { call: callReference(first) },
      rules: [ruleOf(endpoint)],
      entrySeqs: seqsOf(calls),
      hint: { code: 'allow_call', text: `If it is right, expect it, or allow it with ${allowed}.` },
      cause: unwantedCause(first),
    })
    add('unexpected-call', first, details)
  }
  const [first, ...more] = late
  if (first === undefined) return failures
  const called = shownName(first.endpoint, first.entry.path)
  const details = createFailure('late', {
    code: 'call_after_end',
    expected: `no call after the end of the scenario${inChat(chat)}`,
    happened: `${withBody(first)} was called ${seconds(first.readAt - endMs)} after the end of the scenario${another(seqsOf(more))}`,
    details: { call: callReference(first), lateMs: first.readAt - endMs },
    rules: [ruleOf(first.endpoint)],
    entrySeqs: seqsOf(late),
    hint: {
      code: 'settle',
      text: 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.',
    },
    cause: causedBy('late', `${called} is called after the end of the scenario`, called),
  })
  add('late-call', first, details)
  return failures
}

const nameOf = (conversation: ConversationKey | null): string | null =>
  conversation === AVAILABILITY ? null : conversation

/** Milliseconds from the first entry to a call. */
const sinceStart = ({ index }: EvaluationContext, call: IndexedCall): number => call.readAt - index.startMs(BEGINNING)

const needsExpectation = ({ strict, mentionsAvailability }: CallReview, { endpoint }: IndexedCall): boolean =>
  endpoint !== null && !strict.allow.includes(endpoint) && (endpoint !== 'availability' || mentionsAvailability)

const MAX_BODY_CHARS = 60

/** `#11 message { message: "Hi" }` */
function withBody(call: IndexedCall): string {
  const { body } = call
  if (!isMap(body)) return `${callText(call)} ${flow(body, MAX_BODY_CHARS)}`
  // Ids say nothing to a reader.
  const { bot_id: _, chat_id: __, ...rest } = body
  return `${callText(call)}${Object.keys(rest).length === 0 ? '' : ` ${flow(rest, MAX_BODY_CHARS)}`}`
}

/** One leaf of an `expect`, with its calls. */
interface LeafCalls {
  readonly expect: ExpectEvaluator
  readonly leaf: Expectation
  readonly claimed: readonly IndexedCall[]
  /** Beyond what was needed, within what is allowed. */
  readonly surplus: IndexedCall[]
  /** Beyond what is allowed. */
  readonly excess: IndexedCall[]
}

/** The unclaimed calls that the `times` of an `expect` allows. */
export const surplusCalls = (review: CallReview, conversation: string): Set<IndexedCall> =>
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
          return claimed.some(earlier => JSON.stringify(earlier.body) === text && isLater(call, earlier))
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
  const allowed = [...claimed, ...surplus]
  const last = allowed.at(-1)
  const name = nameOf(conversation)
  const once = leaf.times.min === 1 && leaf.times.max === 1 ? ` ${howOften(leaf.times)}` : ''
  const seqs = seqsOf([...allowed, ...within]).sort((a, b) => a - b)
  const details = createFailure('times', {
    code: 'too_many_calls',
    expected: `${requirementText(leaf)}${once}${inChat(review.chatName(name))}`,
    happened: tooManyText(leaf, seqs, first, last),
    details: { requirement: describeRequirement(leaf), count: seqs.length },
    rules: leaf.call === 'any' ? [] : [ruleOf(leaf.call)],
    entrySeqs: seqsOf(within),
    hint: repeatedHint(review, claimed.at(-1), first),
    cause: causedBy('repeated', `\`${leaf.call}\` is called ${seqs.length === 2 ? 'twice' : 'too often'}`, leaf.call),
  })
  const severity = leaf.statesTimes ? 'fail' : review.strict.unexpected
  return { at: first.seq, step: expect.step, conversation: name, severity, rule: 'too-many-calls', details }
}

/** `first`: the first call that is too many. `last`: the last allowed one. */
function tooManyText(
  leaf: Expectation,
  seqs: readonly number[],
  first: IndexedCall,
  last: IndexedCall | undefined,
): string {
  const times = `${callNamed(leaf)} was called ${timesText(seqs.length)}, expected ${howOften(leaf.times)}`
  const later = last === undefined ? '' : seconds(Math.abs(first.readAt - last.readAt))
  if (seqs.length === 2 && last !== undefined) return `${times}: #${last.seq}, and #${first.seq} ${later} later`
  const gap = last === undefined ? '' : `, ${later} after #${last.seq}`
  return `${times}: ${listed(seqs)}; the first one too many is #${first.seq}${gap}`
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
function repeatedHint({ index }: CallReview, first: IndexedCall | undefined, second: IndexedCall): Hint | null {
  if (first !== undefined && 'answer_lost' in first.entry)
    return {
      code: 'answer_lost',
      text: 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.',
    }
  const events = index.history.chats.get(second.entry.chat_id ?? '')?.events ?? []
  const isDeliveredAgain = events.some(({ attempts }) =>
    attempts.some(({ attempt, seq }) => attempt > 1 && seq < second.seq),
  )
  if (!isDeliveredAgain) return null
  return {
    code: 'delivered_again',
    text: 'An event was delivered more than once before: does the intermediary treat the repetition as a new event?',
  }
}

/** Errors that depend on the state of the platform, which the caller cannot know. */
const OF_STATE: readonly string[] = [
  'precondition_failed',
  'conflict',
  'rate_limited',
  'file_not_found',
  'user_left',
] satisfies ErrorCode[]
const STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 422]

/** Whether the platform refused the call for what the caller could know. */
export function breaksContract(entry: IndexedCall['entry']): boolean {
  // A fault answers in place of the platform, and rests on no assumption about it.
  const isFaulted = 'answer_lost' in entry || ('faults' in entry && Object.keys(entry.unspecified).length === 0)
  if (entry.status < 400 || isFaulted) return false
  const { error } = refusalOf(entry)
  if (error !== null && Object.hasOwn(ERRORS, error)) return !OF_STATE.includes(error)
  return STATUSES.includes(entry.status)
}

export function refusalOf({
  response,
}: IndexedCall['entry']): Readonly<Record<'error' | 'field' | 'message', string | null>> {
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
    const { error, field, message } = refusalOf(entry)
    const { method, path, status } = entry
    const often = seqs.length === 1 ? '' : ` (${timesText(seqs.length)}: ${listed(seqs)})`
    const why = `${error === null ? '' : ` ${error}`}${message === null ? '' : `: ${message}`}`
    const name = shownName(endpoint, path)
    const shared = `the platform refuses ${name} with ${status}${error === null ? '' : ` ${error}`}${field === null ? '' : `: ${field}`}`
    const details = createFailure('contract', {
      code: 'refused_call',
      expected:
        endpoint === null
          ? 'a path of the platform'
          : `${endpoint} as the platform accepts it: ${ENDPOINTS[endpoint].summary}`,
      happened: `the platform refused #${seq} ${method} ${path} with ${status}${why}${often}`,
      details: { call: callReference(first), status, error, field, message },
      rules,
      entrySeqs: seqs,
      cause: causedBy('refused', shared, name, status, error, field),
    })
    const conversation = nameOf(index.conversationOf(first))
    return { at: seq, step: null, conversation, severity: strict.contract, rule: 'contract', details }
  })
}

/** `never`: calls that must not arrive at any time of the scenario. */
export function forbiddenCalls(review: CallReview, { never, conversations }: Plan, variables: Variables) {
  const { index, guard } = review
  const failures: AttributedFailure[] = []
  // Fills in the values of the chat the call is about.
  const fill = (pattern: CallPattern, call: IndexedCall): CallPattern => {
    const conversation = index.conversationOf(call)
    const name = typeof conversation === 'string' ? conversation : (conversations[0]?.name ?? '')
    return { ...pattern, body: pattern.body === null ? null : interpolate(pattern.body, variables.scopeOf(name)) }
  }
  for (const pattern of never) {
    const forbidden = index.calls.filter(call => {
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
    const [first, ...rest] = forbidden
    if (first === undefined) continue
    const filled = patternText(fill(pattern, first))
    const when = offset(sinceStart(review, first))
    const details = createFailure('never', {
      code: 'forbidden_call',
      expected: `never ${filled}`,
      happened: `${filled} must never be called, but ${callText(first)} was called at ${when}${another(seqsOf(rest))}`,
      details: { pattern: filled, call: callReference(first) },
      rules: [ruleOf(first.endpoint)],
      entrySeqs: seqsOf(forbidden),
      cause: unwantedCause(first),
    })
    const conversation = nameOf(index.conversationOf(first))
    failures.push({ at: first.seq, step: null, conversation, severity: 'fail', rule: 'never', details })
  }
  return failures
}
