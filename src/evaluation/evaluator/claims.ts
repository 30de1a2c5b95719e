/** Finds the call that an expectation looks for, and registers which expectation has claimed which call or inbox item. */

import { isMap } from '../../base/objects.ts'
import type { CallPattern, Expectation } from '../scenario/plan.ts'
import { bodyNotation } from '../scenario/value-text.ts'
import type { NearMiss, Obstacle, ObstacleCode, PatternRef, RequirementRef } from './failure.ts'
import {
  AVAILABILITY,
  type Call,
  type ConversationKey,
  callReference,
  isLater,
  type JournalIndex,
} from './journal-index.ts'
import { countDifferences, type Difference, distanceOf, type MatchOptions, match } from './match.ts'

/** A moment, and the entry it is known by. */
export interface Moment {
  readonly atMs: number
  readonly seq: number
  /** The step that began then; null for an action of a test, and for the beginning. */
  readonly step: number | null
}

export const BEGINNING: Moment = { atMs: Number.NEGATIVE_INFINITY, seq: 0, step: null }

/** Registers the owners of calls: each call has one, and those of a conversation are claimed in their order. */
export class ClaimRegistry {
  readonly #owners = new Map<number, number>()
  readonly #floors = new Map<ConversationKey, Call>()
  readonly #reported = new Set<number>()

  /** The number of the step or expectation that has the call, or null. */
  ownerOf = ({ seq }: Pick<Call, 'seq'>): number | null => this.#owners.get(seq) ?? null

  /** Replaces what the step had before. */
  assign(step: number, before: readonly Call[], calls: readonly Call[]): void {
    for (const { seq } of before) this.#owners.delete(seq)
    for (const { seq } of calls) this.#owners.set(seq, step)
  }

  /** The last call claimed in a conversation: the next one must be later. */
  floorOf(conversation: ConversationKey): Call | null {
    return this.#floors.get(conversation) ?? null
  }

  raiseFloor(conversation: ConversationKey, call: Call): void {
    const floor = this.floorOf(conversation)
    if (floor === null || isLater(call, floor)) this.#floors.set(conversation, call)
  }

  /** Marks a call that a failure names, so that it is not reported again as unexpected. */
  report({ seq }: Call): void {
    this.#reported.add(seq)
  }

  isReported({ seq }: Call): boolean {
    return this.#reported.has(seq)
  }

