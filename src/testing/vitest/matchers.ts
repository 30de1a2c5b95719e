/** Implements the matchers of vitest, which check past calls and deliveries without waiting or claiming. */

import { suggest } from '../../base/text/error-text.ts'
import {
  BEGINNING,
  type CallQuery,
  differencesOf,
  type MatchContext,
  obstaclesOf,
} from '../../evaluation/evaluator/claims.ts'
import type { Failure, NearMiss, Obstacle } from '../../evaluation/evaluator/failure.ts'
import { AVAILABILITY, type Call, callReference, seqsOf } from '../../evaluation/evaluator/journal-index.ts'
import { match } from '../../evaluation/evaluator/match.ts'
import { asExpectation } from '../../evaluation/evaluator/none.ts'
import { evictedFailure, PatternGuard } from '../../evaluation/evaluator/step-evaluator.ts'
import { refusedEventHint } from '../../evaluation/evaluator/stimulus.ts'
import { isAsymmetric } from '../../evaluation/scenario/interpolation.ts'
import type { Times } from '../../evaluation/scenario/plan.ts'
import { bodyNotation } from '../../evaluation/scenario/value-text.ts'
import { type CallId, ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { WebhookEventName } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import type { EntryOf } from '../../platform/journal/entry.ts'
import { anything, invalidOption, validateOptions } from '../../platform/simulator/options.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { EMPTY_FAILURE } from '../../running/runner/results.ts'
import { bodyPattern } from '../body-matcher.ts'
import { ownerOf, stackAbove } from '../chat.ts'
import { expectationError, reportLines } from '../expectation-error.ts'
import { checkChatExists } from '../expectations.ts'
import { type ExpectedTimes, timesOf } from '../options.ts'
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
    checkName('call', call, Object.keys(ENDPOINTS))
    checkArguments('toHaveReceived', body, options)
    const { sim, chatId } = subjectOf('toHaveReceived', received)
    const tests = readTests(sim)
    const query = { call, body, options, chatId, rules: [ENDPOINTS[call].rule] }
    const matchCount = count(tests, query, stackAbove(matchers.toHaveReceived), () => countCalls(tests, query))
    const result = resultOf(tests, matchCount, query)
    if (result.pass && !this.isNot) for (const seq of matchCount.seqs) tests.matchedSeqs.add(seq)
    return result
  },

  toHaveDelivered(
    this: MatcherContext,
    received: unknown,
    event: WebhookEventName,
    payload?: unknown,
    options?: TimesOption,
  ): Result {
    checkName('event', event, Object.keys(WEBHOOK_EVENTS))
    checkArguments('toHaveDelivered', payload, options)
    const { sim, chatId } = subjectOf('toHaveDelivered', received)
    const tests = readTests(sim)
    const query = { call: event, body: payload, options, chatId, rules: ['WH1'] }
    // Counts each event once, however many attempts it took; it is delivered when one attempt was.
    const attempts = new Map<string, EntryOf<'delivery'>>()
    for (const entry of tests.index.entries) {
      if (entry.kind !== 'delivery' || entry.event !== query.call || entry.duplicate) continue
      if (attempts.get(entry.delivery_id)?.outcome !== 'delivered') attempts.set(entry.delivery_id, entry)
    }
    const matchCount = count(tests, query, stackAbove(matchers.toHaveDelivered), () =>
      toMatchCount([...attempts.values()].map(entry => compareDelivery(entry, query, tests))),
    )
    return resultOf(tests, matchCount, query)
  },
}

interface Query<Name extends string = string> {
  readonly call: Name
  readonly body: unknown
  readonly options: TimesOption | undefined
  readonly chatId: string | null
  readonly rules: readonly string[]
}

function readTests(sim: PlatformSimulator): TestJournal {
  const tests = testJournalOf(sim)
  tests.read()
  return tests
}

const AT_LEAST_ONCE: Times = { min: 1, max: Number.POSITIVE_INFINITY }

const timesIn = ({ options }: Query): Times => (options?.times === undefined ? AT_LEAST_ONCE : timesOf(options.times))

