/** What the journal of a play has told so far, in the order in which the judge asks for it. */
import type { Entry, EntryOf } from '../../journal/entry.ts'
import type { DriverCall, InboxItem, MarkOf } from '../marks.ts'
import { type Plan, type PlannedStep, stepsOf } from '../plan.ts'
import { type Call, callOf, insert, isCall } from './call.ts'

export type Delivery = EntryOf<'delivery'>
export type DriverEntry = DriverCall & { readonly seq: number; readonly at_ms: number; readonly cause: number | null }

/** A look of the agent at a chat. */
export interface InboxRead {
  readonly seq: number
  /** When it was asked for: what is in it was there by then or came while it was answered. */
  readonly askedAt: number
  readonly items: readonly InboxItem[]
  /** Counts how often the inbox was begun anew: places before that mean nothing after it. */
  readonly book: number
}

/** Availability belongs to the bot, not to a chat. */
export const AVAILABILITY = Symbol('availability')
export type LaneKey = string | typeof AVAILABILITY

export interface Facts {
  readonly plan: Plan
  readonly steps: ReadonlyMap<number, PlannedStep>
  readonly entries: readonly Entry[]
  readonly started: MarkOf<'scenario_started'> | null
  readonly ended: MarkOf<'scenario_ended'> | null
  readonly calls: readonly Call[]
  callsOf(lane: LaneKey): readonly Call[]
  laneOf(call: Call): LaneKey | null
  laneOfChat(chatId: string | null | undefined): string | null
  opened(lane: string): MarkOf<'lane'> | null
  begun(step: number): MarkOf<'step_started'> | null
  endOf(step: number): MarkOf<'step_ended'> | null
  /** Oldest first. */
  readsOf(lane: string): readonly InboxRead[]
  deliveriesOf(id: string): readonly Delivery[]
  readonly drivers: readonly DriverEntry[]
  eventsOf(lane: string): ReadonlyMap<string, number>
  usersOf(lane: string): readonly EntryOf<'user'>[]
  add(entry: Entry): Call | null
  /** One more step of a play that is made up as it goes. */
  grow(step: PlannedStep): void
}

export function createFacts(plan: Plan): Facts {
  const steps = new Map([...stepsOf(plan.steps), ...stepsOf(plan.finally)].map(step => [step.number, step]))
  const entries: Entry[] = []
  const calls: Call[] = []
  const byLane = new Map<LaneKey, Call[]>()
  const lanes = new Map<string, string>()
  const opened = new Map<string, MarkOf<'lane'>>()
  const begun = new Map<number, MarkOf<'step_started'>>()
  const ends = new Map<number, MarkOf<'step_ended'>>()
  const reads = new Map<string, InboxRead[]>()
  const deliveries = new Map<string, Delivery[]>()
  const drivers: DriverEntry[] = []
  const events = new Map<string, Map<string, number>>()
  const users = new Map<string, EntryOf<'user'>[]>()
  let restartedAt = 0
  let started: MarkOf<'scenario_started'> | null = null
  let ended: MarkOf<'scenario_ended'> | null = null

  const laneOfChat = (chatId: string | null | undefined) => (chatId == null ? null : (lanes.get(chatId) ?? null))
  const laneOf = (call: Call) => (call.endpoint === 'availability' ? AVAILABILITY : laneOfChat(call.chatId))

  function addCall(entry: EntryOf<'api'>): Call | null {
    if (!isCall(entry)) return null
    const call = callOf(entry)
    insert(calls, call)
    const lane = laneOf(call)
    if (lane !== null) insert(listIn(byLane, lane), call)
    return call
  }

  function addMark(entry: EntryOf<'note'>): void {
    const mark = entry as MarkOf<'scenario_started' | 'lane' | 'step_started' | 'step_ended' | 'scenario_ended'>
    if (mark.note === 'scenario_started') started = mark
    else if (mark.note === 'scenario_ended') ended = mark
    else if (mark.note === 'step_started') begun.set(mark.step, mark)
    else if (mark.note === 'step_ended') {
      ends.set(mark.step, mark)
      if (steps.get(mark.step)?.action.verb === 'target') restartedAt = mark.seq
    } else if (mark.note === 'lane') {
      lanes.set(mark.chat_id, mark.lane)
      opened.set(mark.lane, mark)
    }
  }

  function addDriver(entry: EntryOf<'driver'>): void {
    const call = entry as unknown as DriverEntry
    drivers.push(call)
    const lane = laneOfChat(entry.chat_id)
    const { items, outcome, verb } = call
    if (lane === null || verb !== 'inbox' || outcome !== 'ok' || items === undefined) return
    const before = reads.get(lane)?.at(-1)
    const book = before === undefined ? 0 : before.book + (isAnother(items, before, restartedAt) ? 1 : 0)
    listIn(reads, lane).push({ seq: entry.seq, askedAt: entry.at_ms - call.duration_ms, items, book })
  }

  function addEvent(entry: EntryOf<'event'>): void {
    const lane = laneOfChat(entry.chat_id)
    if (lane === null) return
    const counts = events.get(lane) ?? new Map<string, number>()
    events.set(lane, counts.set(entry.event, (counts.get(entry.event) ?? 0) + 1))
  }

  function addUser(entry: EntryOf<'user'>): void {
    const lane = laneOfChat(entry.chat_id)
    if (lane !== null) listIn(users, lane).push(entry)
  }

  return {
    plan,
    steps,
    entries,
    get started() {
      return started
    },
    get ended() {
      return ended
    },
    calls,
    callsOf: lane => byLane.get(lane) ?? [],
    laneOf,
    laneOfChat,
    opened: lane => opened.get(lane) ?? null,
    begun: step => begun.get(step) ?? null,
    endOf: step => ends.get(step) ?? null,
    readsOf: lane => reads.get(lane) ?? [],
    deliveriesOf: id => deliveries.get(id) ?? [],
    drivers,
    eventsOf: lane => events.get(lane) ?? NONE,
    usersOf: lane => users.get(lane) ?? [],
    grow: step => void steps.set(step.number, step),
    add(entry) {
      entries.push(entry)
      if (entry.kind === 'api') return addCall(entry as EntryOf<'api'>)
      if (entry.kind === 'note') addMark(entry as EntryOf<'note'>)
      else if (entry.kind === 'driver') addDriver(entry as EntryOf<'driver'>)
      else if (entry.kind === 'event') addEvent(entry as EntryOf<'event'>)
      else if (entry.kind === 'user') addUser(entry as EntryOf<'user'>)
      else if (entry.kind === 'delivery') listIn(deliveries, (entry as Delivery).delivery_id).push(entry as Delivery)
      return null
    },
  }
}

/** It has become shorter, or a restart has emptied it and it has other items since. */
function isAnother(items: readonly InboxItem[], before: InboxRead, restartedAt: number): boolean {
  if (items.length < before.items.length) return true
  return restartedAt > before.seq && before.items.some((item, place) => !isSame(item, items[place]!))
}

const isSame = (one: InboxItem, other: InboxItem): boolean => one.text === other.text && one.request === other.request

const NONE: ReadonlyMap<string, number> = new Map()

function listIn<Key, Item>(map: Map<Key, Item[]>, key: Key): Item[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}
