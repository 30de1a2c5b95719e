/** Evaluates `agent: { sees }`: claims the expected items as they appear in the agent's inbox. */

import type { Action } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { asItem, countBefore, type InboxClaims, shortItem } from './claims.ts'
import type { Expected } from './failure.ts'
import type { InboxRead } from './journal-index.ts'
import { fits } from './matching/match.ts'
import { flow } from './matching/value-text.ts'
import { chatIn } from './references.ts'
import { type InboxMatch, type ItemQuery, notSeen, seenTooOften } from './sees-failure.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
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
    try {
      this.#matcher = asItem(interpolate(this.#action.item, this.#context.scopeOf(this.step.number)))
    } catch (error) {
      if (!(error instanceof InterpolationError)) throw error
      this.#unfillable = error.message
      this.#decided = 'failed'
    }
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
    const item = flow(this.#unfillable === null ? shortItem(this.#matcher) : written, LONGEST_ITEM)
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
    const awaited = { code: 'inbox_item', item: flow(shortItem(this.#matcher)) } as const
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
