/** A check that has begun: it is shown what happens, and says how it stands. */
import type { InterpolationScope } from '../scenario/interpolation.ts'
import type { PlannedStep, Severity } from '../scenario/plan.ts'
import type { Variables } from '../scenario/variables.ts'
import type { StepStatus } from './evaluator.ts'
import type { Judging } from './near-misses.ts'
import type { Failure } from './verdict.ts'
import type { Windows } from './windows.ts'

export interface StepEvaluator {
  readonly step: PlannedStep
  /** Something has come that may decide it. */
  consider(): void
  look(nowMs: number): StepStatus
  /** It is over: what it has taken stays taken. */
  close(): void
  /** What there is to tell when it has failed; what came after its end included. */
  failure(): FailureDetails
}

/** A failure before it is known whose it is. */
export type FailureDetails = Omit<Failure, 'step' | 'conversation' | 'soft'>

/** What every watch works with. */
export interface EvaluationContext extends Judging {
  readonly windows: Windows
  readonly variables: Variables
  scopeOf(step: number): InterpolationScope
}

export const MET: StepStatus = { state: 'met' }
export const FAILED: StepStatus = { state: 'failed' }

/** Open until a moment, then decided by nothing having come. */
export const until = (nowMs: number, untilMs: number, after: StepStatus, waitingFor: string): StepStatus =>
  nowMs >= untilMs ? after : { state: 'open', untilMs, waitingFor }

export interface StepResult {
  /** open: not decided yet. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'open'
  readonly told?: FailureDetails
  /** Why, when inconclusive. */
  readonly reason?: string
}

export const PASSED: StepResult = { outcome: 'pass' }
export const OPEN: StepResult = { outcome: 'open' }

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
