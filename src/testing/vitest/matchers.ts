/** Implements the matchers of vitest, which check past calls and deliveries without waiting or claiming. */

import { isMap } from '../../base/objects.ts'
import { suggest } from '../../base/text/error-text.ts'
import {
  BEGINNING,
  calledText,
  differencesOf,
  fieldsDiffer,
  type MatchContext,
  nearMiss,
  type Obstacle,
  obstaclesOf,
} from '../../evaluation/evaluator/claims.ts'
import { AVAILABILITY, seqsOf } from '../../evaluation/evaluator/journal-index.ts'
import { match } from '../../evaluation/evaluator/match.ts'
import { asExpectation } from '../../evaluation/evaluator/none.ts'
import { evictedFailure, PatternGuard } from '../../evaluation/evaluator/step-evaluator.ts'
import { refusedEventHint } from '../../evaluation/evaluator/stimulus.ts'
import { howOften, listed, timesText } from '../../evaluation/evaluator/words.ts'
import { createOrphan, type NearMiss } from '../../evaluation/finding.ts'
import { isAsymmetric } from '../../evaluation/scenario/interpolation.ts'
import type { Times } from '../../evaluation/scenario/plan.ts'
import { bodyNotation } from '../../evaluation/scenario/value-text.ts'
import { type CallId, ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { anything, invalidOption, validateOptions } from '../../platform/simulator/options.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { failureText } from '../../platform/wording/failures.ts'
import { bodyPattern } from '../body-matcher.ts'
import { ownerOf, stackAbove } from '../chat.ts'
import { expectationError, reportLines } from '../expectation-error.ts'
import { checkChatExists } from '../expectations.ts'
import { type ExpectedTimes, parseTimes } from '../options.ts'
import { type TestJournal, testJournalOf } from '../test-journal.ts'

/** Options of the matchers. */
export interface TimesOption {
  /** The expected number. Default: at least one. */
  readonly times?: ExpectedTimes
}

/** The result that `expect.extend` of a test runner takes. */
interface Result {
  readonly pass: boolean
  message(): string
  readonly actual?: unknown
  readonly expected?: unknown
}

interface MatcherContext {
  readonly isNot: boolean
}

export const matchers = {
  toHaveReceived(this: MatcherContext, received: unknown, call: CallId, body?: unknown, options?: TimesOption): Result {
    const subject = checkArguments(
      'toHaveReceived',
      received,
      { what: 'call', name: call, names: ENDPOINTS },
      body,
      options,
    )
    bodyPattern(call, body, this.isNot)
    const query = { ...subject, call, body, options, rules: [ENDPOINTS[call].rule] }
    const { tests } = query
    const matches = count(query, stackAbove(matchers.toHaveReceived), callCandidates(query, call))
    const result = createResult(query, matches)
    if (result.pass && !this.isNot) for (const seq of matches.seqs) tests.matchedSeqs.add(seq)
    return result
  },

  toHaveDelivered(
    this: MatcherContext,
    received: unknown,
    event: WebhookEventName,
    payload?: unknown,
    options?: TimesOption,
  ): Result {
    const named = { what: 'event', name: event, names: WEBHOOK_EVENTS }
    const subject = checkArguments('toHaveDelivered', received, named, payload, options)
    const query = { ...subject, call: event, body: payload, options, rules: ['WH1'] }
    return createResult(query, count(query, stackAbove(matchers.toHaveDelivered), eventCandidates(query)))
  },
}

interface Query {
  readonly tests: TestJournal
  readonly chatId: string | null
  /** The name of a call or of an event. */
  readonly call: string
  readonly body: unknown
  readonly options: TimesOption | undefined
  readonly rules: readonly string[]
}

/** Calls or events that match, and those that do not. */
interface Matches {
  readonly seqs: number[]
  readonly misses: Miss[]
}

type Miss = NearMiss & { readonly body: unknown; readonly rank: number }

/** A call or an event, and what keeps it from matching. */
type Candidate = Pick<NearMiss, 'seq' | 'what' | 'differences'> & {
  readonly atMs: number
  readonly obstacles: readonly Obstacle[]
  readonly body: unknown
}

/** Rejects arguments that no call can match, because they would let `not` pass. */
function checkArguments(
  matcher: string,
  received: unknown,
  { what, name, names }: { readonly what: string; readonly name: string; readonly names: object },
  body: unknown,
  options: TimesOption = {},
): Pick<Query, 'tests' | 'chatId'> {
  const allowed = Object.keys(names)
  if (!allowed.includes(name)) {
    const hint = suggest(String(name), allowed)
    throw invalidOption(what, `${what} must be one of ${allowed.join(', ')}, got ${JSON.stringify(name)}${hint}`)
  }
  validateOptions(matcher, options, { times: anything })
  bodyPattern(null, body)
  const owner = typeof received === 'object' && received !== null ? ownerOf(received) : undefined
  if (owner !== undefined) checkChatExists(owner)
  else if (typeof received !== 'object' || received === null || !('journal' in received && 'findChat' in received))
    throw new TypeError(`${matcher} takes a simulator or a chat of one: expect(await sim.chat()).${matcher}(…).`)
  const tests = testJournalOf(owner?.sim ?? (received as PlatformSimulator))
  tests.read()
  return { tests, chatId: owner?.chatId ?? null }
}

const AT_LEAST_ONCE: Times = { min: 1, max: Number.POSITIVE_INFINITY }

const timesIn = ({ options }: Query): Times =>
  options?.times === undefined ? AT_LEAST_ONCE : parseTimes(options.times)

/** A broken rule outweighs any number of different fields. */
const RULE_RANK = 1000

/** Counts matches. Throws when their number cannot be known, so that neither the matcher nor its negation passes. */
function count(query: Query, callStack: string, candidates: Iterable<Candidate>): Matches {
  const { tests, call, chatId } = query
  const guard = new PatternGuard()
  const seqs: number[] = []
  const misses: Miss[] = []
  guard.run(null, undefined, () => {
    for (const { obstacles, body, atMs, ...candidate } of candidates) {
      const afterMs = Math.round(atMs - tests.index.startMs(BEGINNING))
      const rank = (obstacles.length - 1) * RULE_RANK + candidate.differences.length
      if (obstacles.length === 0) seqs.push(candidate.seq)
      else misses.push({ ...nearMiss({ ...candidate, afterMs }, obstacles), body, rank })
    }
  })
  misses.sort((a, b) => a.rank - b.rank || b.seq - a.seq)
  const { min, max } = timesIn(query)
  const isCertain = seqs.length > max || (seqs.length >= min && max === Number.POSITIVE_INFINITY)
  // Availability belongs to every chat.
  const isComplete = tests.isComplete(call === 'availability' ? null : chatId)
  const slow = guard.failureOf(null)
  if (slow === null && (isCertain || isComplete)) return { seqs, misses }
  const details = slow ?? evictedFailure(expectedText(query, false), tests.firstSeq)
  throw expectationError(tests, [tests.attribute(details, null)], callStack)
}

/** `not message { message: "Hi" } exactly once` */
function expectedText(query: Query, isNot: boolean): string {
  const { call, body, options } = query
  const times = options?.times === undefined ? '' : ` ${howOften(timesIn(query))}`
  const notation = bodyNotation(body)
  return `${isNot ? 'not ' : ''}${notation === null ? call : `${call} ${notation}`}${times}`
}

/** The maximum number of near misses in a failure. */
const MAX_MISSES = 6

function createResult(query: Query, { seqs, misses }: Matches): Result {
  const { tests, call, body, chatId, rules } = query
  const { min, max } = timesIn(query)
  const pass = seqs.length >= min && seqs.length <= max
  const [nearest] = misses
  const isCompared = !pass && nearest !== undefined && body !== undefined && seqs.length === 0
  const message = () => {
    // Explains missing calls if the webhook did not acknowledge the events that precede them.
    const isMissing = !pass && seqs.length === 0 && chatId !== null
    const hint = isMissing ? refusedEventHint(tests.index, tests.nameOf(chatId), BEGINNING) : null
    const missing = misses.length > 0 ? `no call of ${call} matches` : `${call} was not called`
    const failure = createOrphan(pass ? 'none' : 'expect', {
      code: 'received',
      expected: expectedText(query, pass),
      happened: seqs.length > 0 ? `${call} was called ${timesText(seqs.length)}: ${listed(seqs)}` : missing,
      details: { call, seqs, refused: hint?.refused },
      rules,
      nearest: pass ? [] : misses.slice(0, MAX_MISSES).map(({ body: _, rank: __, ...miss }) => miss),
      entrySeqs: pass ? seqs : [...seqs, ...seqsOf(misses.slice(0, 1))],
      conversation: tests.nameOf(chatId) || null,
      hint,
    })
    return reportLines(tests, [failure]).join('\n')
  }
  const compared = isCompared ? { expected: body, actual: pickExpectedFields(body, nearest.body) } : {}
  return { pass, message, ...compared }
}

/** Removes the fields that `expected` does not contain, so that a diff shows only the others. */
export function pickExpectedFields(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, at) => pickExpectedFields(expected[at], item))
  if (!isMap(expected) || !isMap(actual) || expected instanceof RegExp || isAsymmetric(expected)) return actual
  const picked: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(expected)) {
    if (key.startsWith('$')) return actual
    if (Object.hasOwn(actual, key)) picked[key] = pickExpectedFields(inner, actual[key])
  }
  return picked
}

