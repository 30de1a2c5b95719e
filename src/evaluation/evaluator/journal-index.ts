/** Indexes the journal of a play: calls, steps, deliveries and inboxes by step and conversation. */

import { isMap } from '../../base/objects.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { type InternalErrorNote, isInternalError } from '../../platform/journal/internal-errors.ts'
import { type Plan, type PlannedStep, stepsOf } from '../scenario/plan.ts'
import {
  type DriverCallEntry,
  type InboxItem,
  isDriverCall,
  isRunEvent,
  type RunEventOf,
} from '../scenario/run-events.ts'
import type { CallRef } from './failure.ts'

export type Delivery = EntryOf<'delivery'>

/** The inbox of a chat as the agent read it. */
export interface InboxRead {
  readonly seq: number
  /** When it was requested: its items existed by then or arrived while it was answered. */
  readonly askedAt: number
  readonly items: readonly InboxItem[]
  /** How often the inbox was emptied before: a position means another item afterwards. */
  readonly resets: number
}

/** Availability belongs to the bot, not to a chat. */
export const AVAILABILITY = Symbol('availability')
export type ConversationKey = string | typeof AVAILABILITY

export class JournalIndex {
  readonly plan: Plan
  readonly steps: Map<number, PlannedStep>
  readonly entries: Entry[] = []
  readonly calls: Call[] = []
  readonly drivers: DriverCallEntry[] = []
  /** The oldest entry of the journal; greater than 1 when entries before it were evicted and not read. */
  firstSeq = 1
  /** Whether transcripts lost messages because of `memoryLimit`. */
  lostMessages = false
  readonly internalErrors: InternalErrorNote[] = []
  started: RunEventOf<'scenario_started'> | null = null
  ended: RunEventOf<'scenario_ended'> | null = null
  readonly #callsByConversation = new Map<ConversationKey, Call[]>()
  readonly #conversations = new Map<string, string>()
  readonly #opened = new Map<string, RunEventOf<'conversation'>>()
  readonly #starts = new Map<number, RunEventOf<'step_started'>>()
  readonly #ends = new Map<number, RunEventOf<'step_ended'>>()
  readonly #reads = new Map<string, InboxRead[]>()
  readonly #deliveries = new Map<string, Delivery[]>()
  readonly #events = new Map<string, Map<string, number>>()
  readonly #users = new Map<string, EntryOf<'user'>[]>()
  #restartSeq = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.steps = new Map([...stepsOf(plan.steps), ...stepsOf(plan.finally)].map(step => [step.number, step]))
  }

  conversationOfChat(chatId: string | null | undefined): string | null {
    return chatId == null ? null : (this.#conversations.get(chatId) ?? null)
  }

  conversationOf({ endpoint, chatId }: Call): ConversationKey | null {
    return endpoint === 'availability' ? AVAILABILITY : this.conversationOfChat(chatId)
  }

  callsOf(conversation: ConversationKey): readonly Call[] {
    return this.#callsByConversation.get(conversation) ?? []
  }

  opened(conversation: string): RunEventOf<'conversation'> | null {
    return this.#opened.get(conversation) ?? null
  }

  /** Whether all entries about a conversation were read. `AVAILABILITY` and unknown conversations need every entry. */
  isWhole(conversation: ConversationKey): boolean {
    const opened = typeof conversation === 'string' ? this.opened(conversation) : null
    return this.firstSeq === 1 || (opened !== null && opened.seq >= this.firstSeq)
  }

  /** Null before the step has started. */
  begun(step: number): RunEventOf<'step_started'> | null {
    return this.#starts.get(step) ?? null
  }

  /** The start of a step that has started; throws otherwise. */
  startOf(step: number): RunEventOf<'step_started'> {
    const start = this.#starts.get(step)
    if (start === undefined) throw new Error(`Failed to evaluate step ${step}: the journal has no step_started of it.`)
    return start
  }

  endOf(step: number): RunEventOf<'step_ended'> | null {
    return this.#ends.get(step) ?? null
  }

  /** Oldest first. */
  readsOf(conversation: string): readonly InboxRead[] {
    return this.#reads.get(conversation) ?? []
  }

  deliveriesOf(id: string): readonly Delivery[] {
    return this.#deliveries.get(id) ?? []
  }

  eventsOf(conversation: string): ReadonlyMap<string, number> {
    return this.#events.get(conversation) ?? NONE
  }

  usersOf(conversation: string): readonly EntryOf<'user'>[] {
    return this.#users.get(conversation) ?? []
  }

  /** Drops the entries before `firstSeq` and the steps that ended before it. Returns the numbers of these steps. */
  evict(firstSeq: number): number[] {
    this.firstSeq = firstSeq
    const byKey = [this.#callsByConversation, this.#deliveries, this.#users]
    const lists = [this.entries, this.calls, this.drivers, ...byKey.flatMap(map => [...map.values()])]
    for (const list of lists) dropBefore<Pick<Entry, 'seq'>>(list, firstSeq)
    for (const [id, { length }] of this.#deliveries) if (length === 0) this.#deliveries.delete(id)
    for (const reads of this.#reads.values()) {
      // The last inbox read before an entry tells which items are new after it, so one stays.
      const first = reads.findIndex(({ seq }) => seq >= firstSeq)
      reads.splice(0, Math.max(0, (first === -1 ? reads.length : first) - 1))
    }
    const ended = [...this.#ends].filter(([, end]) => end.seq < firstSeq).map(([number]) => number)
    for (const number of ended) {
      this.steps.delete(number)
      this.#starts.delete(number)
      this.#ends.delete(number)
    }
    return ended
  }

  /** Returns the call when the entry is one. */
  add(entry: Entry): Call | null {
    this.entries.push(entry)
    if (entry.kind === 'api') return this.#addCall(entry)
    if (entry.kind === 'note') this.#addRunEvent(entry)
    else if (isDriverCall(entry)) this.#addDriver(entry)
    else if (entry.kind === 'event') this.#addEvent(entry)
    else if (entry.kind === 'user') this.#addUser(entry)
    else if (entry.kind === 'delivery') listIn(this.#deliveries, entry.delivery_id).push(entry)
    return null
  }

  #addCall(entry: EntryOf<'api'>): Call | null {
    if (entry.endpoint === null && entry.path.startsWith(FILES)) return null
    const call = new Call(entry)
    insert(this.calls, call)
    const conversation = this.conversationOf(call)
    if (conversation !== null) insert(listIn(this.#callsByConversation, conversation), call)
    return call
  }

  #addRunEvent(entry: EntryOf<'note'>): void {
    if (entry.note === 'messages_evicted') this.lostMessages = true
    else if (isInternalError(entry)) this.internalErrors.push(entry)
    else if (isRunEvent(entry, 'scenario_started')) this.started = entry
    else if (isRunEvent(entry, 'scenario_ended')) this.ended = entry
    else if (isRunEvent(entry, 'step_started')) this.#starts.set(entry.step, entry)
    else if (isRunEvent(entry, 'step_ended')) {
      this.#ends.set(entry.step, entry)
      if (this.steps.get(entry.step)?.action.verb === 'target') this.#restartSeq = entry.seq
    } else if (isRunEvent(entry, 'conversation')) {
      this.#conversations.set(entry.chat_id, entry.conversation)
      this.#opened.set(entry.conversation, entry)
    }
  }

  #addDriver(call: DriverCallEntry): void {
    this.drivers.push(call)
    const conversation = this.conversationOfChat(call.chat_id)
    const { items, outcome, verb, seq } = call
    if (conversation === null || verb !== 'inbox' || outcome !== 'ok' || items === undefined) return
    const before = this.#reads.get(conversation)?.at(-1)
    const resets = before === undefined ? 0 : before.resets + (wasReset(items, before, this.#restartSeq) ? 1 : 0)
    listIn(this.#reads, conversation).push({ seq, askedAt: call.at_ms - call.duration_ms, items, resets })
  }

  #addEvent(entry: EntryOf<'event'>): void {
    const conversation = this.conversationOfChat(entry.chat_id)
    if (conversation === null) return
    const counts = this.#events.get(conversation) ?? new Map<string, number>()
    this.#events.set(conversation, counts.set(entry.event, (counts.get(entry.event) ?? 0) + 1))
  }

  #addUser(entry: EntryOf<'user'>): void {
    const conversation = this.conversationOfChat(entry.chat_id)
    if (conversation !== null) listIn(this.#users, conversation).push(entry)
  }
}

/** It is shorter than before, or a restart has emptied it and it has other items since. */
function wasReset(items: readonly InboxItem[], before: InboxRead, restartSeq: number): boolean {
  if (items.length < before.items.length) return true
  return (
    restartSeq > before.seq &&
    before.items.some((item, place) => !(item.text === items[place]?.text && item.request === items[place]?.request))
  )
}

const NONE: ReadonlyMap<string, number> = new Map()

/** Calls are not exactly in the order of their numbers. */
function dropBefore<Item extends Pick<Entry, 'seq'>>(list: Item[], firstSeq: number): void {
  const rest = list.filter(({ seq }) => seq >= firstSeq)
  list.length = 0
  for (const item of rest) list.push(item)
}

function listIn<Key, Item>(map: Map<Key, Item[]>, key: Key): Item[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

export class Call {
  readonly seq: number
  /** When the request was fully read, on `at_ms`. */
  readonly readAt: number
  /** When it was answered. */
  readonly atMs: number
  /** Null: no path of the platform. */
  readonly endpoint: EndpointId | null
  readonly chatId: string | null
  readonly entry: EntryOf<'api'>

  constructor(entry: EntryOf<'api'>) {
    this.seq = entry.seq
    this.readAt = entry.at_ms - entry.duration_ms
    this.atMs = entry.at_ms
    this.endpoint = entry.endpoint
    this.chatId = entry.chat_id ?? chatIdIn(bodyOf(entry))
    this.entry = entry
  }

  /** Parsed even where the platform refused the call before it read the body. A long body is parsed when it is read. */
  get body(): unknown {
    return bodyOf(this.entry)
  }
}

/** Downloads of attachments are not calls of the protocol. */
const FILES = '/files/'

const chatIdIn = (body: unknown): string | null =>
  isMap(body) && typeof body.chat_id === 'string' ? body.chat_id : null

/** A body that the platform did not parse, because it refused the key first, is a text in the journal. */
function bodyOf({ request: { body } }: EntryOf<'api'>): unknown {
  if (typeof body !== 'string') return body ?? {}
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Calls are ordered by when they were read, not by when they were answered. */
export const isLater = (one: Call, other: Call): boolean =>
  one.readAt === other.readAt ? one.seq > other.seq : one.readAt > other.readAt

/** Puts it where it belongs; nearly always last. */
function insert(calls: Call[], call: Call): void {
  const before = calls.findLastIndex(one => !isLater(one, call))
  calls.splice(before + 1, 0, call)
}

export const callReference = ({ seq, endpoint, entry: { method, path } }: Call): CallRef => ({
  seq,
  endpoint,
  method,
  path,
})

export const ruleOf = (endpoint: EndpointId | null): string => (endpoint === null ? 'W7' : ENDPOINTS[endpoint].rule)

/** What `capture` reads. */
export const capturable = ({ body, endpoint, entry }: Call) => ({
  body,
  response: entry.response,
  status: entry.status,
  endpoint,
  alias: entry.alias,
  method: entry.method,
  path: entry.path,
  headers: entry.request.headers,
})
