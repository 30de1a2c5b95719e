/** Defines what the evaluators of single expectations share, in a scenario and in a test: context, status, failure. */
import { PATTERN_LIMIT_MS, SlowPatternError } from '../../base/runtime/patterns.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { InternalErrorNote } from '../../platform/journal/journal.ts'
import { createFailure, type FailureDetails, type StepRef } from '../finding.ts'
import type { PlannedStep } from '../scenario/plan.ts'
import type { ClaimRegistry, InboxClaims, MatchContext, Moment } from './claims.ts'
import type { ConversationKey } from './journal-index.ts'
import type { Reason } from './verdict.ts'
import { type ActionName, type Awaited, evictedText, patternName, type Within } from './words.ts'

/** A step of a scenario, or an expectation of a test. */
export type EvaluatedStep = Pick<
  PlannedStep,
  'number' | 'id' | 'name' | 'label' | 'conversation' | 'place' | 'level' | 'soft'
>

/** Refers to a step, which is one of so many. */
export const stepRef = (
  { number, id, name, label, conversation, place }: Omit<StepRef, 'of'>,
  of: number,
): StepRef => ({ number, of, id, name, label, conversation, place })

/** What the evaluators of single steps read. */
export interface EvaluationContext extends MatchContext {
  readonly claims: ClaimRegistry
  readonly inboxClaims: InboxClaims
  readonly windows: StepWindows
  /** The oldest entry of the journal. */
  readonly firstSeq: number
  /** Fills in the values of `$(...)`. */
  fill<Value>(step: EvaluatedStep, template: Value): Filled<Value>
  /** The name of the chat of a failure where there are several, else null. */
  chatName(conversation: string | null): string | null
}

export interface Filled<Value> {
  /** The template itself, when one of its values is missing. */
  readonly value: Value
  /** Which value is missing; null when none is. */
  readonly problem: string | null
}

/** When steps begin and end, and which calls they look at. */
export interface StepWindows {
  getStart(step: EvaluatedStep): Pick<Entry, 'seq' | 'at_ms'>
  /** Null before the step has ended. `seq`: the entry of its end, which a test does not have. */
  findEnd(step: EvaluatedStep): { readonly seq?: number; readonly at_ms: number } | null
  /** When the calls and items that a step looks at begin: with the first action of its turn. */
  turnStart(step: EvaluatedStep): Moment
  /** When the next turn of the conversation begins; null when there is none. */
  nextTurnStart(step: EvaluatedStep): number | null
  /** Whether the journal has every call since the turn began. */
  isTurnComplete(step: EvaluatedStep): boolean
  /** Where the step or action with this id began. */
  since(id: string): Moment
  /** `withinMs`: the limit that the step itself has. */
  deadlineOf(step: EvaluatedStep, conversation: ConversationKey, withinMs: number | null): Deadline
  /** The last action before a step that its calls may answer. */
  findStimulus(step: EvaluatedStep): Stimulus | null
}

export interface Deadline extends Within {
  readonly atMs: number
}

/** An action of the user, or of a step. */
export interface Stimulus {
  readonly seq: number
  readonly name: ActionName
  readonly verb: string
  /** Whether it caused a webhook event; null while it is running. */
  readonly hasEvent: boolean | null
}

/** Evaluates one checking step from its start to its end. */
export interface StepEvaluator {
  readonly step: EvaluatedStep
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

export const MET: StepStatus = { state: 'met' }
export const FAILED: StepStatus = { state: 'failed' }

/** An absence cannot be shown, because entries were evicted. */
export const evictedFailure = (expected: string, firstSeq: number): FailureDetails =>
  createFailure('evicted', { code: 'evicted', expected, happened: evictedText(firstSeq), details: { firstSeq } })

export const internalFailure = ({ seq, where, message }: InternalErrorNote): FailureDetails =>
  createFailure('internal', {
    code: 'internal_error',
    expected: 'no internal error of handover-sim',
    happened: `#${seq} is an internal error of handover-sim (${where}): ${message}; it is no mistake of the intermediary, please report it with the journal`,
    details: { seq, where, message },
    entrySeqs: [seq],
  })

export interface StepResult {
  /** open: not decided yet. */
  readonly outcome: 'pass' | 'fail' | 'error' | 'inconclusive' | 'open'
  readonly failure?: FailureDetails
  /** Set when inconclusive. */
  readonly reason?: Reason
}

export const PASSED: StepResult = { outcome: 'pass' }

/** Stops the evaluation of a step whose pattern is too slow, so that each such step costs the time limit once. */
export class PatternGuard {
  /** By the number of the step; null for the whole scenario. */
  readonly slow = new Map<number | null, SlowPatternError>()

  /** Returns `otherwise` when the step has a pattern that is too slow. */
  run<Value>(step: number | null, otherwise: Value, work: () => Value): Value {
    if (this.slow.has(step)) return otherwise
    try {
      return work()
    } catch (error) {
      if (!(error instanceof SlowPatternError)) throw error
      this.slow.set(step, error)
      return otherwise
    }
  }

  /** The failure of a step with such a pattern; null without one. */
  failureOf(step: number | null): FailureDetails | null {
    const error = this.slow.get(step)
    if (error === undefined) return null
    const { pattern, length } = error
    const name = patternName(pattern)
    return createFailure('scenario', {
      code: 'slow_pattern',
      expected: `a pattern that is quick on any text: ${name}`,
      happened: `the pattern ${name} took longer than ${PATTERN_LIMIT_MS} ms on a text of ${length} characters; rewrite it without nested repetition`,
      details: { pattern, length, limitMs: PATTERN_LIMIT_MS },
    })
  }
}
