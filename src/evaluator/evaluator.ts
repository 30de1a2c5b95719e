/**
 * Judges a play while it happens and after it: a reducer over the journal. The player shows it every entry and asks
 * whether the check it is at is decided; `check` shows it a saved journal. Both get the same verdict, because
 * nothing but the plan and the entries counts.
 */
import type { Entry } from '../journal/entry.ts'
import type { Plan } from '../scenario/plan.ts'
import type { Verdict } from './verdict.ts'

export type StepStatus =
  /** `captured`: what an `expect` reads from its calls, by name. */
  | { readonly state: 'met'; readonly captured?: Readonly<Record<string, unknown>> }
  | { readonly state: 'failed' }
  /** Not decided at that moment. Without another entry it will be decided at `untilMs` (on `at_ms`). */
  | { readonly state: 'open'; readonly untilMs: number; readonly waitingFor: string }

export interface Evaluator {
  /** Every entry, in the order of the journal. */
  see(entry: Entry): void
  /** How the check `step`, begun and not ended, stands at a moment on the clock of `at_ms`. */
  look(step: number, nowMs: number): StepStatus
  /** Whether a step begun and ended has failed (checks by their claims, stimuli by what came of them). */
  failed(step: number): boolean
  finish(): Verdict
}

export type CreateEvaluator = (plan: Plan) => Evaluator
