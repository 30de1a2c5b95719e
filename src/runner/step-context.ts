/** Defines what the runner passes to a step, and what a step returns. */
import type { Awaited } from '../evaluator/step-evaluator.ts'
import type { Journal } from '../journal/journal.ts'
import type { StepFailure } from '../journal/run-failures.ts'
import type { Action, Verb } from '../scenario/action.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { RunEventOf, StepDetails } from '../scenario/run-events.ts'
import type { RunContext } from './run-context.ts'

export interface StepContext {
  readonly context: RunContext
  readonly step: PlannedStep
  /** Seq of the run event that the step has started. */
  readonly startSeq: number
  /** Aborts at the time limit of the scenario, or when the run ends. */
  readonly signal: AbortSignal
  /** Reports what the step waits for, and for at most how long. */
  waiting(what: Awaited, forMs: number): void
}

export interface ActionContext<V extends Verb> extends StepContext {
  readonly action: Extract<Action, { verb: V }>
}

/** Rejects with `StepError` when the step cannot be executed, and with `InterruptedError` when the signal aborts. */
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

/** The run event that a step has started, or ended; undefined before it. */
export const stepEvent = <Note extends 'step_started' | 'step_ended'>(
  journal: Journal,
  note: Note,
  step: number | undefined,
): RunEventOf<Note> | undefined =>
  journal.query({ kind: 'note' }).findLast(entry => entry.note === note && entry.step === step) as
    | RunEventOf<Note>
    | undefined
