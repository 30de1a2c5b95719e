/** Defines the state of the platform. Times are whole microseconds since 1970 unless the name has another unit. */
import type { AvailabilityReason, AvailabilityValue, Button, Sender } from '../contract/schemas.ts'
import type { Words } from '../runtime/random.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'

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
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  /** The text as the user sees it. */
  readonly text: string
  /** The text on the agent's side of a live translation; null without one. */
  readonly other: string | null
  readonly buttons: readonly Button[]
  readonly attachments: readonly StoredFile[]
  readonly exchangeId: string | null
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
  readonly language: string
  readonly source: string
  readonly persona: Persona
  readonly context: Record<string, unknown>
  readonly labels: readonly string[]
  readonly created: number
  updated: number
  active: boolean
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

export interface PlatformState {
  readonly bots: Map<number, BotState>
  readonly chats: Map<string, Chat>
  readonly files: Map<string, StoredFile>
  readonly deadlines: Deadlines
  /** The ids of chats that a reset removed. Only error messages use them. */
  forgotten: ReadonlySet<string>
  chatCounter: number
  summaryCounter: number
}

export function createPlatformState(): PlatformState {
  return {
    bots: new Map(),
    chats: new Map(),
    files: new Map(),
    deadlines: createDeadlines(),
    forgotten: new Set(),
    chatCounter: 0,
    summaryCounter: 0,
  }
}
