/** Evaluates `agent: { sees }`: claims the expected items as they appear in the agent's inbox. */

import { counted, formatDuration } from '../../base/text/quantities.ts'
import { causedBy, createFailure, type Difference, type FailureDetails } from '../finding.ts'
import type { InboxRead } from '../history.ts'
import type { Action } from '../scenario/plan.ts'
import type { InboxItem } from '../scenario/run-events.ts'
import { flow, itemNotation } from '../scenario/value-text.ts'
import { claimedBy, fieldsDiffer, nearMiss, type Obstacle, obstaclesText } from './claims.ts'
import type { JournalIndex } from './journal-index.ts'
import { distanceOf, fits, match } from './match.ts'
import {
  type Deadline,
  type EvaluatedStep,
  type EvaluationContext,
  FAILED,
  MET,
  type StepEvaluator,
  type StepStatus,
} from './step-evaluator.ts'
import { refusedEventHint } from './stimulus.ts'
import { differenceText, howOften, inChat, timesText, within, withinText } from './words.ts'

/** The inbox is read once more just after the time limit. */
const GRACE_MS = 100
/** The intermediary forwards what users write (W4, WH2). */
const RULES = ['W4', 'WH2']
const MAX_ITEM_CHARS = 90
const MAX_REFERENCE_CHARS = 40
const MAX_MISSES = 5
/** Items before those of this turn rank behind all others. */
const EARLIER_RANK = 1000

/** One read of the inbox, and the places of the items that match and that no other step has claimed. */
interface InboxMatch {
  readonly read: InboxRead
  /** How many items there were before the turn. */
  readonly start: number
  /** The first place that may match. */
  readonly from: number
  readonly places: readonly number[]
}

/** An item that is not the expected one, by its place, and why. */
interface ItemMiss {
  readonly place: number
  readonly obstacle: Obstacle
  readonly differences: readonly Difference[]
}

type SeesOptions = Omit<Extract<Action, { verb: 'sees' }>, 'verb'>

export class SeesEvaluator implements StepEvaluator {
  readonly step: EvaluatedStep
  readonly #context: EvaluationContext
  readonly #options: SeesOptions
  readonly #start: { readonly seq: number; readonly at_ms: number }
  readonly #deadline: Deadline
  /** The end of `for`; null without it. */
  readonly #observedUntilMs: number | null
  /** The items that were claimed before the first read: its own claims do not count. */
  #claimedBefore: ReadonlySet<number> | null = null
  readonly #matcher: unknown
  readonly #problem: string | null
  #inbox: InboxMatch | null = null
  #state: 'open' | 'met' | 'failed'

  constructor(context: EvaluationContext, step: EvaluatedStep, options: SeesOptions) {
    this.step = step
    this.#context = context
    this.#options = options
    this.#start = context.windows.getStart(step)
    this.#deadline = context.windows.deadlineOf(step, step.conversation, options.withinMs)
    this.#observedUntilMs = options.forMs === null ? null : this.#start.at_ms + options.forMs
    const { value: item, problem } = context.fill(step, options.item)
    // A text stands for an item with that text.
    const isText = typeof item === 'string' || item instanceof RegExp
    this.#matcher = isText && problem === null ? { text: item } : item
    this.#problem = problem
    this.#state = problem === null ? 'open' : 'failed'
  }

