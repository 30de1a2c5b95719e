/** Finds the call that an expectation looks for, and registers which expectation has claimed which call or inbox item. */

import { isMap } from '../../base/objects.ts'
import { counted } from '../../base/text/quantities.ts'
import { type Cause, causedBy, type Difference, type NearMiss } from '../finding.ts'
import type { CallPattern, Expectation } from '../scenario/plan.ts'
import { bodyNotation } from '../scenario/value-text.ts'
import { AVAILABILITY, type ConversationKey, type IndexedCall, isLater, type JournalIndex } from './journal-index.ts'
import { countDifferences, distanceOf, type MatchOptions, match } from './match.ts'
import { callText, seconds } from './words.ts'

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
  readonly #floors = new Map<ConversationKey, IndexedCall>()
  readonly #reported = new Set<number>()

  /** The number of the step or expectation that has the call, or null. */
  ownerOf = ({ seq }: Pick<IndexedCall, 'seq'>): number | null => this.#owners.get(seq) ?? null

  /** Replaces what the step had before. */
  assign(step: number, before: readonly IndexedCall[], calls: readonly IndexedCall[]): void {
    for (const { seq } of before) this.#owners.delete(seq)
    for (const { seq } of calls) this.#owners.set(seq, step)
  }

  /** The last call claimed in a conversation: the next one must be later. */
  floorOf(conversation: ConversationKey): IndexedCall | null {
    return this.#floors.get(conversation) ?? null
  }

  raiseFloor(conversation: ConversationKey, call: IndexedCall): void {
    const floor = this.floorOf(conversation)
    if (floor === null || isLater(call, floor)) this.#floors.set(conversation, call)
  }

  /** Marks a call that a failure names, so that it is not reported again as unexpected. */
  report({ seq }: IndexedCall): void {
    this.#reported.add(seq)
  }

  isReported({ seq }: IndexedCall): boolean {
    return this.#reported.has(seq)
  }

  /** Forgets the calls that the journal no longer has. */
  removeBefore(firstSeq: number): void {
    for (const seq of this.#owners.keys()) if (seq < firstSeq) this.#owners.delete(seq)
    for (const seq of this.#reported) if (seq < firstSeq) this.#reported.delete(seq)
  }
}

/** Registers the owners of inbox items by their number, for each conversation. */
export class InboxClaims {
  readonly #owners = new Map<string, Map<number, number>>()

  ownersIn(conversation: string): Map<number, number> {
    const owners = this.#owners.get(conversation) ?? new Map<number, number>()
    this.#owners.set(conversation, owners)
    return owners
  }
}

export interface CallQuery {
  /** Its body is filled in. */
  readonly leaf: Expectation
  readonly step: number
  readonly conversation: string
  /** Calls count from this moment on. */
  readonly from: Moment
  /** The call must be later than this one. */
  readonly floor: IndexedCall | null
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

/** Why a call or an item is not the expected one. */
export interface Obstacle {
  readonly code: ObstacleCode
  readonly text: string
  /** The step that the text names without its label. */
  readonly step?: number | null
}

export type ObstacleCode =
  | ('call' | 'chat' | 'claimed' | 'before' | 'earlier' | 'late' | 'key' | 'bot' | 'alias' | 'fields')
  | ('order' | 'answered_late' | 'before_item' | 'before_turn' | 'of_chat' | 'not_delivered')

const KEYS: Readonly<Record<string, string>> = {
  missing: 'the header Authorization is missing',
  malformed: 'the header is not Authorization: Bearer <API_KEY>',
  unknown: 'the platform does not know it',
  wrong_scope: 'it does not open this endpoint',
}

export const claimedBy = (step: number): Obstacle => ({
  code: 'claimed',
  text: `already claimed by step ${step}`,
  step,
})

export const fieldsDiffer = (count: number): Obstacle => ({
  code: 'fields',
  text: `${counted(count, 'field')} ${count === 1 ? 'differs' : 'differ'}`,
})

/**
 * Yields everything that keeps a call from being the expected one: first which call it is, then when it arrived, then
 * what is in it. Yields nothing for a call that fits.
 */
export function* obstaclesOf(
  query: CallQuery,
  call: IndexedCall,
  { index, claims, options }: MatchContext,
): Generator<Obstacle> {
  const { leaf, conversation, from, floor, untilMs, step } = query
  const { endpoint, chatId, readAt, entry } = call
  if (leaf.call === 'any' ? endpoint === null : endpoint !== leaf.call)
    yield { code: 'call', text: endpoint === null ? 'no path of the platform' : `it is ${endpoint}` }
  if (index.conversationOf(call) !== conversationOfQuery(query))
    yield { code: 'chat', text: otherChatText(index, chatId) }
  const owner = claims.ownerOf(call)
  if (owner !== null && owner !== step) yield claimedBy(owner)
  if (readAt < from.atMs) {
    const turn = from.step === null ? `#${from.seq}` : `step ${from.step} began`
    yield { code: 'before', text: `before the turn: ${seconds(from.atMs - readAt)} before ${turn}`, step: from.step }
  }
  if (floor !== null && !isLater(call, floor)) {
    const step = claims.ownerOf(floor)
    yield { code: 'earlier', text: `earlier than #${floor.seq}, the call of step ${step}`, step }
  }
  if (untilMs !== null && readAt > untilMs) yield { code: 'late', text: `${seconds(readAt - untilMs)} late` }
  const { auth, status, alias } = entry
  if (leaf.auth === 'valid' && auth !== 'valid')
    yield { code: 'key', text: `bad key: ${KEYS[auth] ?? `refused with ${status}`}` }
  if (leaf.auth !== 'valid' && !Object.hasOwn(KEYS, auth)) yield { code: 'key', text: 'its key is valid' }
  const { body } = call
  const bot = index.botOf(conversation)
  const received = isMap(body) ? body.bot_id : undefined
  if (bot !== undefined && received !== undefined && received !== bot)
    yield { code: 'bot', text: `bot_id is ${JSON.stringify(received)}, this bot is ${bot}` }
  if (leaf.alias !== null && alias !== leaf.alias)
    yield { code: 'alias', text: `under /${alias}/, not /${leaf.alias}/` }
  const count = leaf.body === null ? 0 : countDifferences(leaf.body, body, options)
  if (count > 0) yield fieldsDiffer(count)
}

function otherChatText(index: JournalIndex, chatId: string | null): string {
  if (chatId === null) return 'it has no chat_id'
  const conversation = index.history.conversationOf(chatId)
  if (conversation !== null) return `chat_id belongs to chat ${JSON.stringify(conversation)}: cross-talk?`
  const where = index.audience === 'test' ? 'simulator' : 'scenario'
  return `chat_id ${JSON.stringify(chatId)} is no chat of this ${where}`
}

export const accepts = (query: CallQuery, call: IndexedCall, context: MatchContext): boolean =>
  obstaclesOf(query, call, context).next().done === true

export const differencesOf = (call: IndexedCall, { body }: CallPattern, options: MatchOptions): Difference[] =>
  body === null ? [] : match(body, call.body, options)

/** A near miss that is a call; without obstacles, it was only answered too late or is at another place of a sequence. */
export interface CallMiss {
  readonly call: IndexedCall
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
  taken: readonly IndexedCall[],
  endMs: number | null,
): CallMiss[] {
  const { index, options } = context
  const { leaf, from } = query
  const startMs = index.startMs(from)
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
      const first = taken.find(claimed => isLater(claimed, call))
      const isInTime = call.atMs <= (endMs ?? call.atMs)
      const lateMs = call.atMs - (endMs ?? call.readAt)
      if (first !== undefined && isInTime)
        obstacles.push({ code: 'order', text: `before ${callText(first)}, which has to come first` })
      else
        obstacles.push({
          code: 'answered_late',
          text: `read in time, but answered ${seconds(lateMs)} after the step ended`,
        })
    }
    misses.push({ call, score, afterMs: Math.round(call.readAt - startMs), obstacles, differences })
  }
  return misses.sort((a, b) => a.score - b.score || b.call.readAt - a.call.readAt).slice(0, MAX_MISSES)
}

