/** Evaluates `agent: { sees }`: claims the expected items as they appear in the agent's inbox. */

import { interpolate } from '../scenario/interpolation.ts'
import type { Action, PlannedStep, Times } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { itemNotation, type Notation } from '../scenario/value-text.ts'
import { asItem, countBefore, type InboxClaims } from './claims.ts'
import { refusedEventHint } from './deliveries.ts'
import type { Expected, InboxDetail, NearMiss, Obstacle } from './failure.ts'
import type { InboxRead } from './journal-index.ts'
import { type Difference, distanceOf, fits, match } from './match.ts'
import { chatIn, itemRef } from './references.ts'
import {
  type Awaited,
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  failureDetails,
  interpolationProblem,
  MET,
  openUntil,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { type Deadline, deadlineOf } from './windows.ts'

type Sees = Extract<Action, { verb: 'sees' }>

/** The inbox is read once more just after the time limit. */
const GRACE_MS = 100

export class SeesEvaluator implements StepEvaluator {
  readonly step: PlannedStep
  readonly #context: EvaluationContext
  readonly #claims: InboxClaims
  readonly #action: Sees
  readonly #start: RunEventOf<'step_started'>
  readonly #deadline: Deadline
  /** The end of `for`; null without it. */
  readonly #observedUntilMs: number | null
  readonly #turnSeq: number
  /** The last claimed position before the first read, by the resets of the inbox: own claims do not count. */
  readonly #floors = new Map<number, number>()
  #matcher: unknown
  #awaited: Awaited | null = null
  #unfillable: string | null = null
  #inbox: InboxMatch | null = null
  #decided: 'met' | 'failed' | null = null

  constructor(context: EvaluationContext, claims: InboxClaims, step: PlannedStep, action: Sees) {
    this.step = step
    this.#context = context
    this.#claims = claims
    this.#action = action
    this.#start = context.index.startOf(step.number)
    this.#deadline = deadlineOf(context, step, step.conversation, action.withinMs)
    this.#observedUntilMs = action.forMs === null ? null : this.#start.at_ms + action.forMs
    this.#turnSeq = context.windows.turnStart(step).seq
    this.#fill()
  }

  #fill(): void {
    this.#unfillable = interpolationProblem(() => {
      this.#matcher = asItem(interpolate(this.#action.item, this.#context.scopeOf(this.step.number)))
    })
    if (this.#unfillable !== null) this.#decided = 'failed'
  }

  /** The items that match and that no other step has claimed. */
  #matchInbox(read: InboxRead): InboxMatch {
    const { index, options } = this.#context
    const { conversation, number } = this.step
    const start = countBefore(index.readsOf(conversation), read, this.#turnSeq)
    const from = Math.max(start, this.#floorOf(read.resets) + 1)
    const found = read.items.flatMap((item, place) => {
      const free = [null, number].includes(this.#claims.ownerOf(conversation, read.resets, place))
      return place >= from && free && fits(this.#matcher, item, options) ? [place] : []
    })
    return { read, start, from, found }
  }

  #floorOf(resets: number): number {
    const floor = this.#floors.get(resets) ?? this.#claims.floor(this.step.conversation, resets)
    this.#floors.set(resets, floor)
    return floor
  }

  consider(): void {
    const { times, forMs } = this.#action
    const read = this.#context.index.readsOf(this.step.conversation).at(-1)
    if (this.#decided !== null || read === undefined || read.seq < this.#start.seq || read === this.#inbox?.read) return
    if (read.askedAt > Math.max(this.#deadline.atMs, this.#observedUntilMs ?? 0) + GRACE_MS) return
    this.#inbox = this.#matchInbox(read)
    const count = this.#inbox.found.length
    if (forMs === null) this.#decided = count >= times.min ? 'met' : null
    else if (count > times.max) this.#decided = 'failed'
  }

  #isEnough(): boolean {
    return (this.#inbox?.found.length ?? 0) >= this.#action.times.min
  }

  #query(): ItemQuery {
    const { item: written, times, forMs } = this.#action
    const item = itemNotation(this.#unfillable === null ? this.#matcher : written, LONGEST_ITEM)
    const chat = chatIn(this.#context.index.plan, this.step.conversation)
    const { within } = this.#deadline
    const expected: Expected = {
      code: 'inbox_item',
      item,
      times,
      within: forMs === null ? within : null,
      forMs,
      chat,
    }
    return { expected, item, matcher: this.#matcher, times, withinMs: forMs ?? within.ms }
  }

  /** The user wrote the same again later, which explains another such item. */
  #userWroteItLater(): boolean {
    const { index, options } = this.#context
    return index.usersOf(this.step.conversation).some(({ seq, action, text, attachments }) => {
      const item = action === 'press' ? { request: true } : { text: text ?? '', attachments: attachments ?? [] }
      return seq > this.#start.seq && fits(this.#matcher, item, options)
    })
  }

  status(nowMs: number): StepStatus {
    if (this.#decided !== null) return this.#decided === 'met' ? MET : FAILED
    this.#awaited ??= { code: 'inbox_item', item: itemNotation(this.#matcher) }
    const awaited = this.#awaited
    const untilMs = this.#observedUntilMs
    return untilMs !== null && (this.#isEnough() || untilMs > this.#deadline.atMs)
      ? openUntil(nowMs, untilMs, this.#isEnough() ? MET : FAILED, awaited)
      : openUntil(nowMs, this.#deadline.atMs, FAILED, awaited)
  }

  close(): void {
    if (this.#inbox === null) return
    const { read, found } = this.#inbox
    const { conversation, number } = this.step
    this.#claims.take(conversation, read.resets, number, found.slice(0, this.#action.times.max))
  }

  failure(): FailureDetails {
    const query = this.#query()
    if (this.#unfillable !== null) {
      const happened = { code: 'unfillable', message: this.#unfillable } as const
      return { ...notSeen(this.#context, this.#claims, this.step, query, null), happened }
    }
    return this.#inbox !== null && this.#inbox.found.length > this.#action.times.max
      ? seenTooOften(query, this.#inbox)
      : notSeen(this.#context, this.#claims, this.step, query, this.#inbox)
  }

  /** The failure when the inbox, as read last, has more such items than allowed. */
  excess(): FailureDetails | null {
    const { index } = this.#context
    const end = index.ended?.seq ?? Number.POSITIVE_INFINITY
    const read = index.readsOf(this.step.conversation).findLast(({ seq }) => seq < end)
    if (this.#unfillable !== null || read === undefined || this.#userWroteItLater()) return null
    const last = this.#matchInbox(read)
    return last.found.length > this.#action.times.max ? seenTooOften(this.#query(), last) : null
  }
}

const LONGEST_ITEM = 90

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

function seenTooOften({ expected, item, times }: ItemQuery, { read, found }: InboxMatch): FailureDetails {
  const items = found.map(place => itemRef(read.items, place))
  const more = { rules: RULES, entrySeqs: [read.seq], hint: { code: 'forwarded_again' } } as const
  return failureDetails('sees', expected, { code: 'item_too_often', item, times, items }, more)
}

function notSeen(
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
  const happened = { code: 'item_missing', item, seen: inbox?.found.length ?? 0, withinMs, detail } as const
  const entrySeqs = inbox === null ? [] : [inbox.read.seq]
  return failureDetails('sees', expected, happened, { rules: RULES, nearest, entrySeqs, ...(hint && { hint }) })
}

type ItemMiss = NearMiss & { readonly subject: Extract<NearMiss['subject'], { code: 'inbox_item' }> }

function detailOf({ read, from, found }: InboxMatch, nearest: readonly ItemMiss[]): InboxDetail {
  const [best] = nearest
  const unclaimed = read.items.length - from - found.length
  if (best?.obstacles[0]?.code === 'before_item')
    return { code: 'earlier', item: best.subject, obstacles: best.obstacles }
  if (best === undefined || unclaimed <= 0) {
    for (const { subject, obstacles, differences } of nearest) {
      const [first] = obstacles
      if (differences.length === 0 && first?.code === 'claimed')
        return { code: 'claimed', item: subject, step: first.step }
    }
    return { code: 'nothing_new' }
  }
  return { code: 'nearest', item: best.subject, obstacles: best.obstacles, difference: best.differences[0] ?? null }
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
