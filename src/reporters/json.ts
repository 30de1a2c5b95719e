/** A run as one line of JSON: everything the verdicts say, without the journals. Its fields are those of docs/reports.md. */

import type {
  Failure,
  NearMiss,
  RunResult,
  ScenarioResult,
  StepRef,
  StepVerdict,
  Warning,
} from '../evaluator/verdict.ts'
import { warningText } from '../evaluator/warning-text.ts'
import type { Place } from '../scenario/plan.ts'

export const jsonReport = (result: RunResult): string => `${JSON.stringify(runOf(result))}\n`

const runOf = (result: RunResult) => ({
  v: 1,
  type: 'run',
  version: result.version,
  started_at: result.startedAt,
  duration_ms: rounded(result.durationMs),
  target: result.target,
  seed: result.seed,
  exit_code: result.exitCode,
  stopped: result.stopped,
  counts: result.counts,
  failures: result.failures.map(failureOf),
  plays: result.scenarios.map(playOf),
})

const rounded = (ms: number) => Math.round(ms * 1000) / 1000

const playOf = (played: ScenarioResult) => ({
  name: played.name,
  ...placeOf(played.place),
  file: played.file,
  instance: played.instance,
  tags: played.tags,
  spec: played.spec,
  outcome: played.outcome,
  reason: played.reason,
  seed: played.seed,
  clock: played.clock,
  started_at: played.startedAt,
  duration_ms: rounded(played.durationMs),
  again: played.rerunCommand,
  chats: played.conversations,
  captures: played.captures,
  failures: played.failures.map(failureOf),
  warnings: played.warnings.map(warningOf),
  steps: played.steps.map(stepOf),
})

const placeOf = (place: Place | null) => ({
  file: place?.file ?? null,
  line: place?.line ?? null,
  column: place?.column ?? null,
})

const failureOf = (failure: Failure) => ({
  kind: failure.kind,
  happened: failure.happened,
  wanted: failure.wanted,
  hint: failure.hint ?? null,
  chat: failure.conversation,
  soft: failure.soft,
  rules: failure.rules,
  step: failure.step === null ? null : refOf(failure.step),
  nearest: failure.nearest.map(missOf),
  entries: failure.marks,
})

const missOf = ({ seq, what, afterMs, why, differences }: NearMiss) => ({
  seq,
  what,
  after_ms: rounded(afterMs),
  why,
  differences: differences.map(({ hint = null, ...rest }) => ({ ...rest, hint })),
})

const warningOf = (warning: Warning) => ({
  rule: warning.rule,
  message: warningText(warning),
  chat: warning.conversation,
  entries: warning.marks,
})

const refOf = ({ number, id, name, label, conversation, place }: StepRef) => ({
  number,
  id,
  name,
  label,
  chat: conversation,
  ...placeOf(place),
})

const stepOf = (step: StepVerdict) => ({
  ...refOf(step),
  outcome: step.outcome,
  start_ms: step.startMs === null ? null : rounded(step.startMs),
  end_ms: step.endMs === null ? null : rounded(step.endMs),
  claimed: step.claimed,
})