  /** Forgets the calls that the journal no longer has. */
  removeBefore(firstSeq: number): void {
    for (const seq of this.#owners.keys()) if (seq < firstSeq) this.#owners.delete(seq)
    for (const seq of this.#reported) if (seq < firstSeq) this.#reported.delete(seq)
  }
}

/** Registers the owners of inbox items by their place, for each conversation and reset of its inbox. */
export class InboxClaims {
  readonly #owners = new Map<string, Map<number, number>>()

  /** Owners by place. */
  ownersIn(conversation: string, resets: number): Map<number, number> {
    const key = `${resets} ${conversation}`
    const owners = this.#owners.get(key) ?? new Map<number, number>()
    this.#owners.set(key, owners)
    return owners
  }
}

/** Describes the call that one expectation looks for. */
export interface CallQuery {
  /** With its body filled in. */
  readonly leaf: Expectation
  readonly step: number
  readonly conversation: string
  /** Calls count from this moment on. */
  readonly from: Moment
  /** The call must be later than this one. */
  readonly floor: Call | null
  /** Null: no limit. */
  readonly untilMs: number | null
}

/** What calls are compared in. */
export interface MatchContext {
  readonly index: JournalIndex
  readonly claims: Pick<ClaimRegistry, 'ownerOf'>
  readonly options: MatchOptions
}

export const conversationOfQuery = ({
  conversation,
  leaf,
}: Pick<CallQuery, 'conversation' | 'leaf'>): ConversationKey =>
  leaf.call === 'availability' ? AVAILABILITY : conversation

const BAD_KEYS: readonly string[] = ['missing', 'malformed', 'unknown', 'wrong_scope']

/**
 * Yields everything that keeps a call from being the expected one: first which call it is, then when it arrived, then
 * what is in it. Yields nothing for a call that fits.
 */
export function* obstaclesOf(
  query: CallQuery,
  call: Call,
  { index, claims, options }: MatchContext,
): Generator<Obstacle> {
  const { leaf, conversation, from, floor, untilMs, step } = query
  const { endpoint, chatId, readAt, entry } = call
  if (leaf.call === 'any' ? endpoint === null : endpoint !== leaf.call) yield { code: 'call', endpoint }
  if (index.conversationOf(call) !== conversationOfQuery(query))
    yield { code: 'chat', chatId, conversation: index.findConversation(chatId) }
  const owner = claims.ownerOf(call)
  if (owner !== null && owner !== step) yield { code: 'claimed', step: owner }
  if (readAt < from.atMs) yield { code: 'before', step: from.step, seq: from.seq, byMs: from.atMs - readAt }
  if (floor !== null && !isLater(call, floor)) yield { code: 'earlier', seq: floor.seq, step: claims.ownerOf(floor) }
  if (untilMs !== null && readAt > untilMs) yield { code: 'late', byMs: readAt - untilMs }
  const { auth, status, alias } = entry
  if (leaf.auth === 'valid' ? auth !== 'valid' : !BAD_KEYS.includes(auth))
    yield { code: 'key', expected: leaf.auth, received: auth, status }
  const { body } = call
  const bot = index.botOf(conversation)
  const received = isMap(body) ? body.bot_id : undefined
  if (bot !== undefined && received !== undefined && received !== bot)
    yield { code: 'bot', received: JSON.stringify(received), expected: bot }
  if (leaf.alias !== null && alias !== leaf.alias) yield { code: 'alias', received: alias, expected: leaf.alias }
  const count = leaf.body === null ? 0 : countDifferences(leaf.body, body, options)
  if (count > 0) yield { code: 'fields', count }
}

export const accepts = (query: CallQuery, call: Call, context: MatchContext): boolean =>
  obstaclesOf(query, call, context).next().done === true

export const differencesOf = (call: Call, { body }: CallPattern, options: MatchOptions): Difference[] =>
  body === null ? [] : match(body, call.body, options)

/** A near miss that is a call; without obstacles, it was only answered too late or is at another place of a sequence. */
export interface CallMiss {
  readonly call: Call
  readonly afterMs: number
  readonly obstacles: readonly Obstacle[]
  readonly differences: readonly Difference[]
  readonly score: number
}

/** How far each obstacle keeps a call from being the expected one. */
const WEIGHTS: Readonly<Partial<Record<ObstacleCode, number>>> = {
  fields: 10,
  key: 15,
  bot: 15,
  alias: 15,
  late: 20,
  chat: 25,
  earlier: 30,
  before: 40,
  claimed: 50,
  call: 100,
}

const MAX_MISSES = 8

/** The calls that came closest, best first. `taken`: the calls that the expectation has. */
export function callMisses(
  context: MatchContext,
  query: CallQuery,
  taken: readonly Call[],
  endMs: number | null,
): CallMiss[] {
  const { index, options } = context
  const { leaf, from } = query
  const startMs = Number.isFinite(from.atMs) ? from.atMs : (index.started?.at_ms ?? 0)
  const misses: CallMiss[] = []
  for (const call of index.calls) {
    if (taken.some(({ seq }) => seq === call.seq)) continue
    const obstacles = [...obstaclesOf(query, call, context)]
    let differences: readonly Difference[] = []
    let score = 0
    for (const { code } of obstacles) score += WEIGHTS[code] ?? 0
    const codes = obstacles.map(({ code }) => code)
    const isOtherCall = codes.includes('call')
    // Calls of other chats explain nothing when another step claims them or when their text differs.
    if (isOtherCall && codes.some(code => code !== 'call' && code !== 'fields')) continue
    if (!isOtherCall && codes.includes('chat')) {
      if (codes.includes('claimed') || codes.includes('before') || codes.includes('fields')) continue
    }
    if (!isOtherCall && !codes.includes('claimed') && codes.includes('fields')) {
      differences = differencesOf(call, leaf, options)
      score += distanceOf(differences)
    }
    if (obstacles.length === 0) {
      // Nothing blocks it: it is at another place of a sequence, or it was answered after the step had ended.
      const first = taken.find(one => isLater(one, call))
      const isInTime = call.atMs <= (endMs ?? call.atMs)
      if (first !== undefined && isInTime) obstacles.push({ code: 'order', first: callReference(first) })
      else obstacles.push({ code: 'answered_late', byMs: call.atMs - (endMs ?? call.readAt) })
    }
    misses.push({ call, score, afterMs: Math.round(call.readAt - startMs), obstacles, differences })
  }
  return misses.sort((a, b) => a.score - b.score || b.call.readAt - a.call.readAt).slice(0, MAX_MISSES)
}

export const hasObstacle = ({ obstacles }: Pick<NearMiss, 'obstacles'>, ...codes: readonly ObstacleCode[]): boolean =>
  obstacles.some(({ code }) => codes.includes(code))

/** What a report shows: where the call belongs to another step or is another call, nothing else counts. */
export function nearMissOf({ call, afterMs, obstacles, differences }: CallMiss): NearMiss {
  const decisive = obstacles.find(({ code }) => code === 'claimed' || code === 'call')
  return {
    seq: call.seq,
    subject: { code: 'call', ...callReference(call) },
    afterMs,
    obstacles: decisive === undefined ? obstacles : [decisive],
    differences,
  }
}

export const patternRef = ({ call, body }: CallPattern): PatternRef => ({ call, body: bodyNotation(body) })

export function requirementRef(leaf: Expectation): RequirementRef {
  const { times, apartMs, alias, auth } = leaf
  return { ...patternRef(leaf), times, apartMs, alias, auth }
}
