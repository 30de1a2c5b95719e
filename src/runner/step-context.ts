/** What every kind of step gets, and what it may say when it has been played. */
import type { StepFailure } from '../journal/run-failures.ts'
import type { Action, Verb } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { StepEnded } from '../scenario/run-events.ts'
import type { RunContext } from './run-context.ts'

export type StepDetails = Omit<StepEnded, 'note' | 'step'>

export interface StepContext {
  readonly context: RunContext
  readonly step: PlannedStep
  /** Seq of the entry that says the step began. */
  readonly startSeq: number
  /** The play is over. */
  readonly signal: AbortSignal
  /** What it is waiting for, and at most how much longer. */
  waiting(what: string, forMs: number): void
}

export interface ActionContext<V extends Verb> extends StepContext {
  readonly action: Extract<Action, { verb: V }>
}

/** Rejects with `StepError` when it cannot be done. */
export type StepHandler<V extends Verb> = (stepContext: ActionContext<V>) => Promise<StepDetails> | StepDetails

/** The runner cannot execute a step. */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly failure: StepFailure

  constructor(failure: StepFailure) {
    super(failure.code)
    this.failure = failure
  }
}
