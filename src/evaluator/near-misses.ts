/** The calls that were looked at and not taken, the most telling first, each with its reason. */

import type { Expectation } from '../scenario/action.ts'
import { type Call, isLater, nameOf, shortName } from './call.ts'
import type { ClaimRegistry } from './claims.ts'
import { AVAILABILITY, type ConversationKey, type JournalIndex } from './journal-index.ts'
import { distanceOf, fits, type MatchOptions, match } from './matching/match.ts'
import type { Difference, NearMiss } from './verdict.ts'
import type { Moment } from './windows.ts'
import { seconds } from './wording.ts'

export interface Miss extends NearMiss {
  readonly call: Call
  /** What was in its way; empty when it was answered too late to be looked at, or stands at the wrong place of a sequence. */
  readonly obstacles: readonly Obstacle[]
  readonly score: number
}

/** How far a call is from being the right one. */
const WEIGHTS: Readonly<Record<Obstacle, number>> = {
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

export function nearMissesOf(judging: Judging, wanted: Wanted, taken: readonly Call[], endMs: number | null): Miss[] {
  const own = new Set(taken.map(({ seq }) => seq))
  const nearMisses = judging.index.calls
    .filter(call => !own.has(call.seq))
    .map(call => missOf(judging, wanted, call, freeText(call, taken, endMs)))
    .filter(miss => isTelling(miss, wanted))
  return nearMisses.sort((a, b) => a.score - b.score || b.call.readAt - a.call.readAt).slice(0, MOST)
}

/** `free`: why it was not taken though nothing is in its way. */
function missOf(judging: Judging, wanted: Wanted, call: Call, free: string): Miss {
  const rules = obstacles(wanted, call, judging)
  const names = rules.map(({ obstacle }) => obstacle)
  const only = rules.find(({ obstacle }) => obstacle === 'claimed' || obstacle === 'call')
  const why =
    only === undefined ? rules.map(rule => rule.why(call, wanted, judging)) : [only.why(call, wanted, judging)]
  const differences =
    only === undefined && names.includes('fields') ? differencesOf(call, wanted.leaf, judging.options) : []
  return {
    call,
    obstacles: names,
    score: names.reduce((sum, name) => sum + WEIGHTS[name], 0) + distanceOf(differences),
    seq: call.seq,
    what: nameOf(call),
    afterMs: Math.round(call.readAt - startOf(judging, wanted)),
    why: why.length > 0 ? why.join('; ') : free,
    differences,
  }
}

/** In a sequence it may have come before what has to come first. */
function freeText(call: Call, taken: readonly Call[], endMs: number | null): string {
  const first = taken.find(one => isLater(one, call))
  if (first !== undefined && call.atMs <= (endMs ?? call.atMs))
    return `before ${shortName(first)}, which has to come first`
  return `read in time, answered ${seconds(call.atMs - (endMs ?? call.readAt))} too late to be seen`
}

const startOf = ({ index }: Judging, { from }: Wanted): number =>
  Number.isFinite(from.atMs) ? from.atMs : (index.started?.at_ms ?? 0)

/** What belongs to others explains nothing: their claimed calls, and their calls with another text. */
function isTelling({ obstacles: names }: Miss, { leaf }: Wanted): boolean {
  if (names.includes('call')) return names.length <= 2 && names.every(name => name === 'call' || name === 'fields')
  if (!names.includes('chat')) return true
  return !names.includes('claimed') && !names.includes('before') && !(leaf.body !== null && names.includes('fields'))
}

/** Without what only the judge needs. */
export const shown = ({ seq, what, afterMs, why, differences }: Miss): NearMiss => ({
  seq,
  what,
  afterMs,
  why,
  differences,
})

/** What surrounds one expectation; `leaf` has its matcher filled. */
export interface Wanted {
  readonly leaf: Expectation
  readonly step: number
  readonly conversation: string
  /** From here on calls count. */
  readonly from: Moment
  /** The call must be later than this one. */
  readonly floor: Call | null
  /** Null: no bound. */
  readonly untilMs: number | null
}

export interface Judging {
  readonly index: JournalIndex
  readonly claims: ClaimRegistry
  readonly options: MatchOptions
}

export type Obstacle = 'call' | 'chat' | 'claimed' | 'before' | 'earlier' | 'late' | 'key' | 'bot' | 'alias' | 'fields'

interface Rule {
  readonly obstacle: Obstacle
  blocks(call: Call, wanted: Wanted, judging: Judging): boolean
  why(call: Call, wanted: Wanted, judging: Judging): string
}

/** The call itself first, then when it came, then what is in it. */
const RULES: readonly Rule[] = [
  {
    obstacle: 'call',
    blocks: (call, { leaf }) => (leaf.call === 'any' ? call.endpoint === null : call.endpoint !== leaf.call),
    why: call => (call.endpoint === null ? 'no path of the platform' : `it is ${call.endpoint}`),
  },
  {
    obstacle: 'chat',
    blocks: (call, wanted, { index }) => index.conversationOf(call) !== conversationOfWanted(wanted),
    why: (call, _, { index }) => whoseChat(call, index),
  },
  {
    obstacle: 'claimed',
    blocks: (call, { step }, { claims }) => ![null, step].includes(claims.ownerOf(call)),
    why: (call, _, { claims }) => `already claimed by step ${claims.ownerOf(call)}`,
  },
  {
    obstacle: 'before',
    blocks: (call, { from }) => call.readAt < from.atMs,
    why: (call, { from }) => `before the turn: ${seconds(from.atMs - call.readAt)} before step ${from.step} began`,
  },
  {
    obstacle: 'earlier',
    blocks: (call, { floor }) => floor !== null && !isLater(call, floor),
    why: (_, { floor }, { claims }) => `earlier than #${floor!.seq}, the call of step ${claims.ownerOf(floor!)}`,
  },
  {
    obstacle: 'late',
    blocks: (call, { untilMs }) => untilMs !== null && call.readAt > untilMs,
    why: (call, { untilMs }) => `${seconds(call.readAt - untilMs!)} late`,
  },
  {
    obstacle: 'key',
    blocks: ({ entry: { auth } }, { leaf }) => (leaf.auth === 'valid' ? auth !== 'valid' : !BAD_KEYS.includes(auth)),
    why: ({ entry: { auth, status } }, { leaf }) =>
      leaf.auth === 'valid' ? `bad key: ${KEY_WORDS[auth] ?? `refused with ${status}`}` : 'its key is valid',
  },
  {
    obstacle: 'bot',
    blocks: ({ body }, { conversation }, { index }) => wrongBot(body, botOf(conversation, index)),
    why: ({ body }, { conversation }, { index }) =>
      `bot_id is ${JSON.stringify((body as Fields).bot_id)}, this bot is ${botOf(conversation, index)}`,
  },
  {
    obstacle: 'alias',
    blocks: ({ entry }, { leaf }) => leaf.alias !== null && entry.alias !== leaf.alias,
    why: ({ entry }, { leaf }) => `under /${entry.alias}/, not /${leaf.alias}/`,
  },
  {
    obstacle: 'fields',
    blocks: ({ body }, { leaf }, { options }) => leaf.body !== null && !fits(leaf.body, body, options),
    why: (call, { leaf }, { options }) => {
      const { length } = differencesOf(call, leaf, options)
      return `${length} field${length === 1 ? ' differs' : 's differ'}`
    },
  },
]

type Fields = Readonly<Record<string, unknown>>

const BAD_KEYS: readonly string[] = ['missing', 'malformed', 'unknown', 'wrong_scope']
const KEY_WORDS: Readonly<Record<string, string>> = {
  missing: 'the header Authorization is missing',
  malformed: 'the header is not Authorization: Bearer <API_KEY>',
  unknown: 'the platform does not know it',
  wrong_scope: 'it does not open this endpoint',
}

export const conversationOfWanted = ({ conversation, leaf }: Pick<Wanted, 'conversation' | 'leaf'>): ConversationKey =>
  leaf.call === 'availability' ? AVAILABILITY : conversation

function whoseChat(call: Call, index: JournalIndex): string {
  if (call.chatId === null) return 'it has no chat_id'
  const conversation = index.conversationOfChat(call.chatId)
  if (conversation === null) return `chat_id ${JSON.stringify(call.chatId)} is no chat of this scenario`
  return `chat_id belongs to chat ${JSON.stringify(conversation)}: cross-talk?`
}

/** A chat may belong to another bot than the main one. */
const botOf = (conversation: string, { opened, started }: JournalIndex): number | undefined =>
  opened(conversation)?.chat.bot_id ?? started?.bot.id

function wrongBot(body: unknown, wanted: number | undefined): boolean {
  const id = (body as Fields | null)?.bot_id
  return wanted !== undefined && id !== undefined && id !== wanted
}

export const differencesOf = (call: Call, { body }: Expectation, options: MatchOptions): Difference[] =>
  body === null ? [] : match(body, call.body, options)

export const takes = (wanted: Wanted, call: Call, judging: Judging): boolean =>
  RULES.every(rule => !rule.blocks(call, wanted, judging))

/** Everything in its way, in the order of the table; empty when it fits. */
export const obstacles = (wanted: Wanted, call: Call, judging: Judging): Rule[] =>
  RULES.filter(rule => rule.blocks(call, wanted, judging))
