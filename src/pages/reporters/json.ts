/** Renders a run or a certificate as one line of JSON. docs/reference/reports.md describes the fields. */
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import { type Failure, findingText, type StepRef } from '../../evaluation/finding.ts'
import type { Place } from '../../evaluation/scenario/plan.ts'
import type { TargetOutput } from '../../platform/journal/run-failures.ts'
import { endedText } from '../../platform/wording/failures.ts'
import type { CertificateReport, CheckReport } from '../../running/certifier/report.ts'

/** Without journals. */
export function jsonReport(run: RunResult): string {
  const { version, target, seed, stopped, counts, causes } = run
  return line({
    v: 2,
    type: 'run',
    version,
    started_at: run.startedAt,
    duration_ms: Math.round(run.durationMs),
    target,
    seed,
    exit_code: run.exitCode,
    stopped,
    counts,
    failures: run.failures.map(failureBody),
    causes: causes.map(({ code, text, hint = null, scenarios }) => ({ code, text, hint, scenarios })),
    scenarios: run.scenarios.map(scenarioBody),
  })
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

function scenarioBody(scenario: ScenarioResult) {
  const { name, file, instance, tags, spec, outcome, reason, seed, clock, conversations, captures } = scenario
  return {
    name,
    ...placeBody(scenario.place),
    file,
    instance,
    tags,
    spec,
    outcome,
    reason: reason?.text ?? null,
    reason_code: reason?.code ?? null,
    seed,
    clock,
    started_at: scenario.startedAt,
    duration_ms: Math.round(scenario.durationMs),
    rerun: scenario.rerunCommand,
    conversations,
    captures,
    failures: scenario.failures.map(failureBody),
    warnings: scenario.warnings.map(warning => ({
      rule: warning.code,
      message: findingText(warning),
      conversation: warning.conversation,
      entry_seqs: warning.entrySeqs,
      failure: warning.failure === undefined ? null : failureBody(warning.failure),
    })),
    target_output: targetOutputBody(scenario.targetOutput),
    steps: scenario.steps.map(step => ({
      ...stepBody(step),
      outcome: step.outcome,
      start_ms: step.startMs === null ? null : Math.round(step.startMs),
      end_ms: step.endMs === null ? null : Math.round(step.endMs),
      claimed: step.claimed,
    })),
  }
}

const targetOutputBody = (output: TargetOutput | undefined) =>
  output === undefined
    ? null
    : { ended: output.ended === null ? null : endedText(output.ended), lines: output.lines, file: output.file }

const placeBody = (place: Place | null) => ({
  file: place?.file ?? null,
  line: place?.line ?? null,
  column: place?.column ?? null,
})

function failureBody(failure: Failure) {
  const { kind, code, happened, expected, hint = null, hintCode = null, conversation, soft, rules, step } = failure
  return {
    kind,
    code,
    happened,
    expected,
    hint,
    hint_code: hintCode,
    conversation,
    soft,
    rules,
    step: step === null ? null : stepBody(step),
    nearest: failure.nearest.map(({ seq, what, afterMs, codes, why, differences }) => ({
      seq,
      what,
      after_ms: Math.round(afterMs),
      why,
      codes,
      differences: differences.map(one => ({
        path: one.path,
        expected: one.expected,
        received: one.received,
        hint: one.hint ?? null,
        code: one.code ?? null,
      })),
    })),
    entry_seqs: failure.entrySeqs,
  }
}

const stepBody = ({ number, id, name, label, conversation, place }: StepRef) => ({
  number,
  id,
  name,
  label,
  conversation,
  ...placeBody(place),
})

/** With the entries that findings refer to. */
export function certificateJson(certificate: CertificateReport): string {
  const { version, machine, target, seed, rotates, tiers, limits, missing, profiles, strict, level, coverage } =
    certificate
  return line({
    v: 2,
    type: 'certificate',
    version,
    node: machine.node,
    os: machine.os,
    started_at: certificate.startedAt,
    duration_ms: Math.round(certificate.durationMs),
    target,
    seed,
    rotates,
    tiers,
    limits: { ack_ms: limits.ackMs, effect_ms: limits.effectMs, quiet_ms: limits.quietMs },
    missing,
    profiles,
    strict,
    partial: certificate.isPartial,
    level,
    level_obstacle: certificate.levelObstacle,
    level_text: certificate.levelText,
    exit_code: certificate.exitCode,
    stopped: certificate.stopped,
    counts: certificate.counts,
    causes: certificate.causes,
    expected_failures: certificate.expectations,
    coverage: {
      endpoints: coverage.endpoints.map(({ name, answers }) => ({ endpoint: name, ...answers })),
      events: coverage.events.map(({ name, answers }) => ({ event: name, ...answers })),
      signatures: coverage.signatures,
      faults: coverage.faults,
    },
    checks: certificate.checks.map(checkBody),
  })
}

function checkBody(check: CheckReport) {
  const { id, title, level, profile, rules, outcome, reason, findings, measurements, rotated, decisive, chats } = check
  const seqs = new Set(findings.flatMap(({ entrySeqs }) => entrySeqs))
  return {
    id,
    title,
    level,
    profile,
    rules,
    outcome,
    expected_failure: check.expectation,
    reason,
    reason_code: check.reasonCode,
    duration_ms: Math.round(check.durationMs),
    findings: findings.map(({ level: severity, code, happened, hint, details, entrySeqs }) => ({
      ...{ level: severity, code, happened, hint, details, entry_seqs: entrySeqs },
    })),
    measurements,
    rotated,
    decisive,
    decisive_text: check.decisiveText,
    blocked_by: check.blockedBy,
    avoided: check.avoided,
    avoided_text: check.avoidedText,
    chats,
    target_output: targetOutputBody(check.targetOutput),
    entries: check.journal.filter(({ seq }) => seqs.has(seq)),
    help: check.helpCommand,
    rerun: check.rerunCommand,
  }
}
