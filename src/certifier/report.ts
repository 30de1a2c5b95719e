/** Renders a certificate for reports: findings and reasons become texts and keep their codes. */
import type { Certificate } from './certificate.ts'
import type { CheckResult } from './check.ts'
import { type CheckFinding, type FindingCode, type FindingLevel, findingTexts } from './findings/index.ts'
import { checkReasonText, decisiveText } from './reasons.ts'

/** A finding as a report shows it. */
export interface FindingReport {
  readonly level: FindingLevel
  readonly code: FindingCode
  /** What happened, in sentences that are complete by themselves. */
  readonly happened: string
  readonly expected: string
  /** The next thing to try. */
  readonly next: string
  readonly details: unknown
  readonly entrySeqs: readonly number[]
}

/** The result of a check as a report shows it. */
export interface CheckReport extends Omit<CheckResult, 'findings' | 'reason'> {
  readonly findings: readonly FindingReport[]
  /** Why it could not be observed, or does not apply. */
  readonly reason: string | null
  readonly reasonCode: string | null
  /** Which unspecified behaviours decide that it fails; null for none. */
  readonly decisiveText: string | null
}

/** A certificate as a report shows it. */
export interface CertificateReport extends Omit<Certificate, 'checks'> {
  readonly checks: readonly CheckReport[]
}

export const describeCertificate = (certificate: Certificate): CertificateReport => ({
  ...certificate,
  checks: certificate.checks.map(describeCheck),
})

const describeCheck = (result: CheckResult): CheckReport => ({
  ...result,
  findings: result.findings.map(describeFinding),
  reason: result.reason === null ? null : checkReasonText(result.reason),
  reasonCode: result.reason?.code ?? null,
  decisiveText: decisiveText(result.decisive),
})

const describeFinding = (finding: CheckFinding): FindingReport => ({
  level: finding.level,
  code: finding.code,
  ...findingTexts(finding),
  details: finding.details,
  entrySeqs: finding.entrySeqs,
})
