/** Defines the state of the platform, the context of its rules, and what one operation causes. Times are whole microseconds since 1970 unless the name has another unit. */

import type { IdForm, Words } from '../../base/runtime/random.ts'
import type { AssumptionName } from '../contract/assumptions.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { AvailabilityReason, AvailabilityValue, Button, MessageRecord, Sender } from '../contract/schemas.ts'
import type { CallRemark, EventContent, NoteContent } from '../journal/entry.ts'
import { sizeOf } from '../journal/journal.ts'
import type { BusinessHours } from './business-hours.ts'

export interface StoredFile {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly sizeKb: number
  /** The uploaded bytes; null when bytes are generated as the link is opened. */
  readonly bytes: Uint8Array | null
  readonly createdMs: number
}

export interface Message {
  readonly id: string
  readonly created: number
  /** The journal entry that brought it; 0 in a restored snapshot. */
  readonly seq: number
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  /** The text as the user sees it. */
  readonly text: string
  /** The text on the agent's side of a live translation; null without one. */
  readonly other: string | null
  readonly buttons: readonly Button[]
  readonly attachments: readonly StoredFile[]
  readonly exchangeId: string | null
  /** The record in the latest transcript; null before the first. */
  record: MessageRecord | null
}

export interface Persona {
  readonly firstName: string | null
  readonly lastName: string | null
  readonly fullName: string | null
  readonly gender: string | null
}

export interface Takeover {
  readonly since: number
  readonly sender: Sender | null
  readonly supportsAttachment: boolean
  /** The language of the agent; null when no translation is needed. */
  readonly agentLanguage: string | null
}

export interface Chat {
  readonly id: string
  readonly userId: string
  readonly botId: number
  /** The name of the bot in a shipped conversation; null where it has its own. */
  readonly botName: string | null
  readonly language: string
  readonly source: string
  readonly persona: Persona
  readonly context: Record<string, unknown>
  readonly labels: readonly string[]
  readonly created: number
  updated: number
  active: boolean
  /** What the user has done to leave; null while the user is in the chat. */
  userLeft: 'closed' | 'deleted' | null
  status: 'bot' | 'pending' | 'agent'
  takeover: Takeover | null
  /** The number of messages before the latest handover request; null without a request. */
  requestedAt: number | null
  typing: boolean
  readonly messages: Message[]
  /** Numbers the ids of this chat, so that other chats do not change them. */
  counter: number
  /** The random words that the ids of this chat are derived from. */
  readonly words: Words
  /** Numbers the answers to `end` while the chat is not taken over; they are in no transcript. */
  idleEnds: number
}

export interface Queue {
  readonly availability: AvailabilityValue
  readonly reason: AvailabilityReason | null
  readonly updated: number | null
}

export interface BotState {
  readonly id: number
  readonly name: string
  readonly organizationId: number
  readonly queues: Map<string, Queue>
}

export type DeadlineAction =
  | { readonly kind: 'typing'; readonly chatId: string }
  | { readonly kind: 'idle'; readonly chatId: string }
  | { readonly kind: 'reply'; readonly chatId: string; readonly text: string; readonly buttons: readonly Button[] }

export interface Deadlines {
  /** Those that are set. */
  readonly current: ReadonlyMap<string, unknown>
  set(key: string, atMs: number, deadline: DeadlineAction): void
  delete(key: string): void
  nextMs(): number | null
  /** Removes and returns the earliest deadline due at `nowMs`; equal times in the order they were set. */
  take(nowMs: number): DeadlineAction | null
  clear(): void
  /** All deadlines, in the order they were set. */
  list(): { readonly key: string; readonly atMs: number; readonly deadline: DeadlineAction }[]
}

/** The messages of all chats, which are evicted oldest first. */
export interface MessageMemory {
  /** In bytes. */
  readonly limit: number
  bytes: number
  /** The chat of each message, oldest first; those before `first` are evicted. */
  readonly order: Chat[]
  first: number
  isEvictionAnnounced: boolean
}

/** Bounds the memory of the state that is never evicted: chats with their context, and faults. */
export interface StateMemory {
  /** Counts so many bytes more, or fewer. Throws `MemoryLimitError`, and counts nothing, when they exceed the limit. */
  add(bytes: number): void
  /** Says why so many bytes in all exceed the limit; null when they do not. */
  problem(total: number): string | null
  clear(): void
}