const NO_MATCHES: MatchCount = { count: 0, seqs: [], misses: [] }

/** Counts matches. Throws when their number cannot be known, so that neither the matcher nor its negation passes. */
function count(tests: TestJournal, query: Query, callStack: string, work: () => MatchCount): MatchCount {
  const guard = new PatternGuard()
  const found = guard.run(null, NO_MATCHES, work)
  const { min, max } = timesIn(query)
  const isCertain = found.count > max || (found.count >= min && max === Number.POSITIVE_INFINITY)
  // Availability belongs to every chat.
  const isComplete = tests.isComplete(query.call === 'availability' ? null : query.chatId)
  const slow = guard.failureOf(null)
  if (slow === null && (isCertain || isComplete)) return found
  const { call, body, options } = query
  const times = options?.times === undefined ? null : timesIn(query)
  const expected = { code: 'received', call, body: bodyNotation(body), times, not: false } as const
  const details = slow ?? evictedFailure(expected, tests.firstSeq)
  throw expectationError(tests, [{ ...EMPTY_FAILURE, ...details }], callStack)
}

function resultOf(tests: TestJournal, matchCount: MatchCount, query: Query): Result {
  const times = timesIn(query)
  const pass = matchCount.count >= times.min && matchCount.count <= times.max
  const nearest = matchCount.misses[0]
  const compared = pass || nearest === undefined || query.body === undefined || matchCount.count > 0
  return {
    pass,
    message: () => reportLines(tests, [failureOf(tests, matchCount, query, pass, times)]).join('\n'),
    ...(compared ? {} : { expected: query.body, actual: pickExpectedFields(query.body, nearest.body) }),
  }
}

/** The maximum number of near misses in a failure. */
const MAX_MISSES = 6

function failureOf(tests: TestJournal, matchCount: MatchCount, query: Query, pass: boolean, times: Times): Failure {
  const { call, body, chatId, rules } = query
  return {
    kind: pass ? 'none' : 'expect',
    step: null,
    conversation: tests.nameOf(chatId) || null,
    expected: {
      code: 'received',
      call,
      body: bodyNotation(body),
      times: query.options?.times === undefined ? null : times,
      not: pass,
    },
    happened: { code: 'received', call, seqs: matchCount.seqs, different: matchCount.misses.length > 0 },
    rules: [...rules],
    nearest: pass ? [] : matchCount.misses.slice(0, MAX_MISSES).map(({ body: _, ...miss }) => miss),
    entrySeqs: pass ? matchCount.seqs : [...matchCount.seqs, ...seqsOf(matchCount.misses.slice(0, 1))],
    soft: false,
    ...(pass || matchCount.count > 0 ? {} : refusedEvent(tests, chatId)),
  }
}

/** Explains missing calls if the webhook did not acknowledge the events that precede them. */
function refusedEvent(tests: TestJournal, chatId: string | null): Pick<Failure, 'hint'> {
  const hint = chatId === null ? null : refusedEventHint(tests.index, tests.nameOf(chatId), BEGINNING)
  return hint === null ? {} : { hint }
}

interface Subject {
  readonly sim: PlatformSimulator
  readonly chatId: string | null
}

function subjectOf(matcher: string, received: unknown): Subject {
  if (typeof received === 'object' && received !== null) {
    const owner = ownerOf(received)
    if (owner !== undefined) {
      checkChatExists(owner)
      return owner
    }
    if ('journal' in received && 'findChat' in received) return { sim: received as PlatformSimulator, chatId: null }
  }
  throw new TypeError(`${matcher} takes a simulator or a chat of one: expect(await sim.chat()).${matcher}(…).`)
}

/** Rejects arguments that no call can match, because they would let `not` pass. */
function checkArguments(matcher: string, body: unknown, options: TimesOption = {}): void {
  validateOptions(matcher, options, { times: anything })
  bodyPattern(body)
}

function checkName(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw invalidOption(
      what,
      `${what} must be one of ${known.join(', ')}, got ${JSON.stringify(name)}${suggest(String(name), known)}`,
    )
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp)

