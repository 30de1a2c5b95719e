/** Renders a certificate as one line of JSON, without journals. docs/certification.md describes the fields. */
import type { CertificateReport, CheckReport, FindingReport } from '../certifier/report.ts'

export const certificateJson = (certificate: CertificateReport): string => `${JSON.stringify(bodyOf(certificate))}\n`

const bodyOf = (certificate: CertificateReport) => ({
  v: certificate.v,
  type: 'certificate',
  version: certificate.version,
  started_at: certificate.startedAt,
  duration_ms: Math.round(certificate.durationMs),
  target: certificate.target,
  seed: certificate.seed,
  rotates: certificate.rotates,
  profiles: certificate.profiles,
  level: certificate.level,
  exit_code: certificate.exitCode,
  stopped: certificate.stopped,
  counts: certificate.counts,
  checks: certificate.checks.map(checkOf),
})

const checkOf = ({ check, ...result }: CheckReport) => ({
  id: check.id,
  title: check.texts.title,
  level: check.level,
  profile: check.profile,
  rules: check.rules,
  outcome: result.outcome,
  reason: result.reason,
  reason_code: result.reasonCode,
  duration_ms: Math.round(result.durationMs),
  findings: result.findings.map(findingOf),
  measurements: result.measurements,
  rotated: result.rotated,
  decisive: result.decisive,
  decisive_text: result.decisiveText,
  chats: result.chats,
})

const findingOf = ({ entrySeqs, ...finding }: FindingReport) => ({ ...finding, entry_seqs: entrySeqs })
