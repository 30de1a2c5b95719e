/** Builds the certificate of a run: counts, expected failures, level, and exit code. */
import type { Capability } from './capabilities.ts'
import type { CheckOutcome, CheckResult, Profile } from './check.ts'
import { CHECK_OUTCOMES } from './check.ts'
import { type ExpectationResult, type ExpectedFailure, isExpected, meetExpectations } from './expected-failures.ts'

export const CERTIFICATE_LEVELS = ['basic', 'resilient', 'strict'] as const
export type CertificateLevel = (typeof CERTIFICATE_LEVELS)[number]

/** Why there is no level: the run stopped, checks or profiles were left out, or a check that basic needs is not passed. */
export type LevelObstacle = 'stopped' | 'partial' | 'profiles' | 'unmet'

export interface Certificate {
  /** Of the form of this object. */
  readonly v: 1
  /** Of handover-sim. */
  readonly version: string
  /** Of Node and of the operating system. */
  readonly machine: { readonly node: string; readonly os: string }
  readonly target: string
  readonly seed: number
  readonly rotates: boolean
  readonly limits: { readonly ackMs: number; readonly effectMs: number; readonly quietMs: number }
  /** Capabilities that the intermediary does not have. */
  readonly missing: readonly Capability[]
  readonly startedAt: string
  readonly durationMs: number
  readonly profiles: readonly Profile[]
  /** Whether warnings count as failures. */
  readonly strict: boolean
  /** Whether checks of these profiles were left out. */
  readonly isPartial: boolean
  readonly checks: readonly CheckResult[]
  readonly expectations: readonly ExpectationResult[]
  readonly counts: Readonly<Record<CheckOutcome, number>>
  /** The highest level that is reached; null for none. */
  readonly level: CertificateLevel | null
  /** Null when there is a level. */
  readonly levelObstacle: LevelObstacle | null
  /** Why the run ended early; null when it did not. */
  readonly stopped: string | null
  readonly exitCode: number
}

type Computed = 'v' | 'strict' | 'expectations' | 'counts' | 'level' | 'levelObstacle' | 'exitCode'
export type CertificateFacts = Omit<Certificate, Computed>

/** What changes the meaning of the results. */
export interface CertificateRules {
  readonly strict: boolean
  readonly expected: readonly ExpectedFailure[]
}

export function certificateOf(facts: CertificateFacts, { strict, expected }: CertificateRules): Certificate {
  const counts = Object.fromEntries(CHECK_OUTCOMES.map(outcome => [outcome, 0])) as Record<CheckOutcome, number>
  for (const { outcome } of facts.checks) counts[outcome]++
  const expectations = meetExpectations(expected, facts.checks, facts.startedAt)
  const exitCode = exitCodeOf(facts, expectations, strict)
  return { v: 1, ...facts, strict, expectations, counts, ...levelOf(facts), exitCode }
}

const isMet = ({ outcome }: CheckResult): boolean =>
  outcome === 'pass' || outcome === 'info' || outcome === 'not_applicable'

/** A warning of a MUST check is about a SHOULD. */
const isProven = (result: CheckResult): boolean =>
  isMet(result) || (result.check.level === 'MUST' && result.outcome === 'warn')

const without = (levelObstacle: LevelObstacle): Reached => ({ level: null, levelObstacle })
const reached = (level: CertificateLevel): Reached => ({ level, levelObstacle: null })
type Reached = Pick<Certificate, 'level' | 'levelObstacle'>

/**
 * basic: every MUST of the profiles webhook and flow is proven. resilient: also every check of the profile resilience
 * passes. strict: every check passes. What does not apply counts as passed; what is inconclusive or an expected failure
 * does not.
 */
function levelOf({ checks, profiles, isPartial, stopped }: CertificateFacts): Reached {
  if (stopped !== null) return without('stopped')
  if (isPartial) return without('partial')
  if (!profiles.includes('webhook') || !profiles.includes('flow')) return without('profiles')
  const of = (profile: Profile) => checks.filter(({ check }) => check.profile === profile)
  const musts = [...of('webhook'), ...of('flow')].filter(({ check }) => check.level === 'MUST')
  if (!musts.every(isProven)) return without('unmet')
  if (!profiles.includes('resilience') || !of('resilience').every(isMet)) return reached('basic')
  return reached(checks.every(isMet) ? 'strict' : 'resilient')
}

const isObserved = ({ outcome }: CheckResult): boolean => ['pass', 'info', 'warn', 'fail'].includes(outcome)

/**
 * 70: internal error. 1: a MUST failed, or a SHOULD with `--strict`, that was not expected to fail. 4: a MUST could not be
 * observed, nothing was, or the run stopped. 0: all else.
 */
function exitCodeOf(facts: CertificateFacts, expectations: readonly ExpectationResult[], strict: boolean): number {
  const { checks, stopped } = facts
  const counted = checks.filter(({ check }) => !isExpected(check.id, expectations))
  const has = (outcome: CheckOutcome) => counted.some(result => result.outcome === outcome)
  if (has('error')) return 70
  if (has('fail') || (strict && has('warn'))) return 1
  const open = checks.filter(({ outcome, check }) => outcome === 'inconclusive' && (strict || check.level === 'MUST'))
  return stopped !== null || open.length > 0 || !checks.some(isObserved) ? 4 : 0
}
