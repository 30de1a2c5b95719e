/** Counts past calls and events that match, without waiting or claiming, for the matchers of vitest. */

import type { CallId } from '../contract/endpoints.ts'
import type { WebhookEventName } from '../contract/events.ts'
import type { NearMiss, Obstacle } from '../evaluator/failure.ts'
import { AVAILABILITY, type Call, callReference } from '../evaluator/journal-index.ts'
import { match } from '../evaluator/match.ts'
import { type CallQuery, differencesOf, type MatchContext, obstaclesOf } from '../evaluator/near-misses.ts'
import { asExpectation } from '../evaluator/none.ts'
import { BEGINNING } from '../evaluator/windows.ts'
import type { EntryOf } from '../journal/entry.ts'
import type { TestRun } from './test-run.ts'

export interface MatchCount {
  readonly count: number
  readonly seqs: readonly number[]
  /** Calls or events that do not match, the nearest first. */
  readonly misses: readonly (NearMiss & { readonly body: unknown })[]
}

interface Comparison {
  readonly seq: number
  readonly miss: (NearMiss & { readonly body: unknown; readonly rank: number }) | null
}

/** Counts calls of one chat, or of all chats if `chatId` is null. Calls about availability belong to every chat. */
export function countCalls(run: TestRun, chatId: string | null, call: CallId, body: unknown): MatchCount {
  const { index, claims, options } = run.evaluation
  const matching: MatchContext = { index, claims: { ...claims, ownerOf: () => null }, options }
  const leaf = asExpectation({ call, body: body ?? null })
  const queryFor = (one: Call): CallQuery => {
    const conversation = index.conversationOf(one)
    const own =
      chatId === null && conversation !== AVAILABILITY && conversation !== null
        ? conversation
        : run.conversationOf(chatId)
    return { leaf, step: 0, conversation: own, from: BEGINNING, floor: null, untilMs: null }
  }
  const calls = index.calls.filter(({ endpoint }) => endpoint === call)
  return toMatchCount(calls.map(one => compareCall(one, queryFor(one), matching, run)))
}

function compareCall(call: Call, query: CallQuery, context: MatchContext, run: TestRun): Comparison {
  const { seq, body } = call
  const obstacles = obstaclesOf(query, call, context)
  if (obstacles.length === 0) return { seq, miss: null }
  const differences = differencesOf(call, query.leaf, context.options)
  const afterMs = Math.round(call.readAt - startOf(run))
  const rank = (obstacles.length - 1) * RULE_RANK + differences.length
  const subject = { code: 'call', ...callReference(call) } as const
  return { seq, miss: { seq, subject, afterMs, obstacles, differences, body, rank } }
}

/** A broken rule outweighs any number of different fields. */
const RULE_RANK = 1000
const startOf = ({ evaluation }: TestRun): number => evaluation.index.started?.at_ms ?? 0

/** Counts each event once, however many attempts it took; it is delivered when one attempt was. */
export function countDeliveries(
  run: TestRun,
  chatId: string | null,
  event: WebhookEventName,
  payload: unknown,
): MatchCount {
  const attempts = new Map<string, EntryOf<'delivery'>>()
  for (const entry of run.entries) {
    if (entry.kind !== 'delivery' || entry.event !== event || entry.duplicate) continue
    if (attempts.get(entry.delivery_id)?.outcome !== 'delivered') attempts.set(entry.delivery_id, entry)
  }
  return toMatchCount([...attempts.values()].map(entry => compareDelivery(entry, chatId, payload, run)))
}

function compareDelivery(
  entry: EntryOf<'delivery'>,
  chatId: string | null,
  payload: unknown,
  run: TestRun,
): Comparison {
  const { seq, chat_id, outcome, status, failure } = entry
  const body = bodyOf(entry)
  const differences = payload === undefined ? [] : match(payload, body, run.evaluation.options)
  const obstacles: Obstacle[] = []
  if (chatId !== null && chat_id !== chatId)
    obstacles.push({ code: 'of_chat', conversation: run.conversationOf(chat_id ?? null) })
  if (outcome !== 'delivered')
    obstacles.push({ code: 'not_delivered', status, ...(failure === undefined ? {} : { failure }) })
  if (differences.length > 0) obstacles.push({ code: 'fields', count: differences.length })
  if (obstacles.length === 0) return { seq, miss: null }
  const afterMs = Math.round(entry.at_ms - entry.duration_ms - startOf(run))
  const rank = (obstacles.length - 1) * RULE_RANK + differences.length
  return {
    seq,
    miss: { seq, subject: { code: 'event', event: entry.event }, afterMs, obstacles, differences, body, rank },
  }
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
  return { count: matching.length, seqs: matching.map(({ seq }) => seq), misses }
}
