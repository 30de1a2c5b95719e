/** Finds out whether a call is the expected one, and if not, every obstacle; ranks the calls that came closest. */
import { isMap } from '../../base/objects.ts'
import type { Expectation } from '../scenario/plan.ts'
import type { ClaimRegistry } from './claims.ts'
import type { NearMiss, Obstacle, ObstacleCode } from './failure.ts'
import {
  AVAILABILITY,
  type Call,
  type ConversationKey,
  callReference,
  isLater,
  type JournalIndex,
} from './journal-index.ts'
import { countDifferences, type Difference, distanceOf, type MatchOptions, match } from './match.ts'
import type { Moment } from './windows.ts'

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

export interface MatchContext {
  readonly index: JournalIndex
  readonly claims: Pick<ClaimRegistry, 'ownerOf'>
  readonly options: MatchOptions
}

type Check = (call: Call, query: CallQuery, context: MatchContext) => Obstacle | null

const when = (blocks: boolean, obstacle: () => Obstacle): Obstacle | null => (blocks ? obstacle() : null)

/** The call itself first, then when it arrived, then what is in it. */
const CHECKS: readonly Check[] = [
  ({ endpoint }, { leaf }) =>
    when(leaf.call === 'any' ? endpoint === null : endpoint !== leaf.call, () => ({ code: 'call', endpoint })),
  (call, query, { index }) =>
    when(index.conversationOf(call) !== conversationOfQuery(query), () => ({
      code: 'chat',
      chatId: call.chatId,
      conversation: index.conversationOfChat(call.chatId),
    })),
  (call, { step }, { claims }) => {
    const owner = claims.ownerOf(call)
    return owner === null || owner === step ? null : { code: 'claimed', step: owner }
  },
  ({ readAt }, { from }) =>
    when(readAt < from.atMs, () => ({ code: 'before', step: from.step, byMs: from.atMs - readAt })),
  (call, { floor }, { claims }) =>
    floor === null || isLater(call, floor) ? null : { code: 'earlier', seq: floor.seq, step: claims.ownerOf(floor) },
  ({ readAt }, { untilMs }) =>
    untilMs === null || readAt <= untilMs ? null : { code: 'late', byMs: readAt - untilMs },
  ({ entry: { auth, status } }, { leaf }) =>
    when(leaf.auth === 'valid' ? auth !== 'valid' : !BAD_KEYS.includes(auth), () => ({
      code: 'key',
      expected: leaf.auth,
      received: auth,
      status,
    })),
  ({ body }, { conversation }, { index }) => {
    // A chat may belong to another bot than the main one.
    const expected = index.opened(conversation)?.chat.bot_id ?? index.started?.bot.id
    const received = isMap(body) ? body.bot_id : undefined
    if (expected === undefined || received === undefined || received === expected) return null
    return { code: 'bot', received: JSON.stringify(received), expected }
  },
  ({ entry }, { leaf: { alias } }) =>
    alias === null || entry.alias === alias ? null : { code: 'alias', received: entry.alias, expected: alias },
  ({ body }, { leaf }, { options }) => {
    const count = leaf.body === null ? 0 : countDifferences(leaf.body, body, options)
    return when(count > 0, () => ({ code: 'fields', count }))
  },
]

const BAD_KEYS: readonly string[] = ['missing', 'malformed', 'unknown', 'wrong_scope']

export const conversationOfQuery = ({
  conversation,
  leaf,
}: Pick<CallQuery, 'conversation' | 'leaf'>): ConversationKey =>
  leaf.call === 'availability' ? AVAILABILITY : conversation

export const differencesOf = (call: Call, { body }: Expectation, options: MatchOptions): Difference[] =>
  body === null ? [] : match(body, call.body, options)

export const accepts = (query: CallQuery, call: Call, context: MatchContext): boolean =>
  CHECKS.every(check => check(call, query, context) === null)

/** Everything that keeps a call from being the expected one, in the order of the checks; empty when it fits. */
export const obstaclesOf = (query: CallQuery, call: Call, context: MatchContext): Obstacle[] =>
  CHECKS.flatMap(check => check(call, query, context) ?? [])

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

const MOST = 8

/** The calls that came closest, best first. `taken`: the calls that the expectation has. */
export function callMisses(
  context: MatchContext,
  query: CallQuery,
  taken: readonly Call[],
  endMs: number | null,
): CallMiss[] {
  const own = new Set(taken.map(({ seq }) => seq))
  const misses = context.index.calls
    .filter(call => !own.has(call.seq))
    .map(call => {
      // `otherwise`: why the call was not taken although nothing blocks it.
      const otherwise = untakenBecause(call, taken, endMs)
      const all = obstaclesOf(query, call, context)
      const decisive = all.find(({ code }) => code === 'claimed' || code === 'call')
      const compared = decisive === undefined && has({ obstacles: all }, 'fields')
      const differences = compared ? differencesOf(call, query.leaf, context.options) : []
      return {
        call,
        score: all.reduce((sum, { code }) => sum + (WEIGHTS[code] ?? 0), 0) + distanceOf(differences),
        afterMs: Math.round(
          call.readAt - (Number.isFinite(query.from.atMs) ? query.from.atMs : (context.index.started?.at_ms ?? 0)),
        ),
        obstacles: all.length > 0 ? all : [otherwise],
        differences,
      }
    })
    .filter(miss => isRelevant(miss, query))
  return misses.sort((a, b) => a.score - b.score || b.call.readAt - a.call.readAt).slice(0, MOST)
}

export const has = ({ obstacles }: Pick<NearMiss, 'obstacles'>, ...codes: readonly ObstacleCode[]): boolean =>
  obstacles.some(({ code }) => codes.includes(code))

/** In a sequence it may have arrived before a call that has to come first. */
function untakenBecause(call: Call, taken: readonly Call[], endMs: number | null): Obstacle {
  const first = taken.find(one => isLater(one, call))
  if (first !== undefined && call.atMs <= (endMs ?? call.atMs)) return { code: 'order', first: callReference(first) }
  return { code: 'answered_late', byMs: call.atMs - (endMs ?? call.readAt) }
}

/** Calls of other chats explain nothing when another step claims them or when their text differs. */
function isRelevant(miss: CallMiss, { leaf }: CallQuery): boolean {
  const { obstacles } = miss
  if (has(miss, 'call'))
    return obstacles.length <= 2 && obstacles.every(({ code }) => code === 'call' || code === 'fields')
  if (!has(miss, 'chat')) return true
  return !has(miss, 'claimed', 'before') && !(leaf.body !== null && has(miss, 'fields'))
}

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
