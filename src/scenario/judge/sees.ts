/** `agent: { sees }`: what must turn up in the agent's inbox, claimed item by item. */
import { formatDuration } from '../../text/duration.ts'
import type { Action } from '../action.ts'
import { fill, Unfillable } from '../fill.ts'
import { fits } from '../match/match.ts'
import { flow } from '../match/text.ts'
import type { PlannedStep } from '../plan.ts'
import { deadlineOf } from './deadline.ts'
import type { InboxRead } from './facts.ts'
import { asItem, countBefore, type InboxClaims, shortItem } from './inbox.ts'
import { notSeen, seenTooOften } from './sees-failure.ts'
import { type Bench, FAILED, MET, type Told, until, type Watch } from './watch.ts'
import { howOften, inLane } from './words.ts'

export type Sees = Extract<Action, { verb: 'sees' }>

export interface SeesWatch extends Watch {
  /** More than it may be, by the last look at the inbox; null when it is not. */
  excess(): Told | null
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

export function watchSees(bench: Bench, claims: InboxClaims, step: PlannedStep, action: Sees): SeesWatch {
  const { facts, windows, options } = bench
  const { lane, number } = step
  const { times, forMs } = action
  const begun = facts.begun(number)!
  const deadline = deadlineOf(bench, step, lane, action.withinMs)
  const watchedUntil = forMs === null ? null : begun.at_ms + forMs
  const turnSeq = windows.turnStart(step).seq
  let wanted: unknown
  let broken: string | null = null
  let looked: Looked | null = null
  let decided: 'met' | 'failed' | null = null

  try {
    wanted = asItem(fill(action.item, bench.scopeOf(number)))
  } catch (error) {
    if (!(error instanceof Unfillable)) throw error
    broken = error.message
    decided = 'failed'
  }

  /** Items that fit and are nobody else's. */
  function look(read: InboxRead): Looked {
    const start = countBefore(facts.readsOf(lane), read, turnSeq)
    const from = Math.max(start, lastClaimedBefore(read.book) + 1)
    const found = read.items.flatMap((item, place) => {
      const free = [null, number].includes(claims.ownerOf(lane, read.book, place))
      return place >= from && free && fits(wanted, item, options) ? [place] : []
    })
    return { read, start, from, found }
  }

  const floors = new Map<number, number>()

  /** As it was when the step first looked: its own claims do not count. */
  function lastClaimedBefore(book: number): number {
    const known = floors.get(book) ?? claims.floor(lane, book)
    floors.set(book, known)
    return known
  }

  function consider(): void {
    const read = facts.readsOf(lane).at(-1)
    if (decided !== null || read === undefined || read.seq < begun.seq || read === looked?.read) return
    if (read.askedAt > Math.max(deadline.atMs, watchedUntil ?? 0) + GRACE_MS) return
    looked = look(read)
    const count = looked.found.length
    if (forMs === null) decided = count >= times.min ? 'met' : null
    else if (count > times.max) decided = 'failed'
  }

  const enough = () => (looked?.found.length ?? 0) >= times.min

  function wantedText(): string {
    const many = facts.plan.lanes.length > 1
    const item = flow(broken === null ? shortItem(wanted) : action.item, 90)
    const bound = forMs === null ? deadline.text : `for ${formatDuration(forMs)}`
    return `agent sees ${item} ${howOften(times)}${inLane(lane, many)} ${bound}`
  }

  /** The user's own later words explain why it is there again. */
  function userWroteItLater(): boolean {
    return facts.usersOf(lane).some(({ seq, action: did, text, attachments }) => {
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
      if (looked !== null) claims.take(lane, looked.read.book, number, looked.found.slice(0, times.max))
    },
    failure: () => {
      if (broken !== null)
        return { ...notSeen(bench, claims, step, { wanted, text: wantedText(), looked: null }), happened: broken }
      const about = { wanted, text: wantedText(), looked }
      return looked !== null && looked.found.length > times.max
        ? seenTooOften(about.text, looked)
        : notSeen(bench, claims, step, about)
    },
    excess() {
      const end = facts.ended?.seq ?? Number.POSITIVE_INFINITY
      const read = facts
        .readsOf(lane)
        .filter(({ seq }) => seq < end)
        .at(-1)
      if (broken !== null || read === undefined || userWroteItLater()) return null
      const last = look(read)
      return last.found.length > times.max ? seenTooOften(wantedText(), last) : null
    },
  }
}
