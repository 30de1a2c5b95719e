/** What the journal of a play has told so far, in the order in which the judge asks for it. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { type Plan, type PlannedStep, stepsOf } from '../scenario/plan.ts'
import type { DriverCall, InboxItem, RunEventOf } from '../scenario/run-events.ts'
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
export type ConversationKey = string | typeof AVAILABILITY

export interface JournalIndex {
  readonly plan: Plan
  readonly steps: ReadonlyMap<number, PlannedStep>
  readonly entries: readonly Entry[]
  readonly started: RunEventOf<'scenario_started'> | null
  readonly ended: RunEventOf<'scenario_ended'> | null
  readonly calls: readonly Call[]
  callsOf(conversation: ConversationKey): readonly Call[]
  conversationOf(call: Call): ConversationKey | null
  conversationOfChat(chatId: string | null | undefined): string | null
  opened(conversation: string): RunEventOf<'conversation'> | null
  begun(step: number): RunEventOf<'step_started'> | null
  endOf(step: number): RunEventOf<'step_ended'> | null
  /** Oldest first. */
  readsOf(conversation: string): readonly InboxRead[]
  deliveriesOf(id: string): readonly Delivery[]
  readonly drivers: readonly DriverEntry[]
  eventsOf(conversation: string): ReadonlyMap<string, number>
  usersOf(conversation: string): readonly EntryOf<'user'>[]
  add(entry: Entry): Call | null
  /** One more step of a play that is made up as it goes. */
  grow(step: PlannedStep): void
}

export function createJournalIndex(plan: Plan): JournalIndex {
  const steps = new Map([...stepsOf(plan.steps), ...stepsOf(plan.finally)].map(step => [step.number, step]))
  const entries: Entry[] = []
  const calls: Call[] = []
  const byConversation = new Map<ConversationKey, Call[]>()
  const conversations = new Map<string, string>()
  const opened = new Map<string, RunEventOf<'conversation'>>()
  const begun = new Map<number, RunEventOf<'step_started'>>()
  const ends = new Map<number, RunEventOf<'step_ended'>>()
  const reads = new Map<string, InboxRead[]>()
  const deliveries = new Map<string, Delivery[]>()
  const drivers: DriverEntry[] = []
  const events = new Map<string, Map<string, number>>()
  const users = new Map<string, EntryOf<'user'>[]>()
  let restartedAt = 0
  let started: RunEventOf<'scenario_started'> | null = null
  let ended: RunEventOf<'scenario_ended'> | null = null

  const conversationOfChat = (chatId: string | null | undefined) =>
    chatId == null ? null : (conversations.get(chatId) ?? null)
  const conversationOf = (call: Call) =>
    call.endpoint === 'availability' ? AVAILABILITY : conversationOfChat(call.chatId)

  function addCall(entry: EntryOf<'api'>): Call | null {
    if (!isCall(entry)) return null
    const call = callOf(entry)
    insert(calls, call)
    const conversation = conversationOf(call)
    if (conversation !== null) insert(listIn(byConversation, conversation), call)
    return call
  }

  function addMark(entry: EntryOf<'note'>): void {
    const mark = entry as RunEventOf<
      'scenario_started' | 'conversation' | 'step_started' | 'step_ended' | 'scenario_ended'
    >
    if (mark.note === 'scenario_started') started = mark
    else if (mark.note === 'scenario_ended') ended = mark
    else if (mark.note === 'step_started') begun.set(mark.step, mark)
    else if (mark.note === 'step_ended') {
      ends.set(mark.step, mark)
      if (steps.get(mark.step)?.action.verb === 'target') restartedAt = mark.seq
    } else if (mark.note === 'conversation') {
      conversations.set(mark.chat_id, mark.conversation)
      opened.set(mark.conversation, mark)
    }
  }

  function addDriver(entry: EntryOf<'driver'>): void {
    const call = entry as unknown as DriverEntry
    drivers.push(call)
    const conversation = conversationOfChat(entry.chat_id)
    const { items, outcome, verb } = call
    if (conversation === null || verb !== 'inbox' || outcome !== 'ok' || items === undefined) return
    const before = reads.get(conversation)?.at(-1)
    const book = before === undefined ? 0 : before.book + (isAnother(items, before, restartedAt) ? 1 : 0)
    listIn(reads, conversation).push({ seq: entry.seq, askedAt: entry.at_ms - call.duration_ms, items, book })
  }

  function addEvent(entry: EntryOf<'event'>): void {
    const conversation = conversationOfChat(entry.chat_id)
    if (conversation === null) return
    const counts = events.get(conversation) ?? new Map<string, number>()
    events.set(conversation, counts.set(entry.event, (counts.get(entry.event) ?? 0) + 1))
  }

  function addUser(entry: EntryOf<'user'>): void {
    const conversation = conversationOfChat(entry.chat_id)
    if (conversation !== null) listIn(users, conversation).push(entry)
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
    callsOf: conversation => byConversation.get(conversation) ?? [],
    conversationOf,
    conversationOfChat,
    opened: conversation => opened.get(conversation) ?? null,
    begun: step => begun.get(step) ?? null,
    endOf: step => ends.get(step) ?? null,
    readsOf: conversation => reads.get(conversation) ?? [],
    deliveriesOf: id => deliveries.get(id) ?? [],
    drivers,
    eventsOf: conversation => events.get(conversation) ?? NONE,
    usersOf: conversation => users.get(conversation) ?? [],
    grow: step => void steps.set(step.number, step),
    add(entry) {
      entries.push(entry)
      if (entry.kind === 'api') return addCall(entry)
      if (entry.kind === 'note') addMark(entry)
      else if (entry.kind === 'driver') addDriver(entry)
      else if (entry.kind === 'event') addEvent(entry)
      else if (entry.kind === 'user') addUser(entry)
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