export const hasObstacle = ({ obstacles }: Pick<CallMiss, 'obstacles'>, ...codes: readonly ObstacleCode[]): boolean =>
  obstacles.some(({ code }) => codes.includes(code))

/** `bad key: the platform does not know it; 1 field differs` */
export const obstaclesText = (obstacles: readonly Obstacle[]): string =>
  obstacles.map(({ text }) => text).join('; ') || 'no step claims it'

export const nearMiss = (
  { seq, what, afterMs, differences }: Pick<NearMiss, 'seq' | 'what' | 'afterMs' | 'differences'>,
  obstacles: readonly Obstacle[],
): NearMiss => ({
  ...{ seq, what, afterMs, codes: obstacles.map(({ code }) => code), why: obstaclesText(obstacles), differences },
  steps: obstacles.flatMap(({ step }) => step ?? []),
})

/** `POST /api/v2/handover/message/` */
export const calledText = ({ entry: { method, path } }: IndexedCall): string => `${method} ${path}`

/** Where the call belongs to another step or is another call, nothing else counts. */
export const findDecisive = (obstacles: readonly Obstacle[]): Obstacle | undefined =>
  obstacles.find(({ code }) => code === 'claimed' || code === 'call')

export function describeMiss({ call, afterMs, obstacles, differences }: CallMiss): NearMiss {
  const decisive = findDecisive(obstacles)
  const shown = decisive === undefined ? obstacles : [decisive]
  return nearMiss({ seq: call.seq, what: calledText(call), afterMs, differences }, shown)
}

/** What a finding says of an expected call, for programs. */
export function describeRequirement({ call, body, times, apartMs, alias, auth }: Expectation) {
  return { call, body: bodyNotation(body), times, apartMs, alias, auth }
}

/** What scenarios have in common in which such a call comes without being expected. */
export function unwantedCause({ endpoint, entry: { path } }: IndexedCall): Cause {
  const name = shownName(endpoint, path)
  return causedBy('unwanted', `${name} is called where no step expects it`, name)
}

/** A call in the words of a cause. */
export const shownName = (endpoint: string | null, path: string): string =>
  endpoint === null ? path : `\`${endpoint}\``
