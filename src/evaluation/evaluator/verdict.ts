/** Defines verdicts and results of runs as data: the evaluator makes them, reports show them. */
import type { Entry } from '../../platform/journal/entry.ts'
import type { TargetOutput } from '../../platform/journal/run-failures.ts'
import type { Cause, Failure, Finding, StepRef } from '../finding.ts'
import type { Place } from '../scenario/plan.ts'

/** error: the environment or the simulator failed. inconclusive: something needed is missing. skipped: not run. */
export type Outcome = 'pass' | 'fail' | 'error' | 'inconclusive' | 'skipped'

/** Why a scenario has no verdict of pass or fail. */
export interface Reason {
  readonly code: string
  readonly text: string
  /** What scenarios with the same cause have in common. */
  readonly cause?: Cause | null
}

/**
 * A finding of the linter, or of a failure of what is only recommended (its code is `recommended`) or of what `strict`
 * reports as a warning. `--strict` makes each a failure.
 */
export interface Warning extends Finding {
  /** What would have failed where it is required. */
  readonly failure?: Failure
}

export interface StepVerdict extends StepRef {
  /** warn: a recommended step failed. */
  readonly outcome: 'pass' | 'warn' | 'fail' | 'error' | 'inconclusive' | 'not reached'
  /** Milliseconds on the wall; null when it was not reached. */
  readonly startMs: number | null
  readonly endMs: number | null
  /** Seqs of the calls it claimed. */
  readonly claimed: readonly number[]
}

/** The verdict on one run of a scenario: a pure function of plan and journal. */
export interface Verdict {
  readonly outcome: Outcome
  /** Set when inconclusive, error or skipped. */
  readonly reason: Reason | null
  readonly failures: readonly Failure[]
  readonly warnings: readonly Warning[]
  readonly steps: readonly StepVerdict[]
  readonly captures: Readonly<Record<string, unknown>>
  /** What the target printed last, of a scenario that did not pass. */
  readonly targetOutput?: TargetOutput
}

/** One run of one scenario, as reports see it. */
export interface ScenarioResult extends Verdict {
  readonly name: string
  readonly file: string
  readonly place: Place | null
  readonly tags: readonly string[]
  readonly spec: readonly string[]
  readonly seed: number
  readonly clock: 'real' | 'virtual'
  /** 1 unless repeated. */
  readonly instance: number
  /** ISO 8601, on the wall. */
  readonly startedAt: string
  readonly durationMs: number
  /** Masked. Oldest first, from the first entry of the scenario. */
  readonly journal: readonly Entry[]
  /** The id of the chat of each conversation, by name. */
  readonly conversations: Readonly<Record<string, string>>
  /** The outcome before `--strict`, when the journal has `***` in place of secrets. */
  readonly redacted?: Outcome
  /** The command that runs it again. */
  readonly rerunCommand: string
}

export interface SharedCause {
  readonly code: string
  readonly text: string
  /** That of the failures, where all have the same. */
  readonly hint?: string
  /** Indexes of the scenarios in the run. */
  readonly scenarios: readonly number[]
}

/** The exit code of an internal error of handover-sim, as `EX_SOFTWARE` of sysexits.h. */
export const INTERNAL_ERROR_CODE = 70

export interface RunResult {
  readonly version: string
  readonly startedAt: string
  readonly durationMs: number
  readonly target: string
  /** Null when the shards of the run had different seeds. */
  readonly seed: number | null
  readonly scenarios: readonly ScenarioResult[]
  /** Failures that belong to no scenario: calls for unknown chats, texts that leaked between scenarios. */
  readonly failures: readonly Failure[]
  /** Entries of no scenario. */
  readonly journal: readonly Entry[]
  /** Why it stopped early; null when it did not. */
  readonly stopped: string | null
  readonly counts: Readonly<Record<Outcome, number>>
  /** The causes that more than one scenario has, the most frequent first. */
  readonly causes: readonly SharedCause[]
  /** 0, 1, 3, 4, 70, 130 ... as documented. */
  readonly exitCode: number
}
