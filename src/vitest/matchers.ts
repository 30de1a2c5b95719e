/** Matchers that look back: what the intermediary has called so far, and what it was delivered. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { CallId } from '../contract/wire.ts'
import { notTakenSince } from '../evaluator/reachability.ts'
import type { Failure } from '../evaluator/verdict.ts'
import { howOften, listed, patternText } from '../evaluator/wording.ts'
import type { Times } from '../scenario/action.ts'
import { isAsymmetric } from '../scenario/interpolation.ts'
import type { PlatformSimulator } from '../simulator/simulator.ts'
import { anything, validateOptions } from '../simulator/validate-options.ts'
import { bodyPattern } from '../testing/body-matcher.ts'
import { ownerOf } from '../testing/chat.ts'
import { countCalls, countDeliveries, type MatchCount } from '../testing/count-matches.ts'
import { reportLines } from '../testing/expectation-error.ts'
import { checkThere } from '../testing/expectations.ts'
import { type HowOften, invalid, timesOf } from '../testing/options.ts'
import { type Session, sessionOf } from '../testing/test-run.ts'

export interface TimesOption {
  /** Default: at least once. */
  readonly times?: HowOften
}

/** What a test runner's `expect.extend` takes. */
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
    checkAsked('toHaveReceived', body, options)
    const { sim, chatId } = subjectOf('toHaveReceived', received)
    const session = sessionOf(sim)
    const matchCount = countCalls(session, chatId, call, body)
    const result = resultOf(session, matchCount, { call, body, options, chatId, rules: [ENDPOINTS[call].rule] })
    if (result.pass && !this.isNot) for (const seq of matchCount.seqs) session.accepted.add(seq)
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
    checkAsked('toHaveDelivered', payload, options)
    const { sim, chatId } = subjectOf('toHaveDelivered', received)
    const session = sessionOf(sim)
    const matchCount = countDeliveries(session, chatId, event, payload)
    return resultOf(session, matchCount, { call: event, body: payload, options, chatId, rules: ['WH1'] })
  },
}

interface Asked {
  readonly call: string
  readonly body: unknown
  readonly options: TimesOption | undefined
  readonly chatId: string | null
  readonly rules: readonly string[]
}

const AT_LEAST_ONCE: Times = { min: 1, max: Number.POSITIVE_INFINITY }

function resultOf(session: Session, matchCount: MatchCount, asked: Asked): Result {
  const times = asked.options?.times === undefined ? AT_LEAST_ONCE : timesOf(asked.options.times)
  const pass = matchCount.count >= times.min && matchCount.count <= times.max
  const nearest = matchCount.misses[0]
  const compared = pass || nearest === undefined || asked.body === undefined || matchCount.count > 0
  return {
    pass,
    message: () => reportLines(session, [failureOf(session, matchCount, asked, pass, times)]).join('\n'),
    ...(compared ? {} : { expected: asked.body, actual: groupFailures(asked.body, nearest.body) }),
  }
}

const MOST_MISSES = 6

function failureOf(session: Session, matchCount: MatchCount, asked: Asked, pass: boolean, times: Times): Failure {
  const { call, body, chatId, rules } = asked
  const pattern = patternText({ call: call as CallId, body: body ?? null })
  const often = asked.options?.times === undefined ? '' : ` ${howOften(times)}`
  return {
    kind: pass ? 'none' : 'expect',
    step: null,
    conversation: session.conversationOf(chatId) || null,
    wanted: `${pass ? 'not ' : ''}${pattern}${often}`,
    happened: cameText(matchCount, call),
    rules: [...rules],
    nearest: pass ? [] : matchCount.misses.slice(0, MOST_MISSES).map(({ body: _, ...miss }) => miss),
    marks: pass ? matchCount.seqs : [...matchCount.seqs, ...matchCount.misses.slice(0, 1).map(({ seq }) => seq)],
    soft: false,
    ...(pass || matchCount.count > 0 ? {} : notTaken(session, chatId)),
  }
}

/** Why nothing came may be that nothing arrived. */
function notTaken({ evaluation, conversationOf }: Session, chatId: string | null): { hint?: string } {
  const hint = chatId === null ? null : notTakenSince(evaluation.index, conversationOf(chatId), 0)
  return hint === null ? {} : { hint }
}

function cameText({ count, seqs, misses }: MatchCount, call: string): string {
  if (count === 0) return misses.length === 0 ? `no ${call} came` : `${call} came, and never like this`
  return `it came ${count === 1 ? 'once' : `${count} times`}: ${listed(seqs)}`
}

interface Subject {
  readonly sim: PlatformSimulator
  readonly chatId: string | null
}

function subjectOf(matcher: string, received: unknown): Subject {
  if (typeof received === 'object' && received !== null) {
    const owner = ownerOf(received)
    if (owner !== undefined) {
      checkThere(owner)
      return owner
    }
    if ('journal' in received && 'findChat' in received) return { sim: received as PlatformSimulator, chatId: null }
  }
  throw new TypeError(`${matcher} is asked of a simulator or of a chat of one: expect(await sim.chat()).${matcher}(…).`)
}

/** What nothing fits, or is not looked at, would let `not` pass. */
function checkAsked(matcher: string, body: unknown, options: TimesOption = {}): void {
  validateOptions(matcher, options, { times: anything })
  bodyPattern(body)
}

function checkName(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw invalid(what, `${what} must be one of ${known.join(', ')}, got ${JSON.stringify(name)}.`)
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp)

/** `actual` without the fields that `expected` leaves open. */
export function groupFailures(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, at) => groupFailures(expected[at], item))
  if (!isFields(expected) || !isFields(actual) || isAsymmetric(expected) || isOperator(expected)) return actual
  const named = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(named.map(([key, inner]) => [key, groupFailures(inner, actual[key])]))
}

const isOperator = (value: Fields): boolean => Object.keys(value).some(key => key.startsWith('$'))
