/** A check that has begun: it is shown what happens, and says how it stands. */
import type { Scope } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { StepStatus } from './evaluator.ts'
import type { Judging } from './obstacles.ts'
import type { Captures } from './scope.ts'
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
  readonly captures: Captures
  scopeOf(step: number): Scope
}

export const MET: StepStatus = { state: 'met' }
export const FAILED: StepStatus = { state: 'failed' }

/** Open until a moment, then decided by nothing having come. */
export const until = (nowMs: number, untilMs: number, after: StepStatus, waitingFor: string): StepStatus =>
  nowMs >= untilMs ? after : { state: 'open', untilMs, waitingFor }
