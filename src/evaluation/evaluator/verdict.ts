/** Defines verdicts and results of runs as data: the evaluator makes them, reports show them. */
import type { Entry } from '../../platform/journal/entry.ts'
import type { TargetOutput } from '../../platform/journal/run-failures.ts'
import type { LintFinding } from '../linter/lint.ts'
import type { Place } from '../scenario/plan.ts'
import type { Failure, StepName, StepRef } from './failure.ts'

/** error: the environment or the simulator failed. inconclusive: something needed is missing. skipped: not run. */
export type Outcome = 'pass' | 'fail' | 'error' | 'inconclusive' | 'skipped'

/** Why a scenario has no verdict of pass or fail. */
export type Reason =
  | { readonly code: 'not_a_scenario' }
  | { readonly code: 'incomplete_journal' }
  | { readonly code: 'other_steps'; readonly step: number; readonly was: string; readonly now: string | null }
  | { readonly code: 'environment'; readonly failure: Failure }
  | { readonly code: 'scenario'; readonly failure: Failure }
  | { readonly code: 'internal'; readonly failure: Failure }
  | { readonly code: 'check_evicted'; readonly failure: Failure }
  /** `firstSeq`: the oldest entry that is left. */
  | { readonly code: 'evicted'; readonly firstSeq: number }
  | {
      readonly code: 'verb_missing'
      readonly step: StepName
      readonly verb: string
      readonly verbs: readonly string[] | null
    }
  | {
      readonly code: 'need_missing'
      readonly scenario: string
      readonly verb: string
      readonly verbs: readonly string[] | null
    }
  | { readonly code: 'step_not_run'; readonly step: StepName }
  | { readonly code: 'env_unset'; readonly name: string }
  | { readonly code: 'run_stopped' }
  /** The run ended while the scenario ran. */
  | { readonly code: 'stopped'; readonly failure: Failure }
  | { readonly code: 'unreachable'; readonly message: string }
  | { readonly code: 'values_redacted'; readonly evaluated: Outcome }

/** A failure of what is only recommended, or of what `strict` reports as a warning, or a finding of the linter; `--strict` makes both failures. */
export type Warning = LintFinding | FailureWarning

export interface FailureWarning {
  /** `recommended`: of a step that has level should. */
  readonly rule: string
  readonly failure: Failure
  readonly conversation: string | null
  readonly entrySeqs: readonly number[]
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
  /** Captured values by name. */
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

/** The exit code of an internal error of handover-sim, as `EX_SOFTWARE` of sysexits.h. */
export const INTERNAL_ERROR_CODE = 70

/** A whole run. */
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
  /** 0, 1, 3, 4, 70, 130 ... as documented. */
  readonly exitCode: number
}
