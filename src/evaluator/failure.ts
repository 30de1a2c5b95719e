/** Defines failures as codes and data: what was expected, what happened, what came close. `wording/` renders them. */

import type { EndpointId } from '../contract/endpoints.ts'
import type { DeliveryFailure } from '../journal/entry.ts'
import type { DriverFailure, EarlyEnd, StepFailure } from '../journal/run-failures.ts'
import type { LintFinding } from '../linter/rule.ts'
import type { ConnectionFailure } from '../runtime/connection-failure.ts'
import type { AckWanted, CallName, Expectation, Times } from '../scenario/action.ts'
import type { Place } from '../scenario/plan.ts'
import type { AttemptResult, FailureHint } from './hint.ts'
import type { CallRef, Difference, InboxItemRef, NearMiss, Notation, Obstacle, StepName } from './near-miss.ts'

export type FailureKind =
  | 'expect' // an expected call did not arrive
  | 'none' // a call arrived that must not
  | 'sees' // the agent did not see an item, or saw it too often
  | 'check' // the chat is in another state
  | 'stimulus' // a stimulus was not acknowledged, or could not be performed
  | 'driver' // the agent driver failed
  | 'unexpected' // a call that no step expects
  | 'contract' // a call that the platform refuses
  | 'never' // a call that the whole scenario forbids
  | 'times' // too many calls, or calls too close to each other
  | 'echo' // a user's text came back as an agent's message
  | 'leak' // a user's text appeared in another chat
  | 'late' // a call after the end of the scenario
  | 'lint' // a warning that `--strict` made a failure
  | 'stopped' // the time limit of the scenario, or an interruption
  | 'environment' // the target or the agent driver is missing

export interface StepRef {
  readonly number: number
  readonly of: number
  readonly id: string | null
  readonly name: string | null
  readonly label: string
  readonly conversation: string
  readonly place: Place | null
}

export interface Failure {
  readonly kind: FailureKind
  readonly step: StepRef | null
  readonly conversation: string | null
  readonly expected: Expected
  readonly happened: Happened
  /** Rule ids of docs/platform.md: `E6`. */
  readonly rules: readonly string[]
  /** Best first. */
  readonly nearest: readonly NearMiss[]
  /** Numbers of the entries to mark in a timeline. */
  readonly entrySeqs: readonly number[]
  /** The steps of its conversation were played on. */
  readonly soft: boolean
  /** What to try, when the failure is typical of one mistake. */
  readonly hint?: FailureHint
}

export interface PatternRef {
  readonly call: CallName
  /** Null: any body. */
  readonly body: Notation | null
}

export interface RequirementRef extends PatternRef, Pick<Expectation, 'times' | 'apartMs' | 'alias' | 'auth'> {}

export type RequirementTree =
  | ({ readonly op: 'call' } & RequirementRef)
  | { readonly op: 'all' | 'seq' | 'oneOf'; readonly of: readonly RequirementTree[] }

/** A time limit and where it counts from: a step, a call, or the start of the step itself. */
export interface Within {
  readonly ms: number
  readonly from: { readonly step: StepName } | { readonly seq: number } | null
}

/** Names a chat where the scenario has several, else null. */
type Chat = { readonly chat: string | null }

export type Expected =
  | ({ readonly code: 'calls'; readonly tree: RequirementTree; readonly within: Within | null } & Chat)
  | ({ readonly code: 'no_calls'; readonly calls: readonly PatternRef[]; readonly forMs: number } & Chat)
  | ({ readonly code: 'inbox_item'; readonly item: Notation; readonly times: Times } & InboxBound & Chat)
  | ({ readonly code: 'chat_state'; readonly check: Notation } & Chat)
  | ({ readonly code: 'call_count'; readonly requirement: RequirementRef } & Chat)
  | ({ readonly code: 'step_for_every_call' } & Chat)
  | ({ readonly code: 'no_call_after_end' } & Chat)
  | {
      readonly code: 'acknowledgement'
      readonly event: string | null
      readonly ack: NonNullable<AckWanted>
      readonly withinMs: number
    }
  | { readonly code: 'step_done'; readonly label: string }
  | { readonly code: 'end_within'; readonly ms: number }
  | { readonly code: 'own_end'; readonly scenario: string }
  | { readonly code: 'never'; readonly pattern: PatternRef }
  | { readonly code: 'known_path' }
  | { readonly code: 'accepted_call'; readonly endpoint: EndpointId }
  | { readonly code: 'no_echo'; readonly from: ChatRef; readonly seq: number; readonly text: string }
  | { readonly code: 'no_leak'; readonly from: ChatRef; readonly seq: number; readonly text: string }
  | { readonly code: 'chat_of_a_scenario' }
  | { readonly code: 'no_warning'; readonly rule: string }
  | { readonly code: 'no_finding'; readonly rule: string }
  | { readonly code: 'condition'; readonly source: string; readonly withinMs: number }
  | { readonly code: 'delivered'; readonly event: string }
  | {
      readonly code: 'received'
      readonly call: string
      readonly body: Notation | null
      readonly times: Times | null
      readonly not: boolean
    }

/** Exactly one of the two is set. */
type InboxBound = { readonly within: Within | null; readonly forMs: number | null }

/** A chat by its name in a scenario, or by its id, with the scenario where it is another one. */
export interface ChatRef {
  readonly chat: string
  readonly scenario: string | null
}

/** How often a call arrived so far, of how often it must. */
export interface CallProgress {
  readonly seqs: readonly number[]
  readonly min: number
}

