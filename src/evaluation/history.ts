/** Reads entries into chats: what each chat was when a call came, and which acts, events, attempts and calls belong together. */
import { isSuccess } from '../base/http-status.ts'
import type { Entry, EntryOf } from '../platform/journal/entry.ts'
import { type DriverCallEntry, type InboxItem, isDriverCall, isRunEvent } from './scenario/run-events.ts'

export type CallEntry = EntryOf<'api'>
export type DeliveryEntry = EntryOf<'delivery'>

/** Who responds in a chat. `unknown` before the entries show it; `ended`: the bot, after a handover. */
export type ChatStatus = 'unknown' | 'bot' | 'pending' | 'agent' | 'ended'

/** A call with what its chat was when it came. */
export interface ChatCall {
  readonly call: CallEntry
  readonly before: ChatStatus
  /** The call, the event or the note since which it was that; null when no entry shows it. */
  readonly since: Entry | null
}

/** An event with the act that caused it and every attempt to deliver it. */
export interface ChatEvent {
  readonly name: string
  /** Null for an event that was sent manually, and so is not of the platform. */
  readonly entry: EntryOf<'event'> | null
  readonly act: EntryOf<'user'> | null
  readonly attempts: readonly DeliveryEntry[]
}

/** What the agent saw of a chat, when the inbox was read. */
export interface InboxRead {
  /** The entry of the read, or the latest before it. */
  readonly seq: number
  /** When it was requested: its items existed by then, or came while it was answered. */
  readonly askedAt: number
  readonly items: readonly InboxItem[]
  /** A number for each item, which it keeps in later reads, also when others come before it. After the inbox was emptied, all are new. */
  readonly ids: readonly number[]
}

/** What happened in one chat, oldest first. */
export interface ChatHistory {
  readonly entries: readonly Entry[]
  readonly calls: readonly ChatCall[]
  readonly events: readonly ChatEvent[]
  readonly userActs: readonly EntryOf<'user'>[]
  /** Through the agent driver; also reads of the inbox. */
  readonly agentActs: readonly DriverCallEntry[]
  readonly reads: readonly InboxRead[]
  readonly status: ChatStatus
  readonly since: Entry | null
}

type Writable<Value> = {
  -readonly [Key in keyof Value]: Value[Key] extends readonly (infer Item)[] ? Item[] : Value[Key]
}

export class History {
  readonly entries: Entry[] = []
  /** Of all chats, and those that name none. */
  readonly calls: CallEntry[] = []
  readonly #chats = new Map<string, Writable<ChatHistory>>()
  readonly #events = new Map<string, Writable<ChatEvent>>()
  readonly #conversations = new Map<string, string>()
  /** The end of the last step that started the target again. */
  #restartSeq = 0
  #restartStep = 0
  #inboxItems = 0

  constructor(entries: Iterable<Entry> = []) {
    for (const entry of entries) this.add(entry)
  }

  get chats(): ReadonlyMap<string, ChatHistory> {
    return this.#chats
  }

  /** The name of a chat in its scenario; null for a chat that no scenario opened. */
  conversationOf(chatId: string | null | undefined): string | null {
    return this.#conversations.get(chatId ?? '') ?? null
  }

  /** Of all chats, and those of none. */
  get events(): Iterable<ChatEvent> {
    return this.#events.values()
  }

  /** Names a chat; the notes of a scenario do it too. */
  nameChat(chatId: string, conversation: string): void {
    this.#conversations.set(chatId, conversation)
  }

  /** All attempts to deliver an event. */
  attemptsOf(deliveryId: string): readonly DeliveryEntry[] {
    return this.#events.get(deliveryId)?.attempts ?? []
  }

  /** Reads the next entry of the journal. */
  add(entry: Entry): void {
    this.entries.push(entry)
    const chat = this.#chatOf(entry)
    chat?.entries.push(entry)
    if (chat !== null) follow(chat, entry)
    if (entry.kind === 'api') this.#addCall(entry, chat)
    else if (entry.kind === 'user') chat?.userActs.push(entry)
    else if (entry.kind === 'event') this.#addEvent(entry, chat)
    else if (entry.kind === 'delivery') this.#addAttempt(entry, chat)
    else if (entry.kind === 'note') this.#addNote(entry)
    else if (isDriverCall(entry)) this.#addAgentAct(entry, chat)
  }

