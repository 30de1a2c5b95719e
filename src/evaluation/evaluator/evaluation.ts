/** Holds the state of one evaluation: what the verdict on a play is computed from. */
import type { PlannedStep, Severity } from '../scenario/plan.ts'
import type { ExpectEvaluator } from './expect.ts'
import { AVAILABILITY, type Call, type ConversationKey } from './journal-index.ts'
import type { SeesEvaluator } from './sees.ts'
import type { EvaluationContext, FailureDetails, StepResult } from './step-evaluator.ts'

export interface Evaluation extends EvaluationContext {
  readonly expects: ReadonlyMap<number, ExpectEvaluator>
  readonly sees: ReadonlyMap<number, SeesEvaluator>
  /** The result of a step; `over`: nothing more will come. */
  resultOf(step: PlannedStep, over: boolean): StepResult
}

/** A failure with its place: when it occurred, whose it is, and how serious it is. */
export interface AttributedFailure {
  /** Number of the entry with which it occurred. */
  readonly at: number
  readonly step: PlannedStep | null
  readonly conversation: string | null
  readonly severity: Severity
  /** Its name when it is only a warning. */
  readonly rule: string
  readonly details: FailureDetails
}

export const nameOfConversation = (conversation: ConversationKey | null): string | null =>
  conversation === AVAILABILITY ? null : conversation

/** Milliseconds from the start of the play to a call. */
export const sinceStart = ({ index }: EvaluationContext, call: Call): number =>
  call.readAt - (index.started?.at_ms ?? 0)
