/** Defines failures as codes and data: what was expected, what happened, what came close. `wording/` renders them. */

import type { CertificateProblem, ConnectionFailure } from '../../base/runtime/connection-failure.ts'
import type { Bare, Coded } from '../../base/text/coded.ts'
import type { EndpointId } from '../../platform/contract/endpoint-routes.ts'
import type { SignMode } from '../../platform/contract/event-names.ts'
import type { DeliveryFailure } from '../../platform/journal/entry.ts'
import type {
  DriverFailure,
  EarlyEnd,
  ProcessFailure,
  StepFailure,
  TargetFailure,
} from '../../platform/journal/run-failures.ts'
import type { LintFinding } from '../linter/lint.ts'
import type { CallName, Expectation, ExpectedAck, PlannedStep, Times } from '../scenario/plan.ts'
import type { Notation } from '../scenario/value-text.ts'
import type { Difference } from './match.ts'

export type FailureKind =
  | 'expect' // an expected call did not arrive
  | 'none' // a call arrived that must not
  | 'sees' // the agent did not see an item, or saw it too often
  | 'check' // the chat is in another state
  | 'stimulus' // a stimulus was not acknowledged, or could not be done
  | 'driver' // the agent driver failed
  | 'unexpected' // a call that no step expects
  | 'contract' // a call that the platform refuses
  | 'never' // a call that the whole scenario forbids
  | 'times' // too many calls, or calls too close to each other
  | 'echo' // a user's text came back as an agent's message
  | 'leak' // a user's text appeared in another chat
  | 'late' // a call after the end of the scenario
  | 'lint' // a warning that `--strict` made a failure
  | 'evicted' // the journal lost entries that a check needs
  | 'scenario' // the scenario or the test cannot be evaluated: a pattern is too slow
  | 'stopped' // the time limit of the scenario, or an interruption
  | 'environment' // the target or the agent driver is missing, or the driver reads no inbox
  | 'internal' // an error of the simulator itself

export interface StepRef extends Pick<PlannedStep, 'number' | 'id' | 'name' | 'label' | 'conversation' | 'place'> {
  readonly of: number
}

export interface Failure {
  readonly kind: FailureKind
  readonly step: StepRef | null
  readonly conversation: string | null
  readonly expected: Expected
  readonly happened: Happened
  /** Rule ids of docs/reference/platform.md: `E6`. */
  readonly rules: readonly string[]
  /** Best first. */
  readonly nearest: readonly NearMiss[]
  /** Numbers of the entries to mark in a timeline. */
  readonly entrySeqs: readonly number[]
  /** The conversation continued after it. */
  readonly soft: boolean
  /** What to try, when the failure is typical of one mistake. */
  readonly hint?: FailureHint
}

export type StepName = Pick<PlannedStep, 'number' | 'id' | 'label'>

/** An action: a step of a scenario by its number, an action of a test by its journal entry. */
export type ActionName = StepName | { readonly seq: number; readonly label: string }

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

/** A chat by its name in a scenario, or by its id, with the scenario where it is another one. */
export interface ChatRef {
  readonly chat: string
  readonly scenario: string | null
}

/** Where a text of a user appeared. */
export type TextPlace = Coded<{ call: { method: string; path: string }; inbox_item: { position: number } }>

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

/** `chat` names a chat where the scenario has several, else it is null. */
export type Expected = Coded<{
  calls: { tree: RequirementTree; within: Within | null; chat: string | null }
  no_calls: { calls: readonly PatternRef[]; forMs: number; chat: string | null }
  /** One of `within` and `forMs` is set. */
  inbox_item: { item: Notation; times: Times; within: Within | null; forMs: number | null; chat: string | null }
  chat_state: { check: Notation; chat: string | null }
  call_count: { requirement: RequirementRef; chat: string | null }
  step_for_every_call: { chat: string | null }
  no_call_after_end: { chat: string | null }
  acknowledgement: { event: string | null; ack: NonNullable<ExpectedAck>; withinMs: number }
  step_done: { label: string }
  end_within: { ms: number }
  own_end: { scenario: string }
  never: { pattern: PatternRef }
  known_path: Bare
  accepted_call: { endpoint: EndpointId }
  no_echo: { from: ChatRef; seq: number; text: string }
  no_leak: { from: ChatRef; seq: number; text: string }
  chat_of_a_scenario: Bare
  no_warning: { rule: string }
  no_finding: { rule: string }
  condition: { source: string; withinMs: number }
  delivered: { event: string }
  received: { call: string; body: Notation | null; times: Times | null; not: boolean }
  quick_pattern: { pattern: string }
  complete_journal: Bare
  command_passes: Bare
  no_internal_error: Bare
}>

export interface CallProgress {
  readonly seqs: readonly number[]
  readonly min: number
}

/** Why no call that could be the expected one arrived. */
export type NoCallDetail = Coded<{
  unreachable: { failure: ConnectionFailure }
  no_call_at_all: Bare
  claimed: { call: CallRef; step: number }
  other_call: { call: CallRef; afterMs: number }
  last_call: { call: CallRef }
  nothing: Bare
}>

export type InboxDetail = Coded<{
  never_read: Bare
  earlier: { item: InboxItemRef; obstacles: readonly Obstacle[] }
  claimed: { item: InboxItemRef; step: number }
  nothing_new: Bare
  nearest: { item: InboxItemRef; obstacles: readonly Obstacle[]; difference: Difference | null }
}>

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