  #chatOf({ chat_id: id }: Entry): Writable<ChatHistory> | null {
    if (typeof id !== 'string') return null
    const known = this.#chats.get(id)
    if (known !== undefined) return known
    const lists = { entries: [], calls: [], events: [], userActs: [], agentActs: [], reads: [] }
    const chat: Writable<ChatHistory> = { ...lists, status: 'unknown', since: null }
    this.#chats.set(id, chat)
    return chat
  }

  #addCall(call: CallEntry, chat: Writable<ChatHistory> | null): void {
    this.calls.push(call)
    if (chat === null) return
    chat.calls.push({ call, before: chat.status, since: chat.since })
  }

  #addEvent(entry: EntryOf<'event'>, chat: Writable<ChatHistory> | null): void {
    const act = chat?.userActs.findLast(({ seq }) => seq === entry.cause) ?? null
    const event = { name: entry.event, entry, act, attempts: [] }
    this.#events.set(entry.delivery_id, event)
    chat?.events.push(event)
  }

  #addAttempt(attempt: DeliveryEntry, chat: Writable<ChatHistory> | null): void {
    const { delivery_id: id, event: name } = attempt
    const event: Writable<ChatEvent> = this.#events.get(id) ?? { name, entry: null, act: null, attempts: [] }
    if (!this.#events.has(id)) chat?.events.push(event)
    this.#events.set(id, event)
    event.attempts.push(attempt)
  }

  #addNote(entry: EntryOf<'note'>): void {
    if (isRunEvent(entry, 'conversation')) this.nameChat(entry.chat_id, String(entry.conversation))
    else if (isRunEvent(entry, 'step_started') && entry.verb === 'target') this.#restartStep = entry.step
    else if (isRunEvent(entry, 'step_ended') && entry.step === this.#restartStep) this.#restartSeq = entry.seq
  }

  #addAgentAct(act: DriverCallEntry, chat: Writable<ChatHistory> | null): void {
    chat?.agentActs.push(act)
    const { verb, outcome, items, seq, at_ms, duration_ms } = act
    if (chat === null || verb !== 'inbox' || outcome !== 'ok' || items === undefined) return
    const before = chat.reads.at(-1)
    // It is shorter than before, or a restart has emptied it and it has other items since.
    const isEmptied =
      before !== undefined &&
      (items.length < before.items.length ||
        (this.#restartSeq > before.seq && before.items.some((item, place) => !isSameItem(item, items[place]))))
    const ids = idsOf(items, isEmptied ? undefined : before, () => this.#inboxItems++)
    chat.reads.push({ seq, askedAt: at_ms - duration_ms, items, ids })
  }
}

/** What a chat is after an entry. Notes say what a call changed, also when its answer was lost, or changed nothing. */
export function statusAfter(before: ChatStatus, entry: Entry): ChatStatus {
  // A request while an agent has the chat changes nothing.
  if (entry.kind === 'event') return entry.event === 'REQUESTING TAKEOVER' && before !== 'agent' ? 'pending' : before
  if (entry.kind !== 'note') return before
  if (entry.note === 'chat_created') return 'bot'
  if (entry.note === 'chat_ended' && entry.handover === 'ended') return before === 'agent' ? 'ended' : 'bot'
  if (isAcceptance(entry)) return 'agent'
  return entry.note === 'handed_back' ? 'ended' : before
}

/** Whether the user left the chat with this entry: closed it, or deleted its log. */
export const isDeparture = (entry: Entry): entry is EntryOf<'note'> =>
  entry.kind === 'note' && entry.note === 'chat_ended' && (entry.why === 'closed' || entry.why === 'deleted')

/** Whether an agent has the chat since this entry; its `by` is the name of the agent, or null. */
export const isAcceptance = (entry: Entry): entry is EntryOf<'note'> & { note: 'taken_over' | 'takeover_replaced' } =>
  entry.kind === 'note' && (entry.note === 'taken_over' || entry.note === 'takeover_replaced')

function follow(chat: Writable<ChatHistory>, entry: Entry): void {
  const status = statusAfter(chat.status, entry)
  if (status === chat.status && !isAcceptance(entry)) return
  chat.status = status
  chat.since = chat.calls.findLast(({ call }) => call.seq === entry.cause)?.call ?? entry
}

/** A help desk may show the conversation before the handover above messages that it has shown already. */
function idsOf(items: readonly InboxItem[], before: InboxRead | undefined, next: () => number): number[] {
  if (before === undefined) return items.map(next)
  let known = 0
  const found = items.map(item => (isSameItem(item, before.items[known]) ? before.ids[known++] : undefined))
  // An item that was changed keeps its place.
  const ids = known < before.items.length ? before.ids : found
  return items.map((_, place) => ids[place] ?? next())
}

const isSameItem = ({ text, request }: InboxItem, other: InboxItem | undefined): boolean =>
  text === other?.text && request === other?.request

/** Whether the call or the event was answered with 2xx. */
export const isAccepted = ({ status }: { readonly status: number | null }): boolean => isSuccess(status)