export interface PlatformState {
  readonly bots: Map<number, BotState>
  readonly chats: Map<string, Chat>
  readonly files: Map<string, StoredFile>
  readonly deadlines: Deadlines
  messageMemory: MessageMemory
  readonly memory: StateMemory
  /** The ids of chats that a reset removed. Only error messages use them. */
  forgotten: ReadonlySet<string>
  chatCounter: number
  summaryCounter: number
}

/** The bot's answer to user messages that contain `match` (a word or sentence, without regard to case). */
export interface BotReply {
  readonly match: string
  readonly text: string
  readonly buttons?: readonly Button[]
}

/** Settings of the workspace, which the API cannot change. */
export interface Settings {
  replies: readonly BotReply[]
  businessHours: BusinessHours | null
}

/** The context of all functions of the platform, which they receive as `platform`. */
export interface PlatformContext {
  readonly state: PlatformState
  readonly knobs: Knobs
  readonly settings: Settings
  /** The simulator's clock, in milliseconds since 1970. */
  nowMs(): number
  /** The date, in milliseconds since 1970. */
  wallMs(): number
  /** A fresh timestamp in microseconds. */
  stamp(): number
  /** Its `nextSeq` is that of the entry which causes what happens now. */
  readonly journal: { readonly nextSeq: number }
  id(form: IdForm, label: string): string
  /** The random words that the ids below `label` are derived from. */
  words(label: string): Words
  /** The beginning of links, and of the ids of files in them. */
  readonly address: { readonly base: string; readonly filePrefix: string }
}

export type Effect = EventContent | NoteContent

/**
 * Collects the results of one operation: webhook events and notes for the journal, findings, and the assumptions it
 * made. The caller commits it: first its own entry, then the effects, which that entry caused.
 */
export interface Transaction {
  readonly effects: Effect[]
  readonly findings: CallRemark[]
  readonly assumed: AssumptionName[]
}

export const createTransaction = (): Transaction => ({ effects: [], findings: [], assumed: [] })

/** Records that the response depends on these assumptions. */
export function assumed(transaction: Transaction, ...names: readonly AssumptionName[]): void {
  for (const name of names) if (!transaction.assumed.includes(name)) transaction.assumed.push(name)
}

export function addFinding(transaction: Transaction, rule: string, message: string): void {
  transaction.findings.push({ rule, message })
}

export function note(
  transaction: Transaction,
  name: string,
  chatId: string | undefined,
  detail: Record<string, unknown> = {},
): void {
  transaction.effects.push({
    kind: 'note',
    ...(chatId === undefined ? {} : { chat_id: chatId }),
    note: name,
    ...detail,
  })
}

/** The state would exceed `memoryLimit`. Nothing was changed. */
export class MemoryLimitError extends Error {
  override readonly name = 'MemoryLimitError'
}

export function createStateMemory(limit: number): StateMemory {
  let total = 0
  const problem = (needed: number) =>
    needed > limit
      ? `Chats and faults would take ${needed} bytes, and the limit is ${limit} bytes (memoryLimit): reset the simulator, or raise the limit with --memory-limit or memoryLimit.`
      : null
  return {
    add(bytes) {
      const problemText = bytes > 0 ? problem(total + bytes) : null
      if (problemText !== null) throw new MemoryLimitError(problemText)
      total += bytes
    },
    problem,
    clear() {
      total = 0
    },
  }
}

/** The measured memory of a chat whose fields have at most the size of ordinary ones. */
const CHAT_BYTES = 640
const ORDINARY_BYTES = 1024
const FAULT_BYTES = 1024

type ChatFields = Pick<Chat, 'id' | 'userId' | 'language' | 'source' | 'persona' | 'context' | 'labels'>

/** The memory of a chat without its messages, which can be evicted. */
export const sizeOfChat = ({ id, userId, language, source, persona, context, labels }: ChatFields): number =>
  CHAT_BYTES + Math.max(0, sizeOf([id, userId, language, source, persona, context, labels]) - ORDINARY_BYTES)

/** The other fields of a fault are short. */
export const sizeOfFault = ({ name, respond }: { readonly name: string; readonly respond?: unknown }): number =>
  FAULT_BYTES + sizeOf([name, respond])