type MissingCall = { requirement: RequirementRef; progress: CallProgress | null }

interface FirstCall {
  call: CallRef
  others: readonly number[]
}

export type Happened = Coded<{
  unfillable: { message: string }
  capture_missing: { name: string; path: string; call: CallRef }
  calls_too_close: { requirement: RequirementRef; seqs: readonly [number, number]; gapMs: number }
  no_matching_call: MissingCall & Pick<NearMiss, 'afterMs' | 'obstacles' | 'differences'> & { call: CallRef }
  no_call: MissingCall & { withinMs: number; detail: NoCallDetail | null }
  unwanted_call: { call: CallRef; afterMs: number; forMs: number }
  item_missing: { item: Notation; seen: number; withinMs: number; detail: InboxDetail }
  item_too_often: { item: Notation; times: Times; items: readonly InboxItemRef[] }
  chat_differs: { differences: readonly Difference[] }
  chat_not_observed: Bare
  /** `copy`: the attempt repeats an event. */
  not_acknowledged: { ack: NonNullable<ExpectedAck>; withinMs: number; result: AttemptResult; copy: boolean }
  no_answer: { event: string | null; withinMs: number }
  no_answer_before_stop: { event: string | null; cause: EarlyEnd }
  event_held: { event: string | null; fault: string }
  driver_failed: { label: string; how: string; status: number | null; failure: DriverFailure | null; answer: string }
  step_failed: { label: string; failure: StepFailure }
  stopped_at_step: { cause: EarlyEnd | null; step: StepName }
  stopped: { cause: EarlyEnd }
  unexpected_call: FirstCall & { body: Notation | null; afterMs: number }
  call_after_end: FirstCall & { body: Notation | null; lateMs: number }
  forbidden_call: FirstCall & { pattern: PatternRef; afterMs: number }
  /** `seq`: the first call that is too many. `after`: the last allowed call, and how long it came before. */
  too_many_calls: {
    requirement: RequirementRef
    seqs: readonly number[]
    seq: number
    after: { readonly seq: number; readonly ms: number } | null
  }
  /** `error`, `field` and `message` of the response; null when it has none. */
  refused_call: {
    call: CallRef
    status: number
    error: string | null
    field: string | null
    message: string | null
    seqs: readonly number[]
  }
  echoed: { seq: number; place: TextPlace; text: string; from: ChatRef; written: number }
  leaked: { seq: number; place: TextPlace; text: string; from: ChatRef; to: ChatRef }
  call_of_no_scenario: { method: string; path: string; chatId: string | null; status: number; message: string | null }
  warning: { finding: LintFinding }
  condition_false: { chat: { readonly status: string; readonly typing: boolean } | null }
  delivery_failed: { seq: number; event: string; status: number | null; failure?: DeliveryFailure }
  received: { call: string; seqs: readonly number[]; different: boolean }
  slow_pattern: { pattern: string; length: number; limitMs: number }
  evicted: { firstSeq: number }
  messages_evicted: Bare
  internal_error: { seq: number; where: string; message: string }
  command_ended: { failure: ProcessFailure }
}>

export type NearMissSubject = Coded<{ call: CallRef; inbox_item: InboxItemRef; chat: Bare; event: { event: string } }>

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
export type Obstacle = Coded<{
  call: { endpoint: EndpointId | null }
  chat: { chatId: string | null; conversation: string | null }
  claimed: { step: number }
  /** `seq`: the entry of the action with which the turn began. */
  before: { step: number | null; seq: number; byMs: number }
  earlier: { seq: number; step: number | null }
  late: { byMs: number }
  key: { expected: 'valid' | 'invalid'; received: string; status: number }
  bot: { received: Notation; expected: number | null }
  alias: { received: string | null; expected: string }
  fields: { count: number }
  /** It arrived before a call of the same sequence that has to come first. */
  order: { first: CallRef }
  answered_late: { byMs: number }
  before_item: { item: InboxItemRef; step: number | null }
  before_turn: Bare
  of_chat: { conversation: string }
  not_delivered: { status: number | null; failure?: DeliveryFailure }
}>

export type ObstacleCode = Obstacle['code']

/** What to try after a failure. */
export type FailureHint = Coded<
  {
    platform_address: { url: string | null }
    /** No call reached a simulator without a port; `refused` is the answer of a webhook that failed. */
    nothing_intercepts: { url: string; refused: AttemptResult | null }
    no_event: { action: ActionName; verb: 'press' | 'user' }
    event_refused: { result: AttemptResult }
    platform_timeout: { ms: number }
    fault_refused: { faults: readonly string[] }
    redirect: { location: string | null }
    allow_call: { endpoint: EndpointId | null }
    target_ended: { failure: TargetFailure }
    https: { text: string }
  } & Record<BareHint | CertificateProblem, Bare>
>

type BareHint =
  | 'allow_time'
  | 'no_agent'
  | 'any_order'
  | 'since'
  | 'bearer_key'
  | 'chat_id'
  | 'answer_first'
  | 'is_running'
  | 'no_webhook'
  | 'verify_first'
  | 'signed_correctly'
  | 'webhook_address'
  | 'only_200'
  | 'async'
  | 'event_twice'
  | 'forwarded_again'
  | 'command_folder'
  | 'broke_off'
  | 'exception'
  | 'desk_address'
  | 'desk_path'
  | 'earlier_run'
  | 'answer_lost'
  | 'delivered_again'
  | 'settle'
  | 'forwards_copies'
  | 'current_chat'
