/** A snapshot: the whole state of a simulator as JSON. Times are as in the state: milliseconds and microseconds. */
import type { AvailabilityReason, AvailabilityValue, Button, Sender } from '../../contract/schemas.ts'
import type { SignMode } from '../../contract/sign-modes.ts'
import type { FaultSpec } from '../../faults/spec.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Wire } from '../../runtime/transport.ts'

export const SNAPSHOT_VERSION = 1

export interface Snapshot {
  readonly v: 1
  /** The version that took it. */
  readonly handover_sim: string
  /** On the wall. */
  readonly taken_at: string
  readonly seed: number
  readonly bot: { readonly id: number; readonly name: string; readonly organization_id: number }
  readonly clock: { readonly mode: 'real' | 'virtual'; readonly now_ms: number; readonly start_ms?: number | undefined }
  /** Everything in force by name; keys are `***` unless they were asked for. */
  readonly config: Readonly<Record<string, unknown>>
  /** Replaced keys that still work for a while; only when keys were asked for. */
  readonly replaced_keys?: readonly ReplacedKeyRow[] | undefined
  readonly bots: readonly BotRow[]
  readonly chats: readonly ChatRow[]
  readonly files: readonly FileRow[]
  readonly deadlines: readonly DeadlineRow[]
  readonly counters: {
    readonly chats: number
    readonly summaries: number
    readonly triggered: number
    readonly faults: number
  }
  readonly faults: readonly FaultRow[]
  /** Events that have not arrived yet. */
  readonly deliveries: readonly DeliveryRow[]
  readonly rate_limits: readonly RateRow[]
  /** Where ids of time and chance go on. */
  readonly going_on: {
    readonly stamp: number
    readonly journal_stamp: number
    readonly random: number
    readonly alarm_order: number | null
  }
  readonly journal: JournalRows
}

export interface ReplacedKeyRow {
  readonly key: string
  readonly bot_id: number
  readonly scopes: readonly ('handover' | 'read_chats')[]
  readonly until_ms: number
}

export interface BotRow {
  readonly id: number
  readonly name: string
  readonly organization_id: number
  readonly queues: readonly {
    readonly name: string
    readonly availability: AvailabilityValue
    readonly reason: AvailabilityReason | null
    readonly updated: number | null
  }[]
}

export interface MessageRow {
  readonly id: string
  readonly created: number
  readonly from: 'user' | 'bot' | 'agent'
  readonly name: string
  readonly text: string
  readonly other: string | null
  readonly buttons: readonly Button[]
  /** Ids of `files`. */
  readonly attachments: readonly string[]
  readonly exchange_id: string | null
}

export interface ChatRow {
  readonly id: string
  readonly user_id: string
  readonly bot_id: number
  readonly language: string
  readonly source: string
  readonly persona: {
    readonly first_name: string | null
    readonly last_name: string | null
    readonly full_name: string | null
    readonly gender: string | null
  }
  readonly context: Readonly<Record<string, unknown>>
  readonly labels: readonly string[]
  readonly created: number
  readonly updated: number
  readonly active: boolean
  readonly status: 'bot' | 'pending' | 'agent'
  readonly takeover: {
    readonly since: number
    readonly sender: Sender | null
    readonly supports_attachment: boolean
    readonly agent_language: string | null
  } | null
  readonly requested_at: number | null
  readonly typing: boolean
  readonly messages: readonly MessageRow[]
  readonly counter: number
  readonly idle_ends: number
  /** Seq of its latest webhook event. */
  readonly last_event: number | null
}

export interface FileRow {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly size_kb: number
  readonly created_ms: number
  /** Only of files that were uploaded; the others are made from their id. */
  readonly base64?: string | undefined
}

export interface DeadlineRow {
  readonly key: string
  readonly at_ms: number
  readonly kind: 'typing' | 'idle' | 'reply'
  readonly chat_id: string
  readonly text?: string | undefined
  readonly buttons?: readonly Button[] | undefined
}

export interface FaultRow {
  readonly name: string
  readonly spec: FaultSpec
  readonly seen: number
  readonly hits: number
  readonly holding: number
  readonly passing: readonly (readonly [chatId: string, events: number])[]
}

export interface DeliveryRow {
  readonly chat_id: string
  readonly delivery_id: string
  readonly event: string
  readonly body: string
  /** Seq of its event. */
  readonly seq: number
  readonly attempt: number
  readonly copy: boolean
  readonly laned: boolean
  readonly stage: 'waiting' | 'sending' | 'due' | 'kept'
  readonly due?: { readonly at_ms: number; readonly order: number; readonly next: 'send' | 'turn' } | undefined
  readonly passing: number
  readonly struck: StruckRow | null
}

export interface StruckRow {
  readonly names: string
  readonly form: { readonly sign: SignMode; readonly truncate: boolean; readonly wire: Wire | null }
  readonly order:
    | { readonly kind: 'delay' | 'slow'; readonly ms: number }
    | { readonly kind: 'hold'; readonly passing: number }
    | null
  readonly copies: { readonly count: number; readonly gapMs: number }
}

export interface RateRow {
  /** `handover`, `bot`, or `more 1`, `more 2` ... */
  readonly key: string
  readonly start_ms: number
  readonly calls: number
}

export interface JournalRows {
  readonly next_seq: number
  readonly at_ms: number
  /** Only when they were asked for. */
  readonly entries?: readonly Entry[] | undefined
}

export interface SnapshotOptions {
  /** With the API keys as they are; without, a restore keeps the keys there are. */
  readonly keys?: boolean
  /** With the journal; without, it goes on with the next `seq` and nothing before. */
  readonly journal?: boolean
}
