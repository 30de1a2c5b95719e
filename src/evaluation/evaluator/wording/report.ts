/** Renders the results of a run for reports: failures, warnings and outcomes become texts and keep their codes. */

import { findingText } from '../../linter/texts.ts'
import type { DifferenceNote } from '../difference-notes.ts'
import type { Failure, FailureHint, Happened, NearMiss, ObstacleCode } from '../failure.ts'
import type { Difference } from '../match.ts'
import type { Reason, RunResult, ScenarioResult, Verdict, Warning } from '../verdict.ts'
import { type CauseReport, describeCauses } from './causes.ts'
import { expectedText, noteText, obstaclesText, subjectText } from './expected.ts'
import { evictedText, happenedText, hintText } from './happened.ts'
import { type Audience, driverHas, renderCode, stepText, type TextsOf } from './parts.ts'

/** A failure as a report shows it. */
export interface FailureReport extends Omit<Failure, 'expected' | 'happened' | 'nearest' | 'hint'> {
  readonly code: Happened['code']
  /** What happened, in a line that is complete by itself. */
  readonly happened: string
  readonly expected: string
  readonly nearest: readonly NearMissReport[]
  readonly hint?: string
  readonly hintCode?: FailureHint['code']
  /** Equal for failures that differ only in entries, times, chats and texts. */
  readonly group: string
}

export interface NearMissReport {
  readonly seq: number
  /** `POST /api/v2/handover/message/`, `inbox item 3 "Hello"`. */
  readonly what: string
  readonly afterMs: number
  readonly codes: readonly ObstacleCode[]
  /** `2 fields differ`, `already claimed by step 3`. */
  readonly why: string
  readonly differences: readonly DifferenceReport[]
}

export interface DifferenceReport {
  readonly path: string
  readonly expected: string
  /** `absent` for nothing. */
  readonly received: string
  readonly code?: DifferenceNote['code']
  readonly hint?: string
}

/** A warning as a report shows it. */
export interface WarningReport {
  readonly rule: string
  readonly message: string
  readonly conversation: string | null
  readonly entrySeqs: readonly number[]
}

type Rendered = 'failures' | 'warnings' | 'reason'

/** The result of a scenario as a report shows it. */
export interface ScenarioReport extends Omit<ScenarioResult, Rendered>, VerdictReport {}

/** A verdict as a report shows it. */
export interface VerdictReport extends Omit<Verdict, Rendered> {
  /** Why the scenario is inconclusive, an error or skipped. */
  readonly reason: string | null
  readonly reasonCode: Reason['code'] | null
  readonly failures: readonly FailureReport[]
  readonly warnings: readonly WarningReport[]
}

/** A run as a report shows it. */
export interface RunReport extends Omit<RunResult, 'scenarios' | 'failures'> {
  readonly scenarios: readonly ScenarioReport[]
  readonly failures: readonly FailureReport[]
  readonly causes: readonly CauseReport[]
}

export const describeRun = (result: RunResult): RunReport => ({
  ...result,
  causes: describeCauses(result),
  scenarios: result.scenarios.map(describeScenario),
  failures: result.failures.map(failure => describeFailure(failure)),
})

export const describeScenario = (result: ScenarioResult): ScenarioReport => ({ ...result, ...describeVerdict(result) })

export const describeVerdict = (verdict: Verdict): VerdictReport => ({
  ...verdict,
  reason: verdict.reason === null ? null : reasonText(verdict.reason),
  reasonCode: verdict.reason?.code ?? null,
  failures: verdict.failures.map(failure => describeFailure(failure)),
  warnings: verdict.warnings.map(describeWarning),
})

export function describeFailure(failure: Failure, audience: Audience = 'scenario'): FailureReport {
  const { expected, happened, nearest, hint, ...rest } = failure
  return {
    ...rest,
    code: happened.code,
    group: groupOf(failure),
    happened: happenedText(happened, audience),
    expected: expectedText(expected, audience),
    nearest: nearest.map(miss => describeNearMiss(miss, audience)),
    ...(hint === undefined ? {} : { hint: hintText(hint, audience), hintCode: hint.code }),
  }
}

/** What varies when the same mistake is repeated: entries, times, chats and texts. Codes, calls, fields and statuses stay. */
const VARYING: ReadonlySet<string> = new Set([
  ...['seq', 'seqs', 'others', 'written', 'position'],
  ...['after', 'afterMs', 'gapMs', 'lateMs', 'byMs', 'ms', 'withinMs'],
  ...['step', 'chat', 'chatId', 'conversation'],
  ...['text', 'body', 'item', 'message', 'label', 'answer', 'expected', 'received'],
])

function groupOf({ kind, step, soft, expected, happened, hint }: Failure): string {
  const place = step === null ? null : [step.place, step.place === null && step.number]
  const group = [kind, place, soft, expected, happened, hint]
  return JSON.stringify(group, (key, value: unknown) => (VARYING.has(key) ? null : value))
}

const describeNearMiss = (miss: NearMiss, audience: Audience): NearMissReport => ({
  seq: miss.seq,
  what: subjectText(miss.subject),
  afterMs: miss.afterMs,
  codes: miss.obstacles.map(({ code }) => code),
  why: obstaclesText(miss, audience),
  differences: miss.differences.map(describeDifference),
})

const describeDifference = ({ path, expected, received, note }: Difference): DifferenceReport => ({
  path,
  expected,
  received: received ?? 'absent',
  ...(note === undefined ? {} : { hint: noteText(note), code: note.code }),
})

export function describeWarning(warning: Warning): WarningReport {
  const { rule, conversation, entrySeqs } = warning
  const message = 'failure' in warning ? happenedText(warning.failure.happened, 'scenario') : findingText(warning)
  return { rule, message, conversation, entrySeqs }
}

const REASONS: TextsOf<Reason> = {
  not_a_scenario: 'this is not the journal of a scenario',
  incomplete_journal: 'the journal stops before the end of the scenario',
  other_steps({ step, was, now }) {
    const change = now === null ? 'no longer exists' : `is now ${now}`
    return `the scenario has other steps than the run played: step ${step} was ${was} and ${change}; play it again`
  },
  environment: ({ failure }) => happenedText(failure.happened, 'scenario'),
  scenario: ({ failure }) => happenedText(failure.happened, 'scenario'),
  internal: ({ failure }) => happenedText(failure.happened, 'scenario'),
  check_evicted: ({ failure }) => happenedText(failure.happened, 'scenario'),
  evicted: ({ firstSeq }) => evictedText(firstSeq),
  verb_missing: ({ step, verb, verbs }) => `${stepText(step)} needs ${verb}, and ${driverHas(verbs)}`,
  need_missing: ({ scenario, verb, verbs }) => `${scenario} requires ${verb}, and ${driverHas(verbs)}`,
  step_not_played: ({ step }) => `${stepText(step)} was not played: play the scenario again`,
  env_unset: ({ name }) => `the environment variable ${name} is not set, and $(env.${name}) reads it`,
  run_stopped: 'not played, because the run had stopped',
  stopped: ({ failure }) => happenedText(failure.happened, 'scenario'),
  unreachable: ({ message }) => message,
  values_redacted: ({ evaluated }) =>
    `this is the outcome of the run; its journal has *** in place of secrets, which gives ${evaluated}: play it again to see why`,
} satisfies TextsOf<Reason>

export const reasonText = (reason: Reason): string => renderCode(REASONS, reason, 'scenario')
