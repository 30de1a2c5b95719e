/** A run as one line of JSON: everything the verdicts say, without the journals. Its fields are those of docs/reports.md. */
import type { Place } from '../../scenario/plan.ts'
import type { Failure, LintFinding, NearMiss, Played, Ran, StepRef, StepVerdict } from '../../scenario/verdict.ts'

export const jsonReport = (ran: Ran): string => `${JSON.stringify(runOf(ran))}\n`

const runOf = (ran: Ran) => ({
  v: 1,
  type: 'run',
  version: ran.version,
  started_at: ran.startedAt,
  duration_ms: rounded(ran.durationMs),
  target: ran.target,
  seed: ran.seed,
  exit_code: ran.exitCode,
  stopped: ran.stopped,
  counts: ran.counts,
  failures: ran.failures.map(failureOf),
  plays: ran.plays.map(playOf),
})

const rounded = (ms: number) => Math.round(ms * 1000) / 1000

const playOf = (played: Played) => ({
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
  again: played.again,
  chats: played.lanes,
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
  chat: failure.lane,
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

const warningOf = ({ rule, message, lane, marks }: LintFinding) => ({ rule, message, chat: lane, entries: marks })

const refOf = ({ number, id, name, label, lane, place }: StepRef) => ({
  number,
  id,
  name,
  label,
  chat: lane,
  ...placeOf(place),
})

const stepOf = (step: StepVerdict) => ({
  ...refOf(step),
  outcome: step.outcome,
  start_ms: step.startMs === null ? null : rounded(step.startMs),
  end_ms: step.endMs === null ? null : rounded(step.endMs),
  claimed: step.claimed,
})
