/** Renders a run as one line of JSON, without journals. docs/reports.md describes the fields. */
import type { StepRef } from '../../evaluation/evaluator/failure.ts'
import type { StepVerdict } from '../../evaluation/evaluator/verdict.ts'
import type {
  FailureReport,
  NearMissReport,
  RunReport,
  ScenarioReport,
  WarningReport,
} from '../../evaluation/evaluator/wording/report.ts'
import type { Place } from '../../evaluation/scenario/plan.ts'

export const jsonReport = (result: RunReport): string => `${JSON.stringify(runOf(result))}\n`

const runOf = (result: RunReport) => ({
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
  causes: result.causes.map(({ code, text, hint = null, scenarios }) => ({
    code,
    cause: text,
    hint,
    plays: scenarios,
  })),
  plays: result.scenarios.map(scenarioOf),
})

const rounded = (ms: number) => Math.round(ms)

const scenarioOf = (scenario: ScenarioReport) => ({
  name: scenario.name,
  ...placeOf(scenario.place),
  file: scenario.file,
  instance: scenario.instance,
  tags: scenario.tags,
  spec: scenario.spec,
  outcome: scenario.outcome,
  reason: scenario.reason,
  reason_code: scenario.reasonCode,
  seed: scenario.seed,
  clock: scenario.clock,
  started_at: scenario.startedAt,
  duration_ms: rounded(scenario.durationMs),
  again: scenario.rerunCommand,
  chats: scenario.conversations,
  captures: scenario.captures,
  failures: scenario.failures.map(failureOf),
  warnings: scenario.warnings.map(warningOf),
  steps: scenario.steps.map(stepOf),
})

const placeOf = (place: Place | null) => ({
  file: place?.file ?? null,
  line: place?.line ?? null,
  column: place?.column ?? null,
})

const failureOf = (failure: FailureReport) => ({
  kind: failure.kind,
  code: failure.code,
  happened: failure.happened,
  wanted: failure.expected,
  hint: failure.hint ?? null,
  hint_code: failure.hintCode ?? null,
  chat: failure.conversation,
  soft: failure.soft,
  rules: failure.rules,
  step: failure.step === null ? null : refOf(failure.step),
  nearest: failure.nearest.map(missOf),
  entries: failure.entrySeqs,
})

const missOf = ({ seq, what, afterMs, codes, why, differences }: NearMissReport) => ({
  seq,
  what,
  after_ms: rounded(afterMs),
  why,
  codes,
  differences: differences.map(({ path, expected, received, hint = null, code = null }) => ({
    path,
    expected,
    actual: received,
    hint,
    code,
  })),
})

const warningOf = (warning: WarningReport) => ({
  rule: warning.rule,
  message: warning.message,
  chat: warning.conversation,
  entries: warning.entrySeqs,
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
