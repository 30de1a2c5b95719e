/** Builds the certificate of a run: counts, level, and exit code. */
import type { CheckOutcome, CheckResult, Profile } from './check.ts'
import { CHECK_OUTCOMES } from './check.ts'

export const CERTIFICATE_LEVELS = ['basic', 'resilient', 'strict'] as const
export type CertificateLevel = (typeof CERTIFICATE_LEVELS)[number]

export interface Certificate {
  /** Of the form of this object. */
  readonly v: 1
  /** Of handover-sim. */
  readonly version: string
  readonly target: string
  readonly seed: number
  readonly rotates: boolean
  readonly startedAt: string
  readonly durationMs: number
  readonly profiles: readonly Profile[]
  readonly checks: readonly CheckResult[]
  readonly counts: Readonly<Record<CheckOutcome, number>>
  /** The highest level that is reached; null for none. */
  readonly level: CertificateLevel | null
  /** Why the run ended early; null when it did not. */
  readonly stopped: string | null
  readonly exitCode: number
}

export type CertificateFacts = Omit<Certificate, 'v' | 'counts' | 'level' | 'exitCode'>

export function certificateOf(facts: CertificateFacts, strict: boolean): Certificate {
  const counts = Object.fromEntries(CHECK_OUTCOMES.map(outcome => [outcome, 0])) as Record<CheckOutcome, number>
  for (const { outcome } of facts.checks) counts[outcome]++
  return { v: 1, ...facts, counts, level: levelOf(facts), exitCode: exitCodeOf(facts, counts, strict) }
}

const isMet = ({ outcome }: CheckResult): boolean =>
  outcome === 'pass' || outcome === 'info' || outcome === 'not_applicable'

/** A warning of a MUST check is about a SHOULD. */
const isProven = (result: CheckResult): boolean =>
  isMet(result) || (result.check.level !== 'INFO' && result.outcome === 'warn')

/**
 * basic: every MUST of the profiles webhook and flow is proven. resilient: also every check of the profile resilience
 * passes. strict: every check passes. What does not apply counts as passed; what is inconclusive does not.
 */
function levelOf({ checks, profiles, stopped }: CertificateFacts): CertificateLevel | null {
  if (stopped !== null || !profiles.includes('webhook') || !profiles.includes('flow')) return null
  const of = (profile: Profile) => checks.filter(({ check }) => check.profile === profile)
  const musts = [...of('webhook'), ...of('flow')].filter(({ check }) => check.level === 'MUST')
  if (!musts.every(isProven)) return null
  if (!profiles.includes('resilience') || !of('resilience').every(isMet)) return 'basic'
  return checks.every(isMet) ? 'strict' : 'resilient'
}

/** 70: internal error. 1: a MUST failed, or a SHOULD with `--strict`. 4: a MUST was not observed, or the run stopped. 0: all else. */
function exitCodeOf({ checks, stopped }: CertificateFacts, counts: Certificate['counts'], strict: boolean): number {
  if (counts.error > 0) return 70
  if (counts.fail > 0 || (strict && counts.warn > 0)) return 1
  const open = checks.filter(({ outcome, check }) => outcome === 'inconclusive' && (strict || check.level === 'MUST'))
  const isObserved = checks.some(result => isMet(result) && result.outcome !== 'not_applicable')
  return stopped !== null || open.length > 0 || !isObserved ? 4 : 0
}
