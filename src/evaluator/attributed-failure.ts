/** A failure with what is needed to place it: when it came about, whose it is, and how serious it is. */
import type { PlannedStep, Severity } from '../scenario/plan.ts'
import type { FailureDetails } from './step-evaluator.ts'

export interface AttributedFailure {
  /** Seq of the entry with which it came about. */
  readonly at: number
  readonly step: PlannedStep | null
  readonly conversation: string | null
  readonly severity: Severity
  /** What it is called when it is only a warning. */
  readonly rule: string
  readonly told: FailureDetails
}
