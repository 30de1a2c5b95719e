/** Orders the checks of a certificate, and words their outcomes. */

import type { CheckOutcome } from '../../../running/certifier/check.ts'
import { type CertificateReport, type CheckReport, WORST_FIRST, worstFirst } from '../../../running/certifier/report.ts'
import type { MarkKind } from '../components/mark.tsx'
import type { BarPart } from '../report/result-parts.tsx'

/** As they end a count: `3 passed`. */
export const CHECK_OUTCOME_NAMES = {
  pass: 'passed',
  fail: 'failed',
  warn: 'with a warning',
  info: 'with information',
  not_applicable: 'not applicable',
  inconclusive: 'inconclusive',
  error: 'ended by an internal error',
}

/** Of each level in findings. */
export const FINDING_OUTCOMES = { MUST: 'fail', SHOULD: 'warn', INFO: 'info' } as const

export const markOf = (outcome: CheckOutcome): MarkKind => (outcome === 'not_applicable' ? 'skipped' : outcome)

/** One part for each outcome that occurs. */
export const outcomeParts = ({ counts }: Pick<CertificateReport, 'counts'>): BarPart[] =>
  WORST_FIRST.filter(outcome => counts[outcome] > 0).map(outcome => ({
    outcome,
    count: counts[outcome],
    text: CHECK_OUTCOME_NAMES[outcome],
  }))

/** Those with something to read: findings, or an internal error. */
export const notableChecks = (checks: readonly CheckReport[]): CheckReport[] =>
  worstFirst(checks).filter(({ findings, outcome }) => findings.length > 0 || outcome === 'error')

/** `SIG-03`: unique in a certificate, and never the id of another element. */
export const slugOf = ({ id }: Pick<CheckReport, 'id'>): string => id
