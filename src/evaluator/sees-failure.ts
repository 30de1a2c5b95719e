/** What to tell about a `sees` that did not come true. */

import type { PlannedStep } from '../scenario/plan.ts'
import { counted } from '../text/counted.ts'
import { type InboxClaims, itemName } from './claims.ts'
import { distanceOf, match } from './matching/match.ts'
import { notTakenHint } from './reachability.ts'
import type { Looked } from './sees.ts'
import type { EvaluationContext, FailureDetails } from './step-evaluator.ts'
import type { Difference, NearMiss } from './verdict.ts'
import { differenceText } from './wording.ts'

export interface Unseen {
  readonly wanted: unknown
  readonly text: string
  readonly looked: Looked | null
}

/** The intermediary forwards what users write (W4, WH2). */
const RULES = ['W4', 'WH2']

export function seenTooOften(text: string, { read, found }: Looked): FailureDetails {
  const places = found.map(place => itemName(read.items, place)).join(', ')
  return {
    kind: 'sees',
    wanted: text,
    happened: `seen ${counted(found.length, 'time')}: ${places}`,
    rules: RULES,
    nearest: [],
    marks: [read.seq],
    hint: 'Is an event that is delivered again, or answered late, forwarded again?',
  }
}

export function notSeen(
  context: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  unseen: Unseen,
): FailureDetails {
  const { looked, text } = unseen
  const nearest = looked === null ? [] : near(context, claims, step, unseen.wanted, looked)
  const hint = notTakenHint(context, step)
  return {
    kind: 'sees',
    wanted: text,
    happened: looked === null ? 'the inbox was never read' : whatIsThere(looked, nearest),
    rules: RULES,
    nearest,
    marks: looked === null ? [] : [looked.read.seq],
    ...(hint === null ? {} : { hint }),
  }
}

function whatIsThere({ read, from, found }: Looked, nearest: readonly NearMiss[]): string {
  const [best] = nearest
  const seen = found.length > 0 ? `seen ${counted(found.length, 'time')}; ` : ''
  const fresh = read.items.length - from - found.length
  if (best?.why.startsWith(EARLIER)) return `${seen}${best.what} is there, ${best.why}`
  if (best === undefined || fresh <= 0) return `${seen}${nothingNew(nearest, found.length > 0)}`
  const [first] = best.differences
  if (first === undefined) return `${seen}nearest: ${best.what}: ${best.why}`
  const name = first.path === 'text' ? best.what.replace(/ ".*$/, '') : best.what
  return `${seen}nearest: ${name}: ${differenceText(first)}`
}

function nothingNew(nearest: readonly NearMiss[], another: boolean): string {
  const taken = nearest.find(({ why, differences }) => differences.length === 0 && why.startsWith(CLAIMED))
  if (taken !== undefined) return `no other came: ${taken.what} is ${taken.why}`
  return `nothing ${another ? 'else ' : ''}new came into the inbox`
}

const MOST = 5

/** The items of the inbox, the new ones first and of them the most alike. */
function near(
  { options, index, windows }: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  wanted: unknown,
  looked: Looked,
) {
  const { read, from, found } = looked
  const moment = windows.turnStart(step)
  const start = Number.isFinite(moment.atMs) ? moment.atMs : (index.started?.at_ms ?? 0)
  const ranked = read.items.flatMap((item, place) => {
    if (found.includes(place)) return []
    const differences = match(wanted, item, options)
    const miss: NearMiss = {
      seq: read.seq,
      what: itemName(read.items, place),
      afterMs: Math.round(read.askedAt - start),
      why: whyNot(claims, step, looked, place, differences),
      differences,
    }
    return [{ miss, place, rank: distanceOf(differences) + (place < from ? FAR : 0) }]
  })
  ranked.sort((a, b) => a.rank - b.rank || b.place - a.place)
  return ranked.slice(0, MOST).map(({ miss }) => miss)
}

const FAR = 1000
const EARLIER = 'but before'
const CLAIMED = 'already claimed by step'

function whyNot(
  claims: InboxClaims,
  { conversation, number }: PlannedStep,
  { read, start, from }: Looked,
  place: number,
  differences: readonly Difference[],
): string {
  const ownerOf = (one: number) => claims.ownerOf(conversation, read.book, one)
  const owner = ownerOf(place)
  if (owner !== null && owner !== number) return `${CLAIMED} ${owner}`
  if (place >= from) return `${counted(differences.length, 'field')} differ${differences.length === 1 ? 's' : ''}`
  const isEarlier = place >= start && differences.length === 0
  return isEarlier ? `${EARLIER} ${itemName(read.items, from - 1)} of step ${ownerOf(from - 1)}` : 'there before'
}
