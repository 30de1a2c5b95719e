/** How a step came out. */
import type { FailureDetails } from './step-evaluator.ts'

export interface StepResult {
  /** open: not decided yet. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'open'
  readonly told?: FailureDetails
  /** Why, when inconclusive. */
  readonly reason?: string
}

export const PASSED: StepResult = { outcome: 'pass' }
export const OPEN: StepResult = { outcome: 'open' }
