/** Defines hints as codes and data: what to try after a failure. */
import type { EndpointId } from '../contract/endpoints.ts'
import type { SignMode } from '../contract/events.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { StepName } from './near-miss.ts'

/** What a webhook answered to an attempt, or why it did not. */
export interface AttemptResult {
  readonly event: string
  readonly attempt: number
  readonly status: number | null
  readonly afterMs: number
  readonly body: string
  readonly url: string | null
  readonly sent: boolean
  readonly sign: SignMode
  readonly failure?: DeliveryFailure
}

export type FailureHint =
  | { readonly code: 'allow_time' }
  | { readonly code: 'any_order' }
  | { readonly code: 'since' }
  | { readonly code: 'bearer_key' }
  | { readonly code: 'chat_id' }
  | { readonly code: 'platform_address'; readonly url: string | null }
  | { readonly code: 'no_event'; readonly step: StepName; readonly verb: 'press' | 'user' }
  | { readonly code: 'event_refused'; readonly result: AttemptResult }
  | { readonly code: 'answer_first' }
  | { readonly code: 'platform_timeout'; readonly ms: number }
  | { readonly code: 'is_running' }
  | { readonly code: 'verify_first' }
  | { readonly code: 'fault_refused'; readonly faults: readonly string[] }
  | { readonly code: 'signed_correctly' }
  | { readonly code: 'redirect'; readonly location: string | null }
  | { readonly code: 'webhook_address' }
  | { readonly code: 'only_200' }
  | { readonly code: 'async' }
  | { readonly code: 'event_twice' }
  | { readonly code: 'forwarded_again' }
  | { readonly code: 'command_folder' }
  | { readonly code: 'broke_off' }
  | { readonly code: 'desk_address' }
  | { readonly code: 'desk_path' }
  | { readonly code: 'earlier_run' }
  | { readonly code: 'answer_lost' }
  | { readonly code: 'delivered_again' }
  | { readonly code: 'allow_call'; readonly endpoint: EndpointId | null }
  | { readonly code: 'settle' }
  | { readonly code: 'forwards_copies' }
  | { readonly code: 'current_chat' }
