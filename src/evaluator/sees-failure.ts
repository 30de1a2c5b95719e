/** Explains why a `sees` was not met. */

import type { Times } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { InboxClaims } from './claims.ts'
import { refusedEventHint } from './deliveries.ts'
import type { Expected, InboxDetail } from './failure.ts'
import type { InboxRead } from './journal-index.ts'
import { distanceOf, match } from './matching/match.ts'
import type { Difference, NearMiss, Notation, Obstacle } from './near-miss.ts'
import { itemRef } from './references.ts'
import type { EvaluationContext, FailureDetails } from './step-evaluator.ts'

/** An inbox as it was read, and the items in it that match. */
export interface InboxMatch {
  readonly read: InboxRead
  /** Items from this place on are new in this turn. */
  readonly start: number
  /** Items from this place on are new in this turn and later than those claimed before. */
  readonly from: number
  readonly found: readonly number[]
}

export interface ItemQuery {
  readonly expected: Expected
  readonly item: Notation
  /** With `$(...)` filled in. */
  readonly matcher: unknown
  readonly times: Times
  readonly withinMs: number
}

/** The intermediary forwards what users write (W4, WH2). */
const RULES = ['W4', 'WH2']

export const seenTooOften = ({ expected, item, times }: ItemQuery, { read, found }: InboxMatch): FailureDetails => ({
  kind: 'sees',
  expected,
  happened: { code: 'item_too_often', item, times, items: found.map(place => itemRef(read.items, place)) },
  rules: RULES,
  nearest: [],
  entrySeqs: [read.seq],
  hint: { code: 'forwarded_again' },
})

export function notSeen(
  context: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  about: ItemQuery,
  inbox: InboxMatch | null,
): FailureDetails {
  const nearest = inbox === null ? [] : nearestItems(context, claims, step, about.matcher, inbox)
  const hint = refusedEventHint(context, step)
  const { expected, item, withinMs } = about
  const detail = inbox === null ? ({ code: 'never_read' } as const) : detailOf(inbox, nearest)
  return {
    kind: 'sees',
    expected,
    happened: { code: 'item_missing', item, seen: inbox?.found.length ?? 0, withinMs, detail },
    rules: RULES,
    nearest,
    entrySeqs: inbox === null ? [] : [inbox.read.seq],
    ...(hint === null ? {} : { hint }),
  }
}

type ItemMiss = NearMiss & { readonly subject: Extract<NearMiss['subject'], { code: 'inbox_item' }> }

function detailOf({ read, from, found }: InboxMatch, nearest: readonly ItemMiss[]): InboxDetail {
  const [best] = nearest
  const unclaimed = read.items.length - from - found.length
  if (best?.obstacles[0]?.code === 'before_item')
    return { code: 'earlier', item: best.subject, obstacles: best.obstacles }
  if (best === undefined || unclaimed <= 0) return nothingNew(nearest)
  return { code: 'nearest', item: best.subject, obstacles: best.obstacles, difference: best.differences[0] ?? null }
}

function nothingNew(nearest: readonly ItemMiss[]): InboxDetail {
  for (const { subject, obstacles, differences } of nearest) {
    const [first] = obstacles
    if (differences.length === 0 && first?.code === 'claimed')
      return { code: 'claimed', item: subject, step: first.step }
  }
  return { code: 'nothing_new' }
}

const MOST = 5

/** Items before those of this turn rank behind all others. */
const EARLIER = 1000

/** The items of the inbox, the new ones first and of them the most similar. */
function nearestItems(
  { options, index, windows }: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  matcher: unknown,
  inbox: InboxMatch,
): ItemMiss[] {
  const { read, from, found } = inbox
  const moment = windows.turnStart(step)
  const start = Number.isFinite(moment.atMs) ? moment.atMs : (index.started?.at_ms ?? 0)
  const ranked = read.items.flatMap((item, place) => {
    if (found.includes(place)) return []
    const differences = match(matcher, item, options)
    const miss: ItemMiss = {
      seq: read.seq,
      subject: { code: 'inbox_item', ...itemRef(read.items, place) },
      afterMs: Math.round(read.askedAt - start),
      obstacles: [obstacleOf(claims, step, inbox, place, differences)],
      differences,
    }
    return [{ miss, place, rank: distanceOf(differences) + (place < from ? EARLIER : 0) }]
  })
  ranked.sort((a, b) => a.rank - b.rank || b.place - a.place)
  return ranked.slice(0, MOST).map(({ miss }) => miss)
}

function obstacleOf(
  claims: InboxClaims,
  { conversation, number }: PlannedStep,
  { read, start, from }: InboxMatch,
  place: number,
  differences: readonly Difference[],
): Obstacle {
  const ownerOf = (one: number) => claims.ownerOf(conversation, read.resets, one)
  const owner = ownerOf(place)
  if (owner !== null && owner !== number) return { code: 'claimed', step: owner }
  if (place >= from) return { code: 'fields', count: differences.length }
  const isEarlier = place >= start && differences.length === 0
  if (!isEarlier) return { code: 'before_turn' }
  return { code: 'before_item', item: itemRef(read.items, from - 1), step: ownerOf(from - 1) }
}
