/** Everything the platform remembers. Times are whole microseconds since 1970 unless a name says otherwise. */
import type { AvailabilityReason, AvailabilityValue, Button, Sender } from '../contract/schemas.ts'
import type { Words } from '../runtime/random.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'

export interface StoredFile {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly sizeKb: number
  /** The uploaded bytes; without them deterministic ones are made when the link is opened. */
  readonly bytes: Uint8Array | null
  readonly createdMs: number
}

export interface Message {
  readonly id: string
  readonly created: number
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  /** As it stood in the user's window. */
  readonly text: string
  /** The other side of a translation: what the agent wrote, or what the agent was shown. */
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
  /** Language the agent reads; null when no translation is needed. */
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
  /** How many messages stood before the latest handover request; null when there was none. */
  requestedAt: number | null
  typing: boolean
  readonly messages: Message[]
  /** Numbers the ids of this chat, so that other chats cannot shift them. */
  counter: number
  /** What the ids of this chat are drawn from. */
  readonly words: Words
  /** Numbers the answers to an end with nothing to end; they are in no transcript. */
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
  /** Ids of the chats there were before the latest reset that forgot any: for words, not for rules. */
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
