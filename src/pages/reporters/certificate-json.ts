/** Renders a certificate as one line of JSON, with the entries that findings refer to. docs/reports.md describes the fields. */

import type { Entry } from '../../platform/journal/entry.ts'
import type { AnswerCounts, Coverage } from '../../running/certifier/coverage.ts'
import type { CertificateReport, CheckReport, FindingReport } from '../../running/certifier/report.ts'

export const certificateJson = (certificate: CertificateReport): string => `${JSON.stringify(bodyOf(certificate))}\n`

const bodyOf = (certificate: CertificateReport) => ({
  v: certificate.v,
  type: 'certificate',
  version: certificate.version,
  node: certificate.machine.node,
  os: certificate.machine.os,
  started_at: certificate.startedAt,
  duration_ms: Math.round(certificate.durationMs),
  target: certificate.target,
  seed: certificate.seed,
  rotates: certificate.rotates,
  limits: limitsBody(certificate.limits),
  missing: certificate.missing,
  profiles: certificate.profiles,
  strict: certificate.strict,
  partial: certificate.isPartial,
  level: certificate.level,
  level_obstacle: certificate.levelObstacle,
  level_text: certificate.levelText,
  exit_code: certificate.exitCode,
  stopped: certificate.stopped,
  counts: certificate.counts,
  expected_failures: certificate.expectations,
  coverage: coverageBody(certificate.coverage),
  checks: certificate.checks.map(checkOf),
})

const limitsBody = ({ ackMs, effectMs, quietMs }: CertificateReport['limits']) => ({
  ack_ms: ackMs,
  within_ms: effectMs,
  observe_ms: quietMs,
})

const coverageBody = ({ endpoints, events, signatures, faults }: Coverage) => ({
  endpoints: endpoints.map(({ name, answers }: AnswerCounts) => ({ endpoint: name, ...answers })),
  events: events.map(({ name, answers }: AnswerCounts) => ({ event: name, ...answers })),
  signatures,
  faults,
})

const checkOf = (check: CheckReport) => ({
  id: check.id,
  title: check.title,
  level: check.level,
  profile: check.profile,
  rules: check.rules,
  outcome: check.outcome,
  expected_failure: check.expectation,
  reason: check.reason,
  reason_code: check.reasonCode,
  duration_ms: Math.round(check.durationMs),
  findings: check.findings.map(findingOf),
  measurements: check.measurements,
  rotated: check.rotated,
  decisive: check.decisive,
  decisive_text: check.decisiveText,
  chats: check.chats,
  entries: entriesOf(check),
  help: check.helpCommand,
  again: check.rerunCommand,
})

/** The journal entries that the findings refer to. */
function entriesOf({ journal, findings }: CheckReport): readonly Entry[] {
  const seqs = new Set(findings.flatMap(({ entrySeqs }) => entrySeqs))
  return journal.filter(({ seq }) => seqs.has(seq))
}

const findingOf = ({ entrySeqs, ...finding }: FindingReport) => ({ ...finding, entry_seqs: entrySeqs })
