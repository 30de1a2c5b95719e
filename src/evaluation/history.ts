/** Reads entries into chats: what each chat was when a call came, and which acts, events, attempts and calls belong together. */
import type { Entry, EntryOf } from '../platform/journal/entry.ts'
import { type DriverCallEntry, type InboxItem, isDriverCall } from './scenario/run-events.ts'

export type Call = EntryOf<'api'>
export type Delivery = EntryOf<'delivery'>

/** Who responds in a chat. `unknown` before the entries show it; `ended`: the bot, after a handover. */
export type ChatStatus = 'unknown' | 'bot' | 'pending' | 'agent' | 'ended'

/** A call with what its chat was when it came. */
export interface ChatCall {
  readonly call: Call
  readonly before: ChatStatus
  /** The entry since which it was that; null when no entry shows it. */
  readonly since: Entry | null
}

/** An event with the act that caused it and every attempt to deliver it. */
export interface ChatEvent {
  readonly name: string
  /** Null for an event that was sent manually, and so is not of the platform. */
  readonly entry: EntryOf<'event'> | null
  readonly act: EntryOf<'user'> | null
  readonly attempts: readonly Delivery[]
}

/** What the agent saw of a chat, when the inbox was read. */
export interface InboxRead {
  /** The entry of the read, or the latest before it. */
  readonly seq: number
  readonly at_ms: number
  readonly items: readonly InboxItem[]
}

/** What happened in one chat, oldest first. */
export interface ChatHistory {
  readonly id: string
  readonly entries: readonly Entry[]
  readonly calls: readonly ChatCall[]
  readonly events: readonly ChatEvent[]
  /** What the agent did through the agent driver, and reads of the inbox. */
  readonly agentActs: readonly DriverCallEntry[]
  readonly reads: readonly InboxRead[]
  readonly status: ChatStatus
  readonly since: Entry | null
}

interface WritableEvent extends ChatEvent {
  readonly attempts: Delivery[]
}

class ChatReader implements ChatHistory {
  readonly id: string
  readonly entries: Entry[] = []
  readonly calls: ChatCall[] = []
  readonly events: WritableEvent[] = []
  readonly agentActs: DriverCallEntry[] = []
  readonly reads: InboxRead[] = []
  status: ChatStatus = 'unknown'
  since: Entry | null = null
  readonly #events = new Map<string, WritableEvent>()
  readonly #userActs = new Map<number, EntryOf<'user'>>()

  constructor(id: string) {
    this.id = id
  }

  add(entry: Entry): void {
    this.entries.push(entry)
    if (entry.kind === 'api') this.#addCall(entry)
    else if (entry.kind === 'user') this.#userActs.set(entry.seq, entry)
    else if (entry.kind === 'event') this.#addEvent(entry)
    else if (entry.kind === 'delivery') this.#addAttempt(entry)
    else if (entry.kind === 'note' && entry.note === 'chat_created') this.#become('bot', entry)
    else if (isDriverCall(entry)) this.#addAgentAct(entry)
  }

  #become(status: ChatStatus, entry: Entry): void {
    this.status = status
    this.since = entry
  }

  #addCall(call: Call): void {
    this.calls.push({ call, before: this.status, since: this.since })
    if (!isAccepted(call)) return
    if (call.endpoint === 'start') this.#become('agent', call)
    if (call.endpoint === 'end') this.#become('ended', call)
  }

  #addEvent(entry: EntryOf<'event'>): void {
    const act = this.#userActs.get(entry.cause ?? 0) ?? null
    const event = { name: entry.event, entry, act, attempts: [] }
    this.events.push(event)
    this.#events.set(entry.delivery_id, event)
    // A request while an agent has the chat changes nothing.
    if (entry.event === 'REQUESTING TAKEOVER' && this.status !== 'agent') this.#become('pending', entry)
  }

  #addAttempt(attempt: Delivery): void {
    const { delivery_id: id, event: name } = attempt
    let event = this.#events.get(id)
    if (event === undefined) {
      event = { name, entry: null, act: null, attempts: [] }
      this.events.push(event)
      this.#events.set(id, event)
    }
    event.attempts.push(attempt)
  }

  #addAgentAct(act: DriverCallEntry): void {
    this.agentActs.push(act)
    const { verb, outcome, items = [], seq, at_ms } = act
    if (verb === 'inbox' && outcome === 'ok') this.reads.push({ seq, at_ms, items })
  }
}

export class History {
  readonly entries: Entry[] = []
  /** Of all chats, and those that name none. */
  readonly calls: Call[] = []
  readonly #chats = new Map<string, ChatReader>()
  readonly #conversations = new Map<string, string>()

  constructor(entries: Iterable<Entry> = []) {
    for (const entry of entries) this.add(entry)
  }

  /** Reads the next entry of the journal. */
  add(entry: Entry): void {
    this.entries.push(entry)
    if (entry.kind === 'api') this.calls.push(entry)
    const { chat_id: id } = entry
    if (typeof id !== 'string') return
    if (entry.kind === 'note' && entry.note === 'conversation') this.#conversations.set(id, String(entry.conversation))
    let chat = this.#chats.get(id)
    if (chat === undefined) {
      chat = new ChatReader(id)
      this.#chats.set(id, chat)
    }
    chat.add(entry)
  }

  get chats(): ReadonlyMap<string, ChatHistory> {
    return this.#chats
  }

  /** The name of a chat in its scenario; null for a chat that no scenario opened. */
  conversationOf(chatId: string | null | undefined): string | null {
    return this.#conversations.get(chatId ?? '') ?? null
  }
}

/** Whether the call or the event was answered with 2xx. */
export const isAccepted = ({ status }: { readonly status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300
