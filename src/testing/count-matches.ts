/** Counts past calls and events that match, without waiting or claiming, for the matchers of vitest. */
import type { WebhookEventName } from '../contract/events.ts'
import type { CallId } from '../contract/wire.ts'
import { type Call, nameOf } from '../evaluator/call.ts'
import { AVAILABILITY } from '../evaluator/journal-index.ts'
import { match } from '../evaluator/matching/match.ts'
import { differencesOf, type Judging, obstacles, type Wanted } from '../evaluator/near-misses.ts'
import { asExpectation } from '../evaluator/none.ts'
import type { NearMiss } from '../evaluator/verdict.ts'
import { BEGINNING } from '../evaluator/windows.ts'
import type { EntryOf } from '../journal/entry.ts'
import { failureText } from '../wording/delivery.ts'
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
  const judging: Judging = { index, claims: { ...claims, ownerOf: () => null }, options }
  const leaf = asExpectation({ call, body: body ?? null })
  const wantedFor = (one: Call): Wanted => {
    const conversation = index.conversationOf(one)
    const own =
      chatId === null && conversation !== AVAILABILITY && conversation !== null
        ? conversation
        : run.conversationOf(chatId)
    return { leaf, step: 0, conversation: own, from: BEGINNING, floor: null, untilMs: null }
  }
  const calls = index.calls.filter(({ endpoint }) => endpoint === call)
  return toMatchCount(calls.map(one => compareCall(one, wantedFor(one), judging, run)))
}

function compareCall(call: Call, wanted: Wanted, judging: Judging, run: TestRun): Comparison {
  const rules = obstacles(wanted, call, judging)
  if (rules.length === 0) return { seq: call.seq, miss: null }
  const differences = differencesOf(call, wanted.leaf, judging.options)
  const why = rules.map(rule => rule.why(call, wanted, judging)).join('; ')
  const afterMs = Math.round(call.readAt - startOf(run))
  const rank = (rules.length - 1) * RULE_RANK + differences.length
  return {
    seq: call.seq,
    miss: { seq: call.seq, what: nameOf(call), afterMs, why, differences, body: call.body, rank },
  }
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
  const why = [
    chatId === null || chat_id === chatId ? '' : `of chat ${JSON.stringify(run.conversationOf(chat_id ?? null))}`,
    outcome === 'delivered' ? '' : status === null ? failureText(failure) : `answered ${status}`,
    differences.length === 0 ? '' : `${differences.length} field${differences.length === 1 ? ' differs' : 's differ'}`,
  ].filter(part => part !== '')
  if (why.length === 0) return { seq, miss: null }
  const afterMs = Math.round(entry.at_ms - entry.duration_ms - startOf(run))
  const rank = (why.length - 1) * RULE_RANK + differences.length
  return { seq, miss: { seq, what: entry.event, afterMs, why: why.join('; '), differences, body, rank } }
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
