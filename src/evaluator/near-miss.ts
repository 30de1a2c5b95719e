/** Defines near misses as codes and data: calls and items that came close, their obstacles and their differences. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { PlannedStep } from '../scenario/plan.ts'

/** A value in the notation of scenarios, on one line: `"I'm Anna"`, `/\d+/`, `$type string`. */
export type Notation = string

export type StepName = Pick<PlannedStep, 'number' | 'id' | 'label'>

export interface CallRef {
  readonly seq: number
  /** Null: no path of the platform. */
  readonly endpoint: EndpointId | null
  readonly method: string
  readonly path: string
}

export interface InboxItemRef {
  /** 1 for the first. */
  readonly position: number
  /** Null: a request for takeover without a text. */
  readonly text: Notation | null
  readonly files: number
}

/** What a near miss is. */
export type NearMissSubject =
  | ({ readonly code: 'call' } & CallRef)
  | ({ readonly code: 'inbox_item' } & InboxItemRef)
  | { readonly code: 'chat' }
  | { readonly code: 'event'; readonly event: string }

/** A call, an inbox item or an observation that was examined and not taken. */
export interface NearMiss {
  readonly seq: number
  readonly subject: NearMissSubject
  /** Milliseconds after the moment the step looks from. */
  readonly afterMs: number
  readonly obstacles: readonly Obstacle[]
  readonly differences: readonly Difference[]
}

/** Why a call or an item is not the expected one. */
export type Obstacle =
  | { readonly code: 'call'; readonly endpoint: EndpointId | null }
  | { readonly code: 'chat'; readonly chatId: string | null; readonly conversation: string | null }
  | { readonly code: 'claimed'; readonly step: number }
  | { readonly code: 'before'; readonly step: number | null; readonly byMs: number }
  | { readonly code: 'earlier'; readonly seq: number; readonly step: number | null }
  | { readonly code: 'late'; readonly byMs: number }
  | {
      readonly code: 'key'
      readonly expected: 'valid' | 'invalid'
      readonly received: string
      readonly status: number
    }
  | { readonly code: 'bot'; readonly received: Notation; readonly expected: number | null }
  | { readonly code: 'alias'; readonly received: string | null; readonly expected: string }
  | { readonly code: 'fields'; readonly count: number }
  /** It arrived before a call of the same sequence that has to come first. */
  | { readonly code: 'order'; readonly first: CallRef }
  | { readonly code: 'answered_late'; readonly byMs: number }
  | { readonly code: 'before_item'; readonly item: InboxItemRef; readonly step: number | null }
  | { readonly code: 'before_turn' }
  | { readonly code: 'of_chat'; readonly conversation: string }
  | { readonly code: 'not_delivered'; readonly status: number | null; readonly failure?: DeliveryFailure }

export type ObstacleCode = Obstacle['code']

/** A field whose value is not the expected one. */
export interface Difference {
  /** `message`, `sender.name`, `attachments[0].name`; empty for the whole. */
  readonly path: string
  readonly expected: Notation
  /** Null: absent. */
  readonly received: Notation | null
  readonly note?: DifferenceNote
}

/** The mistake that explains a difference. */
export type DifferenceNote =
  | { readonly code: 'letter_case' }
  | { readonly code: 'white_space'; readonly how: 'trimmed' | 'added' | 'other' }
  | { readonly code: 'normalisation' }
  | { readonly code: 'invisible'; readonly lost: boolean }
  | { readonly code: 'html'; readonly how: 'escaped' | 'escaped_twice' | 'unescaped' }
  | { readonly code: 'marker_added'; readonly marker: string }
  | { readonly code: 'marker_missing'; readonly marker: string }
  | { readonly code: 'json_twice' }
  | { readonly code: 'json_escapes' }
  | { readonly code: 'json_text' }
  | { readonly code: 'url_encoding' }
  | { readonly code: 'latin1' }
  | { readonly code: 'non_ascii_lost' }
  | { readonly code: 'markup_removed' }
  | { readonly code: 'cut'; readonly length: number; readonly of: number }
  | { readonly code: 'added_at_end'; readonly count: number }
  | { readonly code: 'added_in_front'; readonly count: number }
  | { readonly code: 'surrounded' }
  | { readonly code: 'from_position'; readonly position: number }
  | { readonly code: 'type'; readonly expected: string; readonly received: string }
  | { readonly code: 'item_count'; readonly expected: number; readonly received: number }
  | { readonly code: 'item_order' }
  | { readonly code: 'other_key'; readonly found: string; readonly missing: string }
  | { readonly code: 'matcher_threw'; readonly message: string }
