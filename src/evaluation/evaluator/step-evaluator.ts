/** Defines what the evaluators of single steps have in common: their context, their status and their results. */
import type { InternalErrorNote } from '../../platform/journal/internal-errors.ts'
import { InterpolationError, type InterpolationScope, type Variables } from '../scenario/interpolation.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { Notation } from '../scenario/value-text.ts'
import type { ClaimRegistry } from './claims.ts'
import type { Expected, Failure, FailureKind, Happened, PatternRef, RequirementRef } from './failure.ts'
import type { JournalIndex } from './journal-index.ts'
import type { Difference } from './match.ts'
import type { MatchContext } from './near-misses.ts'
import type { PatternTester } from './pattern-tester.ts'
import type { Reason } from './verdict.ts'
import type { Windows } from './windows.ts'

/** Evaluates one checking step from its start to its end. */
export interface StepEvaluator {
  readonly step: PlannedStep
  /** Examines the journal again after an entry that may decide the step. */
  consider(): void
  status(nowMs: number): StepStatus
  /** Ends the step: calls and items it has claimed stay claimed. */
  close(): void
  /** Explains why the step has failed, with what came after its end included. */
  failure(): FailureDetails
}

export type StepStatus =
  /** `captured`: what an `expect` reads from its calls, by name. */
  | { readonly state: 'met'; readonly captured?: Readonly<Record<string, unknown>> }
  | { readonly state: 'failed' }
  /** Undecided at that moment. Without another entry it is decided at `untilMs` (on `at_ms`). */
  | { readonly state: 'open'; readonly untilMs: number; readonly awaited: Awaited }

/** What an undecided step waits for. */
export type Awaited =
  | { readonly code: 'calls'; readonly missing: readonly RequirementRef[] }
  | { readonly code: 'silence'; readonly forMs: number; readonly calls: readonly PatternRef[] }
  | { readonly code: 'inbox_item'; readonly item: Notation }
  | { readonly code: 'chat_state'; readonly difference: Difference | null }

export const MET: StepStatus = { state: 'met' }
export const FAILED: StepStatus = { state: 'failed' }

/** Open until a moment, and `after` from then on. */
export const openUntil = (nowMs: number, untilMs: number, after: StepStatus, awaited: Awaited): StepStatus =>
  nowMs >= untilMs ? after : { state: 'open', untilMs, awaited }

/** A failure that is not yet attributed to a step or a conversation. */
export type FailureDetails = Omit<Failure, 'step' | 'conversation' | 'soft'>

/** The details of a failure; without rules, near misses and entries unless `more` has them. */
export const failureDetails = (
  kind: FailureKind,
  expected: Expected,
  happened: Happened,
  more: Partial<FailureDetails> = {},
): FailureDetails => ({ kind, expected, happened, rules: [], nearest: [], entrySeqs: [], ...more })

/** An absence cannot be shown, because entries were evicted. */
export const evictedFailure = (expected: Expected, { firstSeq }: Pick<JournalIndex, 'firstSeq'>): FailureDetails =>
  failureDetails('evicted', expected, { code: 'evicted', firstSeq })

export const internalFailure = ({ seq, where, message }: InternalErrorNote): FailureDetails => {
  const happened = { code: 'internal_error', seq, where: String(where), message: String(message) } as const
  return failureDetails('internal', { code: 'no_internal_error' }, happened, { entrySeqs: [seq] })
}

/** Fills in the values of `$(...)`; the message when one has no value, else null. */
export function interpolationProblem(fill: () => void): string | null {
  try {
    fill()
    return null
  } catch (error) {
    if (error instanceof InterpolationError) return error.message
    throw error
  }
}

/** What every step evaluator reads. */
export interface EvaluationContext extends MatchContext {
  readonly claims: ClaimRegistry
  readonly windows: Windows
  readonly variables: Variables
  readonly patterns: PatternTester
  scopeOf(step: number): InterpolationScope
}

export interface StepResult {
  /** open: not decided yet. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'open'
  readonly failure?: FailureDetails
  /** Set when inconclusive. */
  readonly reason?: Reason
}

export const PASSED: StepResult = { outcome: 'pass' }
export const OPEN: StepResult = { outcome: 'open' }