/** Calls of one chat, or of all chats if `chatId` is null. Calls about availability belong to every chat. */
function* callCandidates({ tests, chatId, body }: Query, name: CallId): Generator<Candidate> {
  const { index } = tests
  const context: MatchContext = { index, claims: { ownerOf: () => null }, options: {} }
  const leaf = asExpectation({ call: name, body: body ?? null })
  for (const call of index.calls) {
    if (call.endpoint !== name) continue
    const ofCall = chatId === null ? index.conversationOf(call) : null
    const conversation = ofCall === null || ofCall === AVAILABILITY ? tests.nameOf(chatId) : ofCall
    const callQuery = { leaf, step: 0, conversation, from: BEGINNING, floor: null, untilMs: null }
    const obstacles = [...obstaclesOf(callQuery, call, context)]
    const differences = obstacles.length === 0 ? [] : differencesOf(call, leaf, context.options)
    yield { seq: call.seq, atMs: call.readAt, what: calledText(call), obstacles, differences, body: call.body }
  }
}

/** Each event once, however many attempts it took; it is delivered when one attempt was. */
function* eventCandidates({ tests, chatId, call, body: payload }: Query): Generator<Candidate> {
  for (const { name, attempts } of tests.index.history.events) {
    const once = attempts.filter(({ duplicate }) => !duplicate)
    const decisive = once.find(({ outcome }) => outcome === 'delivered') ?? once.at(-1)
    if (name !== call || decisive === undefined) continue
    const { seq, chat_id, outcome, status, failure, request, at_ms, duration_ms } = decisive
    let body: unknown = request.body
    try {
      body = JSON.parse(request.body)
    } catch {
      // A fault has changed the body, which is compared as it is.
    }
    const differences = payload === undefined ? [] : match(payload, body)
    const obstacles: Obstacle[] = []
    if (chatId !== null && chat_id !== chatId)
      obstacles.push({ code: 'of_chat', text: `of chat ${JSON.stringify(tests.nameOf(chat_id))}` })
    if (outcome !== 'delivered')
      obstacles.push({ code: 'not_delivered', text: status === null ? failureText(failure) : `answered ${status}` })
    if (differences.length > 0) obstacles.push(fieldsDiffer(differences.length))
    yield { seq, atMs: at_ms - duration_ms, what: name, obstacles, differences, body }
  }
}
