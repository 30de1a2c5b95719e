/** `agent: { sees }`: what must turn up in the agent's inbox, claimed item by item. */

import type { Action } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import { formatDuration } from '../text/duration.ts'
import { asItem, countBefore, type InboxClaims, shortItem } from './claims.ts'
import type { InboxRead } from './journal-index.ts'
import { fits } from './matching/match.ts'
import { flow } from './matching/value-text.ts'
import { notSeen, seenTooOften } from './sees-failure.ts'
import {
  type EvaluationContext,
  FAILED,
  type FailureDetails,
  MET,
  type StepEvaluator,
  until,
} from './step-evaluator.ts'
import { deadlineOf } from './windows.ts'
import { howOften, inConversation } from './wording.ts'

export type Sees = Extract<Action, { verb: 'sees' }>

export interface SeesEvaluator extends StepEvaluator {
  /** More than it may be, by the last look at the inbox; null when it is not. */
  excess(): FailureDetails | null
}

/** The last look is asked for just after the bound. */
const GRACE_MS = 100

/** A look at the inbox, and what in it fits. */
export interface Looked {
  readonly read: InboxRead
  /** Items from this place on are new in this turn. */
  readonly start: number
  /** Items from this place on are new in this turn and later than what was claimed. */
  readonly from: number
  readonly found: readonly number[]
}

export function evaluateSees(
  context: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  action: Sees,
): SeesEvaluator {
  const { index, windows, options } = context
  const { conversation, number } = step
  const { times, forMs } = action
  const begun = index.begun(number)!
  const deadline = deadlineOf(context, step, conversation, action.withinMs)
  const watchedUntil = forMs === null ? null : begun.at_ms + forMs
  const turnSeq = windows.turnStart(step).seq
  let wanted: unknown
  let broken: string | null = null
  let looked: Looked | null = null
  let decided: 'met' | 'failed' | null = null

  try {
    wanted = asItem(interpolate(action.item, context.scopeOf(number)))
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    broken = error.message
    decided = 'failed'
  }

  /** Items that fit and are nobody else's. */
  function look(read: InboxRead): Looked {
    const start = countBefore(index.readsOf(conversation), read, turnSeq)
    const from = Math.max(start, lastClaimedBefore(read.book) + 1)
    const found = read.items.flatMap((item, place) => {
      const free = [null, number].includes(claims.ownerOf(conversation, read.book, place))
      return place >= from && free && fits(wanted, item, options) ? [place] : []
    })
    return { read, start, from, found }
  }

  const floors = new Map<number, number>()

  /** As it was when the step first looked: its own claims do not count. */
  function lastClaimedBefore(book: number): number {
    const known = floors.get(book) ?? claims.floor(conversation, book)
    floors.set(book, known)
    return known
  }

  function consider(): void {
    const read = index.readsOf(conversation).at(-1)
    if (decided !== null || read === undefined || read.seq < begun.seq || read === looked?.read) return
    if (read.askedAt > Math.max(deadline.atMs, watchedUntil ?? 0) + GRACE_MS) return
    looked = look(read)
    const count = looked.found.length
    if (forMs === null) decided = count >= times.min ? 'met' : null
    else if (count > times.max) decided = 'failed'
  }

  const enough = () => (looked?.found.length ?? 0) >= times.min

  function wantedText(): string {
    const many = index.plan.conversations.length > 1
    const item = flow(broken === null ? shortItem(wanted) : action.item, 90)
    const bound = forMs === null ? deadline.text : `for ${formatDuration(forMs)}`
    return `agent sees ${item} ${howOften(times)}${inConversation(conversation, many)} ${bound}`
  }

  /** The user's own later words explain why it is there again. */
  function userWroteItLater(): boolean {
    return index.usersOf(conversation).some(({ seq, action: did, text, attachments }) => {
      const item = did === 'press' ? { request: true } : { text: text ?? '', attachments: attachments ?? [] }
      return seq > begun.seq && fits(wanted, item, options)
    })
  }

  return {
    step,
    consider,
    look(nowMs) {
      if (decided !== null) return decided === 'met' ? MET : FAILED
      const text = `the agent to see ${flow(shortItem(wanted))}`
      const watching = watchedUntil !== null && (enough() || watchedUntil > deadline.atMs)
      return watching
        ? until(nowMs, watchedUntil, enough() ? MET : FAILED, text)
        : until(nowMs, deadline.atMs, FAILED, text)
    },
    close() {
      if (looked !== null) claims.take(conversation, looked.read.book, number, looked.found.slice(0, times.max))
    },
    failure: () => {
      if (broken !== null)
        return { ...notSeen(context, claims, step, { wanted, text: wantedText(), looked: null }), happened: broken }
      const about = { wanted, text: wantedText(), looked }
      return looked !== null && looked.found.length > times.max
        ? seenTooOften(about.text, looked)
        : notSeen(context, claims, step, about)
    },
    excess() {
      const end = index.ended?.seq ?? Number.POSITIVE_INFINITY
      const read = index
        .readsOf(conversation)
        .filter(({ seq }) => seq < end)
        .at(-1)
      if (broken !== null || read === undefined || userWroteItLater()) return null
      const last = look(read)
      return last.found.length > times.max ? seenTooOften(wantedText(), last) : null
    },
  }
}