  #matchInbox(read: InboxRead): InboxMatch {
    const { index, options, inboxClaims } = this.#context
    const { conversation, number } = this.step
    const turnSeq = this.#context.windows.turnStart(this.step).seq
    const before = readsOf(index, conversation).findLast(({ seq }) => seq < turnSeq)
    const start = read.ids.findLastIndex(id => before?.ids.includes(id)) + 1
    const owners = inboxClaims.ownersIn(conversation)
    this.#claimedBefore ??= new Set(owners.keys())
    const from = Math.max(start, read.ids.findLastIndex(id => this.#claimedBefore?.has(id)) + 1)
    const places: number[] = []
    for (let place = from; place < read.items.length; place++) {
      const owner = owners.get(read.ids[place]!) ?? number
      if (owner === number && fits(this.#matcher, read.items[place], options)) places.push(place)
    }
    return { read, start, from, places }
  }

  consider(): void {
    const { times, forMs } = this.#options
    const read = readsOf(this.#context.index, this.step.conversation).at(-1)
    if (this.#state !== 'open' || read === undefined || read.seq < this.#start.seq || read === this.#inbox?.read) return
    if (read.askedAt > Math.max(this.#deadline.atMs, this.#observedUntilMs ?? 0) + GRACE_MS) return
    this.#inbox = this.#matchInbox(read)
    const count = this.#inbox.places.length
    if (forMs !== null && count > times.max) this.#state = 'failed'
    if (forMs === null && count >= times.min) this.#state = 'met'
  }

  status(nowMs: number): StepStatus {
    if (this.#state !== 'open') return this.#state === 'met' ? MET : FAILED
    const isEnough = (this.#inbox?.places.length ?? 0) >= this.#options.times.min
    const observedUntilMs = this.#observedUntilMs ?? Number.NEGATIVE_INFINITY
    const isObserved = this.#observedUntilMs !== null && (isEnough || observedUntilMs > this.#deadline.atMs)
    const untilMs = isObserved ? observedUntilMs : this.#deadline.atMs
    if (nowMs >= untilMs) return isObserved && isEnough ? MET : FAILED
    return { state: 'open', untilMs, awaited: { code: 'inbox_item', item: itemNotation(this.#matcher) } }
  }

  close(): void {
    if (this.#inbox === null) return
    const { read, places } = this.#inbox
    const owners = this.#context.inboxClaims.ownersIn(this.step.conversation)
    for (const place of places.slice(0, this.#options.times.max)) owners.set(read.ids[place]!, this.step.number)
  }

  failure(): FailureDetails {
    const { times, forMs } = this.#options
    if (this.#inbox !== null && this.#inbox.places.length > times.max) return this.#tooOftenFailure(this.#inbox)
    const { expected, item } = this.#expected()
    const inbox = this.#problem === null ? this.#inbox : null
    const misses = inbox === null ? [] : this.#nearestItems(inbox)
    const context = this.#context
    const hint = refusedEventHint(context.index, this.step.conversation, context.windows.findStimulus(this.step))
    const common = {
      expected,
      rules: RULES,
      nearest: inbox === null ? [] : misses.map(miss => this.#describeMiss(inbox.read, miss)),
      entrySeqs: inbox === null ? [] : [inbox.read.seq],
      hint,
    }
    if (this.#problem !== null)
      return createFailure('sees', { ...common, code: 'unfillable', happened: this.#problem, details: { item } })
    const withinMs = forMs ?? this.#deadline.ms
    const seen = inbox?.places.length ?? 0
    const often = seen === 0 ? `did not see ${item}` : `saw ${item} only ${timesText(seen)}`
    const why = inbox === null ? 'the inbox was not read' : whyNone(inbox, misses)
    return createFailure('sees', {
      ...common,
      code: 'item_missing',
      happened: `the agent ${often} ${within(withinMs)}: ${why}`,
      details: { item, seen, withinMs, refused: hint?.refused },
      cause: causedBy('item_missing', 'the agent does not see what is sent'),
    })
  }

  /** The failure when the inbox, as read last, has more such items than allowed. */
  excess(): FailureDetails | null {
    const { index, options } = this.#context
    const { conversation } = this.step
    const end = index.ended?.seq ?? Number.POSITIVE_INFINITY
    const read = readsOf(index, conversation).findLast(({ seq }) => seq < end)
    if (this.#problem !== null || read === undefined) return null
    // The user wrote the same again later, which explains another such item.
    for (const { seq, action, text = '', attachments = [] } of index.chatOf(conversation)?.userActs ?? []) {
      const item = action === 'press' ? { request: true } : { text, attachments }
      if (seq > this.#start.seq && fits(this.#matcher, item, options)) return null
    }
    const last = this.#matchInbox(read)
    return last.places.length > this.#options.times.max ? this.#tooOftenFailure(last) : null
  }

  #expected(): { readonly item: string; readonly expected: string } {
    const { times, forMs } = this.#options
    const item = itemNotation(this.#matcher, MAX_ITEM_CHARS)
    const bound = forMs === null ? withinText(this.#deadline) : `for ${formatDuration(forMs)}`
    const chat = inChat(this.#context.chatName(this.step.conversation))
    return { item, expected: `agent sees ${item} ${howOften(times)}${chat} ${bound}` }
  }

  #tooOftenFailure({ read, places }: InboxMatch): FailureDetails {
    const { expected, item } = this.#expected()
    const { times } = this.#options
    const items = places.map(place => itemText(read.items, place)).join(', ')
    return createFailure('sees', {
      code: 'item_too_often',
      expected,
      happened: `the agent saw ${item} ${timesText(places.length)}, expected ${howOften(times)}: ${items}`,
      details: { item, times, positions: places.map(place => place + 1) },
      rules: RULES,
      entrySeqs: [read.seq],
      hint: {
        code: 'forwarded_again',
        text: 'Is an event that is delivered again, or answered late, forwarded again?',
      },
      cause: causedBy('item_repeated', 'the agent sees something more often than it is sent'),
    })
  }

  /** The items of the inbox, the new ones first and of them the most similar. */
  #nearestItems(inbox: InboxMatch): ItemMiss[] {
    const { options } = this.#context
    const { read, from, places, start } = inbox
    const owners = this.#context.inboxClaims.ownersIn(this.step.conversation)
    const ranked: { miss: ItemMiss; rank: number }[] = []
    for (const [place, item] of read.items.entries()) {
      if (places.includes(place)) continue
      const differences = match(this.#matcher, item, options)
      const owner = owners.get(read.ids[place]!) ?? this.step.number
      let obstacle: Obstacle = { code: 'before_turn', text: 'in the inbox before the turn' }
      if (owner !== this.step.number) obstacle = claimedBy(owner)
      else if (place >= from) obstacle = fieldsDiffer(differences.length)
      else if (place >= start && differences.length === 0) {
        const step = owners.get(read.ids[from - 1]!) ?? null
        obstacle = { code: 'before_item', text: `but before ${itemText(read.items, from - 1)} of step ${step}`, step }
      }
      const miss = { place, obstacle, differences }
      ranked.push({ miss, rank: distanceOf(differences) + (place < from ? EARLIER_RANK : 0) })
    }
    ranked.sort((a, b) => a.rank - b.rank || b.miss.place - a.miss.place)
    return ranked.slice(0, MAX_MISSES).map(({ miss }) => miss)
  }

  #describeMiss(read: InboxRead, { place, obstacle, differences }: ItemMiss) {
    const { windows, index } = this.#context
    const afterMs = Math.round(read.askedAt - index.startMs(windows.turnStart(this.step)))
    return nearMiss({ seq: read.seq, what: itemText(read.items, place), afterMs, differences }, [obstacle])
  }
}

/** Oldest first. */
const readsOf = (index: JournalIndex, conversation: string): readonly InboxRead[] =>
  index.chatOf(conversation)?.reads ?? []

/** Why none of the items is the expected one. */
function whyNone({ read, from, places }: InboxMatch, misses: readonly ItemMiss[]): string {
  const [best] = misses
  if (best?.obstacle.code === 'before_item')
    return `${itemText(read.items, best.place)} is in the inbox, ${best.obstacle.text}`
  const unclaimed = read.items.length - from - places.length
  if (best !== undefined && unclaimed > 0) {
    const [difference] = best.differences
    const name = itemText(read.items, best.place)
    if (difference === undefined) return `nearest: ${name}: ${obstaclesText([best.obstacle])}`
    return `nearest: ${difference.path === 'text' ? `inbox item ${best.place + 1}` : name}: ${differenceText(difference)}`
  }
  for (const { place, obstacle, differences } of misses)
    if (differences.length === 0 && obstacle.code === 'claimed')
      return `the inbox has only ${itemText(read.items, place)}, which is ${obstacle.text}`
  return 'the inbox has no new item'
}

/** `inbox item 3 "Hello" with 1 file` */
function itemText(items: readonly InboxItem[], place: number): string {
  const { request, text, attachments = [] } = items[place] ?? {}
  const shown = request && text === undefined ? 'request' : flow(text ?? '', MAX_REFERENCE_CHARS)
  const attached = attachments.length === 0 ? '' : ` with ${counted(attachments.length, 'file')}`
  return `inbox item ${place + 1} ${shown}${attached}`
}
