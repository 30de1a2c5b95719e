/** What happened, one entry each. Wire case: entries are read as JSON by every language. */
import type { AssumptionName } from '../contract/assumptions.ts'
import type { Alias, EndpointId } from '../contract/endpoints.ts'
import type { WebhookEvent, WebhookEventName } from '../contract/events.ts'
import type { SignMode } from '../contract/sign-modes.ts'
import type { ConnectionFailure } from '../runtime/connection-failure.ts'

export type EntryKind = 'api' | 'event' | 'delivery' | 'driver' | 'user' | 'fault' | 'note'

/** Something the platform might forgive but a developer should know. */
export interface Finding {
  readonly rule: string
  readonly message: string
}

export interface ApiContent {
  readonly kind: 'api'
  readonly chat_id?: string
  readonly endpoint: EndpointId | null
  readonly method: string
  readonly path: string
  readonly alias: Alias | null
  readonly auth: 'valid' | 'missing' | 'malformed' | 'unknown' | 'wrong_scope' | 'not_checked'
  readonly request: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
    readonly bytes: number
  }
  /** 0 when no answer was made, because a fault struck before one was. */
  readonly status: number
  readonly response: unknown
  readonly findings: readonly Finding[]
  /** The assumptions the answer rests on, each with the value of its knob then; null for one without a knob. */
  readonly unspecified: Readonly<Partial<Record<AssumptionName, unknown>>>
  readonly duration_ms: number
  /** The latest webhook event of the same chat before this call: what the caller may be reacting to. */
  readonly follows: number | null
  /** Names of the faults that were applied. */
  readonly faults?: readonly string[]
  /** No answer went out. before: the platform did nothing; after: it did what was asked. */
  readonly answer_lost?: 'before' | 'after'
}

export interface EventContent {
  readonly kind: 'event'
  readonly chat_id: string
  readonly event: WebhookEventName
  readonly delivery_id: string
  readonly payload: WebhookEvent
}

/** Why an event is not acknowledged. `wording/delivery.ts` has the words. */
export type DeliveryFailure =
  | ConnectionFailure
  | { readonly code: 'no_url' }
  | { readonly code: 'redirect'; readonly status: number; readonly followed: boolean }
  | { readonly code: 'not_acknowledged'; readonly status: number; readonly event: string }

export interface DeliveryContent {
  readonly kind: 'delivery'
  readonly chat_id?: string
  readonly delivery_id: string
  readonly event: string
  /** 1 for the first try. */
  readonly attempt: number
  readonly outcome: 'delivered' | 'failed' | 'skipped'
  readonly url: string | null
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
  readonly status: number | null
  readonly response: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly truncated: boolean
  } | null
  readonly duration_ms: number
  /** Why it is not delivered. */
  readonly failure?: DeliveryFailure
  /** On the simulator's clock, when another try follows. */
  readonly retry_in_ms?: number
  /** Sent by hand: the platform had no such event. */
  readonly triggered?: true
  /** How it was signed, when it was triggered or struck by a fault: anything but `valid` is wrong on purpose. */
  readonly sign?: SignMode
  /** A past delivery, sent again by hand. */
  readonly resent?: true
  /** Names of the faults that were applied. */
  readonly faults?: readonly string[]
  /** One more copy of the same bytes, sent on purpose. Copies are numbered from 2. */
  readonly duplicate?: true
}

export interface UserContent {
  readonly kind: 'user'
  readonly chat_id: string
  readonly action: 'message' | 'press'
  readonly text?: string
  readonly button?: string
  readonly message_id: string | null
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly size_kb: number }[]
}

export interface NoteContent {
  readonly kind: 'note'
  readonly chat_id?: string
  /** A stable name such as `chat_created`, `bot_message`, `typing_hidden`, `availability`, `config`, `event_triggered`, `fault_set`, `evicted`. */
  readonly note: string
  readonly [detail: string]: unknown
}

/** What a fault does, in the words of its specification. */
export interface FaultEffect {
  readonly latency?: string
  readonly respond?: { readonly status: number }
  readonly drop?: 'before' | 'after'
  readonly reset?: true
  readonly slow_body?: string
  readonly malformed?: true
  readonly delay?: string
  readonly slow?: string
  readonly swap?: true
  readonly hold?: number
  readonly sign?: SignMode
  readonly duplicate?: number
  readonly gap?: string
  readonly truncate?: true
  readonly drip?: string
  readonly reset_after_answer?: true
  readonly http?: readonly ('header-case' | 'chunked')[]
}

/** One hit of a fault; its cause is the call or event that the fault changed. */
export interface FaultContent {
  readonly kind: 'fault'
  readonly chat_id?: string
  readonly fault: string
  readonly effect: FaultEffect
  /** 1 for the first. */
  readonly hit: number
  /** How many it has in all; null: until it is cleared. */
  readonly of: number | null
  readonly endpoint?: EndpointId
  readonly event?: string
  readonly delivery_id?: string
  /** Effects that were left out, because the webhook is a function and has no connection. */
  readonly not_applied?: readonly string[]
  readonly [detail: string]: unknown
}

/** Written by the agent driver. */
export interface OpenContent {
  readonly kind: 'driver'
  readonly chat_id?: string
  readonly [detail: string]: unknown
}

export type EntryContent =
  | ApiContent
  | EventContent
  | DeliveryContent
  | UserContent
  | NoteContent
  | FaultContent
  | OpenContent

export interface EntryFrame {
  readonly v: 1
  /** 1, 2, 3 ... in the order things happened. */
  readonly seq: number
  /** ISO 8601 on the simulator's clock. */
  readonly time: string
  /** Seq of the entry that caused this one; null when it came from outside. */
  readonly cause: number | null
  /** Milliseconds on the wall since the simulator was made: what is left when `time` is virtual. For durations only. */
  readonly at_ms: number
}

export type Entry = EntryContent & EntryFrame
export type EntryOf<Kind extends EntryKind> = Extract<Entry, { kind: Kind }>
