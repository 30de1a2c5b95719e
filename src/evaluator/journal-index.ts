/** Indexes the journal of a play: calls, steps, deliveries and inboxes by step and conversation. */
import type { Entry, EntryOf } from '../journal/entry.ts'
import { type Plan, type PlannedStep, stepsOf } from '../scenario/plan.ts'
import type { DriverCall, InboxItem, RunEventOf } from '../scenario/run-events.ts'
import { type Call, callOf, insert, isCall } from './call.ts'

export type Delivery = EntryOf<'delivery'>
export type DriverEntry = DriverCall & { readonly seq: number; readonly at_ms: number; readonly cause: number | null }

/** The inbox of a chat as the agent read it. */
export interface InboxRead {
  readonly seq: number
  /** When it was requested: its items existed by then or arrived while it was answered. */
  readonly askedAt: number
  readonly items: readonly InboxItem[]
  /** Counts how often the inbox was emptied: places in one generation mean nothing in the next. */
  readonly generation: number
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
  /** Adds a step to a plan that receives its steps one by one. */
  addStep(step: PlannedStep): void
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

  function addRunEvent(entry: EntryOf<'note'>): void {
    const event = entry as RunEventOf<
      'scenario_started' | 'conversation' | 'step_started' | 'step_ended' | 'scenario_ended'
    >
    if (event.note === 'scenario_started') started = event
    else if (event.note === 'scenario_ended') ended = event
    else if (event.note === 'step_started') begun.set(event.step, event)
    else if (event.note === 'step_ended') {
      ends.set(event.step, event)
      if (steps.get(event.step)?.action.verb === 'target') restartedAt = event.seq
    } else if (event.note === 'conversation') {
      conversations.set(event.chat_id, event.conversation)
      opened.set(event.conversation, event)
    }
  }

  function addDriver(entry: EntryOf<'driver'>): void {
    const call = entry as unknown as DriverEntry
    drivers.push(call)
    const conversation = conversationOfChat(entry.chat_id)
    const { items, outcome, verb } = call
    if (conversation === null || verb !== 'inbox' || outcome !== 'ok' || items === undefined) return
    const before = reads.get(conversation)?.at(-1)
    const generation = before === undefined ? 0 : before.generation + (isAnother(items, before, restartedAt) ? 1 : 0)
    listIn(reads, conversation).push({ seq: entry.seq, askedAt: entry.at_ms - call.duration_ms, items, generation })
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
    addStep: step => void steps.set(step.number, step),
    add(entry) {
      entries.push(entry)
      if (entry.kind === 'api') return addCall(entry)
      if (entry.kind === 'note') addRunEvent(entry)
      else if (entry.kind === 'driver') addDriver(entry)
      else if (entry.kind === 'event') addEvent(entry)
      else if (entry.kind === 'user') addUser(entry)
      else if (entry.kind === 'delivery') listIn(deliveries, (entry as Delivery).delivery_id).push(entry as Delivery)
      return null
    },
  }
}

/** It is shorter than before, or a restart has emptied it and it has other items since. */
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
