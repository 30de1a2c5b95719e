/** Evaluates `agent: { sees }`: claims the expected items as they appear in the agent's inbox. */

import type { Action } from '../scenario/action.ts'
import { InterpolationError, interpolate } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
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
} from './step-evaluator.ts'
import { deadlineOf } from './windows.ts'

type Sees = Extract<Action, { verb: 'sees' }>

export interface SeesEvaluator extends StepEvaluator {
  /** The failure when the inbox, as read last, has more such items than allowed. */
  excess(): FailureDetails | null
}

/** The inbox is read once more just after the time limit. */
const GRACE_MS = 100

export function evaluateSees(
  context: EvaluationContext,
  claims: InboxClaims,
  step: PlannedStep,
  action: Sees,
): SeesEvaluator {
  const { index, windows, options } = context
  const { conversation, number } = step
  const { times, forMs } = action
  const begun = index.startOf(number)
  const deadline = deadlineOf(context, step, conversation, action.withinMs)
  const observedUntil = forMs === null ? null : begun.at_ms + forMs
  const turnSeq = windows.turnStart(step).seq
  let matcher: unknown
  let unfillable: string | null = null
  let inbox: InboxMatch | null = null
  let decided: 'met' | 'failed' | null = null

  try {
    matcher = asItem(interpolate(action.item, context.scopeOf(number)))
  } catch (error) {
    if (!(error instanceof InterpolationError)) throw error
    unfillable = error.message
    decided = 'failed'
  }

  /** The items that match and that no other step has claimed. */
  function matchInbox(read: InboxRead): InboxMatch {
    const start = countBefore(index.readsOf(conversation), read, turnSeq)
    const from = Math.max(start, lastClaimedBefore(read.resets) + 1)
    const found = read.items.flatMap((item, place) => {
      const free = [null, number].includes(claims.ownerOf(conversation, read.resets, place))
      return place >= from && free && fits(matcher, item, options) ? [place] : []
    })
    return { read, start, from, found }
  }

  const floors = new Map<number, number>()

  /** As it was when the step first read the inbox: its own claims do not count. */
  function lastClaimedBefore(resets: number): number {
    const known = floors.get(resets) ?? claims.floor(conversation, resets)
    floors.set(resets, known)
    return known
  }

  function consider(): void {
    const read = index.readsOf(conversation).at(-1)
    if (decided !== null || read === undefined || read.seq < begun.seq || read === inbox?.read) return
    if (read.askedAt > Math.max(deadline.atMs, observedUntil ?? 0) + GRACE_MS) return
    inbox = matchInbox(read)
    const count = inbox.found.length
    if (forMs === null) decided = count >= times.min ? 'met' : null
    else if (count > times.max) decided = 'failed'
  }

  const enough = () => (inbox?.found.length ?? 0) >= times.min

  function about(): ItemQuery {
    const item = flow(unfillable === null ? shortItem(matcher) : action.item, LONGEST_ITEM)
    const chat = chatIn(index.plan, conversation)
    const within = forMs === null ? deadline.within : null
    const expected: Expected = { code: 'inbox_item', item, times, within, forMs, chat }
    return { expected, item, matcher, times, withinMs: forMs ?? deadline.within.ms }
  }

  /** The user wrote the same again later, which explains another such item. */
  function userWroteItLater(): boolean {
    return index.usersOf(conversation).some(({ seq, action: done, text, attachments }) => {
      const item = done === 'press' ? { request: true } : { text: text ?? '', attachments: attachments ?? [] }
      return seq > begun.seq && fits(matcher, item, options)
    })
  }

  return {
    step,
    consider,
    status(nowMs) {
      if (decided !== null) return decided === 'met' ? MET : FAILED
      const awaited = { code: 'inbox_item', item: flow(shortItem(matcher)) } as const
      const observing = observedUntil !== null && (enough() || observedUntil > deadline.atMs)
      return observing
        ? openUntil(nowMs, observedUntil, enough() ? MET : FAILED, awaited)
        : openUntil(nowMs, deadline.atMs, FAILED, awaited)
    },
    close() {
      if (inbox !== null) claims.take(conversation, inbox.read.resets, number, inbox.found.slice(0, times.max))
    },
    failure() {
      if (unfillable !== null) {
        const happened = { code: 'unfillable', message: unfillable } as const
        return { ...notSeen(context, claims, step, about(), null), happened }
      }
      return inbox !== null && inbox.found.length > times.max
        ? seenTooOften(about(), inbox)
        : notSeen(context, claims, step, about(), inbox)
    },
    excess() {
      const end = index.ended?.seq ?? Number.POSITIVE_INFINITY
      const read = index.readsOf(conversation).findLast(({ seq }) => seq < end)
      if (unfillable !== null || read === undefined || userWroteItLater()) return null
      const last = matchInbox(read)
      return last.found.length > times.max ? seenTooOften(about(), last) : null
    },
  }
}

const LONGEST_ITEM = 90
