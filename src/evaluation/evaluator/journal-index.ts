/** Indexes a journal: calls, steps, deliveries and inboxes by step and conversation. */

import { isMap } from '../../base/objects.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../platform/contract/endpoints.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import {
  type InternalErrorNote,
  isInternalError,
  isWaitUntilNote,
  type WaitUntilNote,
} from '../../platform/journal/journal.ts'
import { type ChatHistory, History } from '../history.ts'
import type { Plan, PlannedStep } from '../scenario/plan.ts'
import {
  type DriverCallEntry,
  isDriverCall,
  isRunEvent,
  type RunEventOf,
  type ScenarioStarted,
} from '../scenario/run-events.ts'
import type { Audience } from './words.ts'

/** Availability belongs to the bot, not to a chat. */
export const AVAILABILITY = Symbol('availability')
export type ConversationKey = string | typeof AVAILABILITY

/** What a step evaluation reads of a plan; a test has the same. */
export type EvaluationSettings = Pick<Plan, 'name' | 'timeouts'> & { readonly audience?: Audience }

/** What the first entry of a scenario says about the platform. */
type Started = Pick<ScenarioStarted, 'bot' | 'config' | 'sim' | 'driver'> & Pick<Entry, 'seq' | 'at_ms'>

export class JournalIndex {
  readonly settings: EvaluationSettings
  /** Who reads what is found. */
  readonly audience: Audience
  readonly steps: ReadonlyMap<number, PlannedStep>
  readonly history = new History()
  /** In the order in which they were read. */
  readonly calls: IndexedCall[] = []
  readonly drivers: DriverCallEntry[] = []
  readonly internalErrors: InternalErrorNote[] = []
  /** Work that webhook functions gave to `waitUntil` and that failed. */
  readonly failedWork: WaitUntilNote[] = []
  /** Whether transcripts lost messages because of `memoryLimit`. */
  lostMessages = false
  started: Started | null = null
  ended: RunEventOf<'scenario_ended'> | null = null
  readonly #callsByConversation = new Map<ConversationKey, IndexedCall[]>()
  readonly #chatIds = new Map<string, string>()
  readonly #bots = new Map<string, number | undefined>()
  readonly #starts = new Map<number, RunEventOf<'step_started'>>()
  readonly #ends = new Map<number, RunEventOf<'step_ended'>>()
  constructor(settings: EvaluationSettings, steps: Iterable<PlannedStep> = []) {
    this.settings = settings
    this.audience = settings.audience ?? 'scenario'
    this.steps = new Map([...steps].map(step => [step.number, step]))
  }

  /** Names a chat. A chat may belong to another bot than the main one. */
  openConversation(conversation: string, chatId: string, botId?: number): void {
    this.history.nameChat(chatId, conversation)
    this.#chatIds.set(conversation, chatId)
    this.#bots.set(conversation, botId)
  }

  conversationOf({ endpoint, chatId }: IndexedCall): ConversationKey | null {
    return endpoint === 'availability' ? AVAILABILITY : this.history.conversationOf(chatId)
  }

  /** When a turn began; the beginning of the scenario or the test when the turn has none. */
  startMs({ atMs }: { readonly atMs: number }): number {
    return Number.isFinite(atMs) ? atMs : (this.started?.at_ms ?? 0)
  }

  /** The bot that calls about a conversation must name; undefined when the journal does not say. */
  botOf(conversation: string): number | undefined {
    return this.#bots.get(conversation) ?? this.started?.bot.id
  }

  callsOf(conversation: ConversationKey): readonly IndexedCall[] {
    return this.#callsByConversation.get(conversation) ?? []
  }

  /** Null before the step has started. */
  findStart(step: number): RunEventOf<'step_started'> | null {
    return this.#starts.get(step) ?? null
  }

  /** The start of a step that has started; throws otherwise. */
  getStart(step: number): RunEventOf<'step_started'> {
    const start = this.#starts.get(step)
    if (start === undefined) throw new Error(`Failed to evaluate step ${step}: the journal has no step_started of it.`)
    return start
  }

  findEnd(step: number): RunEventOf<'step_ended'> | null {
    return this.#ends.get(step) ?? null
  }

  /** What happened in a chat; null before any entry about it. */
  chatOf(conversation: string): ChatHistory | null {
    return this.history.chats.get(this.#chatIds.get(conversation) ?? '') ?? null
  }

  get entries(): readonly Entry[] {
    return this.history.entries
  }

  /** Reads the next entry of the journal. Returns the call when the entry is one. */
  add(entry: Entry): IndexedCall | null {
    this.history.add(entry)
    if (entry.kind === 'note') this.#addNote(entry)
    if (isDriverCall(entry)) this.drivers.push(entry)
    // Downloads of attachments are not calls of the protocol.
    if (entry.kind !== 'api' || (entry.endpoint === null && entry.path.startsWith('/files/'))) return null
    const call = new IndexedCall(entry)
    insert(this.calls, call)
    const conversation = this.conversationOf(call)
    if (conversation === null) return call
    const calls = this.#callsByConversation.get(conversation) ?? []
    this.#callsByConversation.set(conversation, calls)
    insert(calls, call)
    return call
  }

  #addNote(entry: EntryOf<'note'>): void {
    if (entry.note === 'messages_evicted') this.lostMessages = true
    else if (isInternalError(entry)) this.internalErrors.push(entry)
    else if (isWaitUntilNote(entry)) this.failedWork.push(entry)
    else if (isRunEvent(entry, 'scenario_started')) this.started = entry
    else if (isRunEvent(entry, 'scenario_ended')) this.ended = entry
    else if (isRunEvent(entry, 'step_started')) this.#starts.set(entry.step, entry)
    else if (isRunEvent(entry, 'step_ended')) this.#ends.set(entry.step, entry)
    else if (isRunEvent(entry, 'conversation'))
      this.openConversation(entry.conversation, entry.chat_id, entry.chat.bot_id)
  }
}

export class IndexedCall {
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
    this.entry = entry
    this.seq = entry.seq
    this.readAt = entry.at_ms - entry.duration_ms
    this.atMs = entry.at_ms
    this.endpoint = entry.endpoint
    const body = entry.chat_id === undefined ? this.body : null
    this.chatId = entry.chat_id ?? (isMap(body) && typeof body.chat_id === 'string' ? body.chat_id : null)
  }

  /** Parses the text that the journal has of a body which the platform refused before it read it. */
  get body(): unknown {
    const { body } = this.entry.request
    if (typeof body !== 'string') return body ?? {}
    try {
      return JSON.parse(body)
    } catch {
      return body
    }
  }
}

/** Calls are ordered by when they were read, not by when they were answered. */
export const isLater = (call: IndexedCall, otherCall: IndexedCall): boolean =>
  call.readAt === otherCall.readAt ? call.seq > otherCall.seq : call.readAt > otherCall.readAt

/** Puts it where it belongs; nearly always last. */
function insert(calls: IndexedCall[], call: IndexedCall): void {
  const before = calls.findLastIndex(earlier => !isLater(earlier, call))
  calls.splice(before + 1, 0, call)
}

/** What a finding says of a call, for programs. */
export const callReference = ({ seq, endpoint, entry: { method, path } }: IndexedCall) => ({
  seq,
  endpoint,
  method,
  path,
})

/** The numbers of calls or entries. */
export const seqsOf = (all: readonly Pick<Entry, 'seq'>[]): number[] => all.map(({ seq }) => seq)

export const ruleOf = (endpoint: EndpointId | null): string => (endpoint === null ? 'W7' : ENDPOINTS[endpoint].rule)