/** Where a text of a user appeared. */
export type TextPlace =
  | { readonly code: 'call'; readonly method: string; readonly path: string }
  | { readonly code: 'inbox_item'; readonly position: number }

/** Why no call that could be the expected one arrived. */
export type NoCallDetail =
  | { readonly code: 'unreachable'; readonly failure: ConnectionFailure }
  | { readonly code: 'no_call_at_all' }
  | { readonly code: 'claimed'; readonly call: CallRef; readonly step: number }
  | { readonly code: 'other_call'; readonly call: CallRef; readonly afterMs: number }
  | { readonly code: 'last_call'; readonly call: CallRef }
  | { readonly code: 'nothing' }

export type InboxDetail =
  | { readonly code: 'never_read' }
  | { readonly code: 'earlier'; readonly item: InboxItemRef; readonly obstacles: readonly Obstacle[] }
  | { readonly code: 'claimed'; readonly item: InboxItemRef; readonly step: number }
  | { readonly code: 'nothing_new' }
  | {
      readonly code: 'nearest'
      readonly item: InboxItemRef
      readonly obstacles: readonly Obstacle[]
      readonly difference: Difference | null
    }

export type Happened =
  | { readonly code: 'unfillable'; readonly message: string }
  | { readonly code: 'capture_missing'; readonly name: string; readonly path: string; readonly call: CallRef }
  | {
      readonly code: 'calls_too_close'
      readonly requirement: RequirementRef
      readonly seqs: readonly [number, number]
      readonly gapMs: number
    }
  | {
      readonly code: 'no_matching_call'
      readonly requirement: RequirementRef
      readonly progress: CallProgress | null
      readonly call: CallRef
      readonly afterMs: number
      readonly obstacles: readonly Obstacle[]
      readonly differences: readonly Difference[]
    }
  | {
      readonly code: 'no_call'
      readonly requirement: RequirementRef
      readonly progress: CallProgress | null
      readonly withinMs: number
      readonly detail: NoCallDetail | null
    }
  | {
      readonly code: 'unwanted_call'
      readonly call: CallRef
      readonly afterMs: number
      readonly forMs: number
    }
  | {
      readonly code: 'item_missing'
      readonly item: Notation
      readonly seen: number
      readonly withinMs: number
      readonly detail: InboxDetail
    }
  | {
      readonly code: 'item_too_often'
      readonly item: Notation
      readonly times: Times
      readonly items: readonly InboxItemRef[]
    }
  | { readonly code: 'chat_differs'; readonly differences: readonly Difference[] }
  | { readonly code: 'chat_not_observed' }
  | {
      readonly code: 'not_acknowledged'
      readonly ack: NonNullable<AckWanted>
      readonly withinMs: number
      readonly result: AttemptResult
      /** The attempt that repeats an event. */
      readonly copy: boolean
    }
  | { readonly code: 'no_answer'; readonly event: string | null; readonly withinMs: number }
  | { readonly code: 'no_answer_before_stop'; readonly event: string | null; readonly cause: EarlyEnd }
  | { readonly code: 'event_held'; readonly event: string | null; readonly fault: string }
  | {
      readonly code: 'driver_failed'
      readonly label: string
      readonly how: string
      readonly status: number | null
      readonly failure: DriverFailure | null
      readonly answer: string
    }
  | { readonly code: 'step_failed'; readonly label: string; readonly failure: StepFailure }
  | { readonly code: 'stopped_at_step'; readonly cause: EarlyEnd | null; readonly step: StepName }
  | { readonly code: 'stopped'; readonly cause: EarlyEnd }
  | {
      readonly code: 'unexpected_call'
      readonly call: CallRef
      readonly body: Notation | null
      readonly afterMs: number
      readonly others: readonly number[]
    }
  | {
      readonly code: 'call_after_end'
      readonly call: CallRef
      readonly body: Notation | null
      readonly lateMs: number
      readonly others: readonly number[]
    }
  | {
      readonly code: 'forbidden_call'
      readonly pattern: PatternRef
      readonly call: CallRef
      readonly afterMs: number
      readonly others: readonly number[]
    }
  | {
      readonly code: 'too_many_calls'
      readonly requirement: RequirementRef
      readonly seqs: readonly number[]
      /** The first call that is too many, and how long it came after the last allowed one. */
      readonly seq: number
      readonly after: { readonly seq: number; readonly ms: number } | null
    }
  | {
      readonly code: 'refused_call'
      readonly call: CallRef
      readonly status: number
      readonly error: string | null
      readonly message: string | null
      readonly seqs: readonly number[]
    }
  | {
      readonly code: 'echoed'
      readonly seq: number
      readonly place: TextPlace
      readonly text: string
      readonly from: ChatRef
      readonly written: number
    }
  | {
      readonly code: 'leaked'
      readonly seq: number
      readonly place: TextPlace
      readonly text: string
      readonly from: ChatRef
      readonly to: ChatRef
    }
  | {
      readonly code: 'call_of_no_scenario'
      readonly method: string
      readonly path: string
      readonly chatId: string | null
      readonly status: number
      readonly message: string | null
    }
  | { readonly code: 'warning'; readonly finding: LintFinding }
  | { readonly code: 'condition_false'; readonly chat: { readonly status: string; readonly typing: boolean } | null }
  | {
      readonly code: 'delivery_failed'
      readonly seq: number
      readonly event: string
      readonly status: number | null
      readonly failure?: DeliveryFailure
    }
  | { readonly code: 'received'; readonly call: string; readonly seqs: readonly number[]; readonly different: boolean }
