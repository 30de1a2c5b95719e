/** What came of a scenario, as data: made by the judge, shown by the reports. */
import type { Entry } from '../journal/entry.ts'
import type { LintFinding } from '../linter/rule.ts'
import type { Place } from '../scenario/plan.ts'

/** error: the surroundings failed. inconclusive: something needed was not there. skipped: not played. */
export type Outcome = 'pass' | 'fail' | 'error' | 'inconclusive' | 'skipped'

/** One difference between what was wanted and a call. */
export interface Difference {
  /** `message`, `sender.name`, `attachments[0].name`; empty for the whole. */
  readonly path: string
  /** As written in a scenario: `"I'm Anna"`, `/\d+/`, `$type string`. */
  readonly expected: string
  /** `"I&#39;m Anna"`, `absent`. */
  readonly actual: string
  /** `only HTML escaping differs` and the like. */
  readonly hint?: string
}

/** A call (or inbox item, or observation) that was looked at and not taken. */
export interface NearMiss {
  readonly seq: number
  /** `POST /api/v2/handover/message/`, `inbox item 3 "Hello"`. */
  readonly what: string
  /** Seconds are for people: milliseconds after the moment the step looks from. */
  readonly afterMs: number
  /** `2 fields differ`, `chat_id belongs to chat "bo": cross-talk?`, `already claimed by step 3`, `0.7 s late`. */
  readonly why: string
  readonly differences: readonly Difference[]
}

export type FailureKind =
  | 'expect' // a call that did not come
  | 'none' // a call that came though it must not
  | 'sees' // the agent did not see it, or too often
  | 'check' // the chat is not as it should be
  | 'stimulus' // a stimulus that was not acknowledged, or could not be done
  | 'driver' // the agent's side refused
  | 'unexpected' // a call nobody claimed
  | 'contract' // a call the platform refuses
  | 'never' // an invariant of the whole run
  | 'times' // too many, or too close
  | 'echo' // a user's text came back as an agent message
  | 'leak' // a user's text came up in another chat
  | 'late' // a call after the scenario ended
  | 'lint' // a warning that `--strict` made a failure
  | 'stopped' // the run's bound, or an interruption
  | 'environment' // target or driver not there

export interface StepRef {
  readonly number: number
  readonly of: number
  readonly id: string | null
  readonly name: string | null
  readonly label: string
  readonly conversation: string
  readonly place: Place | null
}

export interface Failure {
  readonly kind: FailureKind
  readonly step: StepRef | null
  readonly conversation: string | null
  /** What was wanted, in one line: `expect message { message: "I'm Anna" } within 2s of #9`. */
  readonly wanted: string
  /** What happened instead, in one line a tired reader understands: `nearest: #11, message differs (only HTML escaping)`. */
  readonly happened: string
  /** Rule ids of docs/platform.md: `E6`. */
  readonly rules: readonly string[]
  /** Best first. */
  readonly nearest: readonly NearMiss[]
  /** Entries to mark in a timeline. */
  readonly marks: readonly number[]
  /** It did not stop its lane. */
  readonly soft: boolean
  /** What to try, when the sign is telling. */
  readonly hint?: string
}

/** A failure that is only a warning in this scenario, or a finding of the linter; `--strict` makes both failures. */
export type Warning = LintFinding | FailureWarning

export interface FailureWarning {
  readonly rule: string
  readonly failure: Failure
  readonly conversation: string | null
  readonly marks: readonly number[]
}

export type StepOutcome = 'pass' | 'fail' | 'error' | 'inconclusive' | 'not reached'

export interface StepVerdict extends StepRef {
  readonly outcome: StepOutcome
  /** Milliseconds on the wall; null when it was not reached. */
  readonly startMs: number | null
  readonly endMs: number | null
  /** Seqs of the calls it claimed. */
  readonly claimed: readonly number[]
}

/** What the judge says of one play: a pure function of plan and journal. */
export interface Verdict {
  readonly outcome: Outcome
  /** Why, when inconclusive, error or skipped. */
  readonly reason: string | null
  readonly failures: readonly Failure[]
  readonly warnings: readonly Warning[]
  readonly steps: readonly StepVerdict[]
  /** Captured values by name. */
  readonly captures: Readonly<Record<string, unknown>>
}

/** One play of one scenario, as reports see it. */
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
  /** Masked. Oldest first, from the play's first entry. */
  readonly journal: readonly Entry[]
  /** Lane name -> chat id. */
  readonly conversations: Readonly<Record<string, string>>
  /** The command that plays it again. */
  readonly rerunCommand: string
}

/** A whole run. */
export interface RunResult {
  readonly version: string
  readonly startedAt: string
  readonly durationMs: number
  readonly target: string
  /** Null when the shards of the run had different seeds. */
  readonly seed: number | null
  readonly scenarios: readonly ScenarioResult[]
  /** Failures that belong to no scenario: calls for chats nobody knows, texts that leaked between scenarios. */
  readonly failures: readonly Failure[]
  /** Entries of no scenario. */
  readonly journal: readonly Entry[]
  /** Why it stopped early; null when it did not. */
  readonly stopped: string | null
  readonly counts: Readonly<Record<Outcome, number>>
  /** 0, 1, 3, 4, 130 ... as documented. */
  readonly exitCode: number
}
