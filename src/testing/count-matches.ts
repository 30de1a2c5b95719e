/** What has come so far, without waiting and without claiming: for matchers that look back. */
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
import type { Session } from './test-run.ts'

export interface MatchCount {
  /** How many fit. */
  readonly count: number
  readonly seqs: readonly number[]
  /** The most alike first. */
  readonly misses: readonly (NearMiss & { readonly body: unknown })[]
}

interface Looked {
  readonly seq: number
  readonly miss: (NearMiss & { readonly body: unknown; readonly rank: number }) | null
}

/** Of one chat, or of all. Availability belongs to every chat's bot. */
export function countCalls(session: Session, chatId: string | null, call: CallId, body: unknown): MatchCount {
  const { index, claims, options } = session.evaluation
  const judging: Judging = { index, claims: { ...claims, ownerOf: () => null }, options }
  const leaf = asExpectation({ call, body: body ?? null })
  const wantedFor = (one: Call): Wanted => {
    const conversation = index.conversationOf(one)
    const own =
      chatId === null && conversation !== AVAILABILITY && conversation !== null
        ? conversation
        : session.conversationOf(chatId)
    return { leaf, step: 0, conversation: own, from: BEGINNING, floor: null, untilMs: null }
  }
  const same = index.calls.filter(({ endpoint }) => endpoint === call)
  return countOutcomes(same.map(one => lookAt(one, wantedFor(one), judging, session)))
}

function lookAt(call: Call, wanted: Wanted, judging: Judging, session: Session): Looked {
  const rules = obstacles(wanted, call, judging)
  if (rules.length === 0) return { seq: call.seq, miss: null }
  const differences = differencesOf(call, wanted.leaf, judging.options)
  const why = rules.map(rule => rule.why(call, wanted, judging)).join('; ')
  const afterMs = Math.round(call.readAt - startOf(session))
  const rank = (rules.length - 1) * FAR + differences.length
  return {
    seq: call.seq,
    miss: { seq: call.seq, what: nameOf(call), afterMs, why, differences, body: call.body, rank },
  }
}

const FAR = 1000
const startOf = ({ evaluation }: Session): number => evaluation.index.started?.at_ms ?? 0

/** Each event once, however often it was tried: it has been delivered when one try was. */
export function countDeliveries(
  session: Session,
  chatId: string | null,
  event: WebhookEventName,
  payload: unknown,
): MatchCount {
  const tries = new Map<string, EntryOf<'delivery'>>()
  for (const entry of session.tape) {
    if (entry.kind !== 'delivery' || entry.event !== event || entry.duplicate) continue
    if (tries.get(entry.delivery_id)?.outcome !== 'delivered') tries.set(entry.delivery_id, entry)
  }
  return countOutcomes([...tries.values()].map(entry => lookAtDelivery(entry, chatId, payload, session)))
}

function lookAtDelivery(entry: EntryOf<'delivery'>, chatId: string | null, payload: unknown, session: Session): Looked {
  const { seq, chat_id, outcome, status, failure } = entry
  const body = bodyOf(entry)
  const differences = payload === undefined ? [] : match(payload, body, session.evaluation.options)
  const why = [
    chatId === null || chat_id === chatId ? '' : `of chat ${JSON.stringify(session.conversationOf(chat_id ?? null))}`,
    outcome === 'delivered' ? '' : status === null ? failureText(failure) : `answered ${status}`,
    differences.length === 0 ? '' : `${differences.length} field${differences.length === 1 ? ' differs' : 's differ'}`,
  ].filter(part => part !== '')
  if (why.length === 0) return { seq, miss: null }
  const afterMs = Math.round(entry.at_ms - entry.duration_ms - startOf(session))
  const rank = (why.length - 1) * FAR + differences.length
  return { seq, miss: { seq, what: entry.event, afterMs, why: why.join('; '), differences, body, rank } }
}

function bodyOf({ request: { body } }: EntryOf<'delivery'>): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function countOutcomes(looked: readonly Looked[]): MatchCount {
  const fitting = looked.filter(({ miss }) => miss === null)
  const misses = looked.flatMap(({ miss }) => (miss === null ? [] : [miss]))
  misses.sort((a, b) => a.rank - b.rank || b.seq - a.seq)
  return { count: fitting.length, seqs: fitting.map(({ seq }) => seq), misses }
}