/** Removes the fields that `expected` does not contain, so that a diff shows only the others. */
export function pickExpectedFields(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, at) => pickExpectedFields(expected[at], item))
  if (!isFields(expected) || !isFields(actual) || isAsymmetric(expected) || isOperator(expected)) return actual
  const named = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(named.map(([key, inner]) => [key, pickExpectedFields(inner, actual[key])]))
}

const isOperator = (value: Fields): boolean => Object.keys(value).some(key => key.startsWith('$'))

interface MatchCount {
  readonly count: number
  readonly seqs: readonly number[]
  /** Calls or events that do not match, the nearest first. */
  readonly misses: readonly Miss[]
}

interface Comparison {
  readonly seq: number
  readonly miss: (Miss & { readonly rank: number }) | null
}

/** Counts calls of one chat, or of all chats if `chatId` is null. Calls about availability belong to every chat. */
function countCalls(tests: TestJournal, { chatId, call, body }: Query<CallId>): MatchCount {
  const { index } = tests
  const context: MatchContext = { index, claims: { ownerOf: () => null }, options: {} }
  const leaf = asExpectation({ call, body: body ?? null })
  const comparisons: Comparison[] = []
  for (const one of index.calls) {
    if (one.endpoint !== call) continue
    const found = chatId === null ? index.conversationOf(one) : null
    const conversation = found === null || found === AVAILABILITY ? tests.nameOf(chatId) : found
    const query: CallQuery = { leaf, step: 0, conversation, from: BEGINNING, floor: null, untilMs: null }
    comparisons.push(compareCall(one, query, context, tests))
  }
  return toMatchCount(comparisons)
}

function compareCall(call: Call, query: CallQuery, context: MatchContext, tests: TestJournal): Comparison {
  const { seq, body, readAt } = call
  const obstacles = [...obstaclesOf(query, call, context)]
  const differences = obstacles.length === 0 ? [] : differencesOf(call, query.leaf, context.options)
  const subject = { code: 'call', ...callReference(call) } as const
  return comparisonOf(tests, readAt, { seq, subject, obstacles, differences, body })
}

type Miss = NearMiss & { readonly body: unknown }

function comparisonOf(tests: TestJournal, atMs: number, miss: Omit<Miss, 'afterMs'>): Comparison {
  const { seq, obstacles, differences } = miss
  if (obstacles.length === 0) return { seq, miss: null }
  const afterMs = Math.round(atMs - (tests.index.started?.at_ms ?? 0))
  return { seq, miss: { ...miss, afterMs, rank: (obstacles.length - 1) * RULE_RANK + differences.length } }
}

/** A broken rule outweighs any number of different fields. */
const RULE_RANK = 1000

function compareDelivery(entry: EntryOf<'delivery'>, { chatId, body: payload }: Query, tests: TestJournal): Comparison {
  const { seq, chat_id, outcome, status, failure } = entry
  const body = bodyOf(entry)
  const differences = payload === undefined ? [] : match(payload, body)
  const obstacles: Obstacle[] = []
  if (chatId !== null && chat_id !== chatId) obstacles.push({ code: 'of_chat', conversation: tests.nameOf(chat_id) })
  if (outcome !== 'delivered')
    obstacles.push({ code: 'not_delivered', status, ...(failure === undefined ? {} : { failure }) })
  if (differences.length > 0) obstacles.push({ code: 'fields', count: differences.length })
  const subject = { code: 'event', event: entry.event } as const
  return comparisonOf(tests, entry.at_ms - entry.duration_ms, { seq, subject, obstacles, differences, body })
}

function bodyOf({ request: { body } }: EntryOf<'delivery'>): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function toMatchCount(comparisons: readonly Comparison[]): MatchCount {
  const matching = comparisons.filter(({ miss }) => miss === null)
  const misses = comparisons.flatMap(({ miss }) => (miss === null ? [] : [miss]))
  misses.sort((a, b) => a.rank - b.rank || b.seq - a.seq)
  return { count: matching.length, seqs: seqsOf(matching), misses }
}
