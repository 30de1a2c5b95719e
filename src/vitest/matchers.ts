/** Matchers that look back: what the intermediary has called so far, and what it was delivered. */
import { ENDPOINTS } from '../contract/endpoints.ts'
import { WEBHOOK_EVENTS, type WebhookEventName } from '../contract/events.ts'
import type { CallId } from '../contract/wire.ts'
import type { Times } from '../scenario/action.ts'
import { notTakenSince } from '../scenario/judge/not-taken.ts'
import { howOften, listed, patternText } from '../scenario/judge/words.ts'
import type { Failure } from '../scenario/verdict.ts'
import { anything, checkStrictly } from '../simulator/strict.ts'
import type { Simulator } from '../simulator.ts'
import { ownerOf } from '../testing/chat.ts'
import { reportLines } from '../testing/expectation-error.ts'
import { checkThere } from '../testing/expectations.ts'
import { bodyPattern } from '../testing/expected.ts'
import { type Session, sessionOf } from '../testing/session.ts'
import { type HowOften, invalid, timesOf } from '../testing/settings.ts'
import { type Tally, tallyCalls, tallyDeliveries } from '../testing/tally.ts'
import { alike } from './alike.ts'

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
    const tally = tallyCalls(session, chatId, call, body)
    const result = resultOf(session, tally, { call, body, options, chatId, rules: [ENDPOINTS[call].rule] })
    if (result.pass && !this.isNot) for (const seq of tally.seqs) session.accepted.add(seq)
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
    const tally = tallyDeliveries(session, chatId, event, payload)
    return resultOf(session, tally, { call: event, body: payload, options, chatId, rules: ['WH1'] })
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

function resultOf(session: Session, tally: Tally, asked: Asked): Result {
  const times = asked.options?.times === undefined ? AT_LEAST_ONCE : timesOf(asked.options.times)
  const pass = tally.count >= times.min && tally.count <= times.max
  const nearest = tally.misses[0]
  const compared = pass || nearest === undefined || asked.body === undefined || tally.count > 0
  return {
    pass,
    message: () => reportLines(session, [failureOf(session, tally, asked, pass, times)]).join('\n'),
    ...(compared ? {} : { expected: asked.body, actual: alike(asked.body, nearest.body) }),
  }
}

const MOST_MISSES = 6

function failureOf(session: Session, tally: Tally, asked: Asked, pass: boolean, times: Times): Failure {
  const { call, body, chatId, rules } = asked
  const pattern = patternText({ call: call as CallId, body: body ?? null })
  const often = asked.options?.times === undefined ? '' : ` ${howOften(times)}`
  return {
    kind: pass ? 'none' : 'expect',
    step: null,
    lane: session.laneOf(chatId) || null,
    wanted: `${pass ? 'not ' : ''}${pattern}${often}`,
    happened: cameText(tally, call),
    rules: [...rules],
    nearest: pass ? [] : tally.misses.slice(0, MOST_MISSES).map(({ body: _, ...miss }) => miss),
    marks: pass ? tally.seqs : [...tally.seqs, ...tally.misses.slice(0, 1).map(({ seq }) => seq)],
    soft: false,
    ...(pass || tally.count > 0 ? {} : notTaken(session, chatId)),
  }
}

/** Why nothing came may be that nothing arrived. */
function notTaken({ court, laneOf }: Session, chatId: string | null): { hint?: string } {
  const hint = chatId === null ? null : notTakenSince(court.facts, laneOf(chatId), 0)
  return hint === null ? {} : { hint }
}

function cameText({ count, seqs, misses }: Tally, call: string): string {
  if (count === 0) return misses.length === 0 ? `no ${call} came` : `${call} came, and never like this`
  return `it came ${count === 1 ? 'once' : `${count} times`}: ${listed(seqs)}`
}

interface Subject {
  readonly sim: Simulator
  readonly chatId: string | null
}

function subjectOf(matcher: string, received: unknown): Subject {
  if (typeof received === 'object' && received !== null) {
    const owner = ownerOf(received)
    if (owner !== undefined) {
      checkThere(owner)
      return owner
    }
    if ('journal' in received && 'findChat' in received) return { sim: received as Simulator, chatId: null }
  }
  throw new TypeError(`${matcher} is asked of a simulator or of a chat of one: expect(await sim.chat()).${matcher}(…).`)
}

/** What nothing fits, or is not looked at, would let `not` pass. */
function checkAsked(matcher: string, body: unknown, options: TimesOption = {}): void {
  checkStrictly(matcher, options, { times: anything })
  bodyPattern(body)
}

function checkName(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw invalid(what, `${what} must be one of ${known.join(', ')}, got ${JSON.stringify(name)}.`)
}
