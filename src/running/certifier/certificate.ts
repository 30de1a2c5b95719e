/** Builds the certificate of a run: counts, expected failures, level, and exit code. */
import type { Capability } from './capabilities.ts'
import { causeText } from './causes.ts'
import { type CheckOutcome, type CheckResult, isDriverMistake, type Profile } from './check.ts'
import { type ExpectationResult, type ExpectedFailure, isExpected, meetExpectations } from './expected-failures.ts'
import type { RotationTiers } from './rotation.ts'

export type CertificateLevel = 'basic' | 'resilient' | 'strict'

/** Why there is no level: the run stopped, checks or profiles were left out, or a check that basic needs is not passed. */
export type LevelObstacle = 'stopped' | 'partial' | 'profiles' | 'unmet'

/** Why checks failed or could not judge: what one failed check shows. */
export interface CertificateCause {
  readonly check: string
  /** A sentence. */
  readonly text: string
  /** The checks that could not judge because of it. */
  readonly blocked: readonly string[]
  /** The checks that it stopped at first, and that judged when they were repeated without it. */
  readonly repeated: readonly string[]
}

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
  /** What each behaviour rests on; one that is `seen` in recorded traffic is not varied. */
  readonly tiers: RotationTiers
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
  /** The one that stopped the most checks comes first. Expected failures that stopped none are left out. */
  readonly causes: readonly CertificateCause[]
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

type Computed = 'v' | 'strict' | 'causes' | 'expectations' | 'counts' | 'level' | 'levelObstacle' | 'exitCode'
export type CertificateFacts = Omit<Certificate, Computed>

/** What changes the meaning of the results. */
export interface CertificateRules {
  readonly strict: boolean
  readonly expected: readonly ExpectedFailure[]
}

export function certificateOf(facts: CertificateFacts, { strict, expected }: CertificateRules): Certificate {
  const counts = { pass: 0, fail: 0, warn: 0, info: 0, not_applicable: 0, blocked: 0, inconclusive: 0, error: 0 }
  for (const { outcome } of facts.checks) counts[outcome]++
  const expectations = meetExpectations(expected, facts.checks, facts.startedAt)
  const { level, obstacle } = levelOf(facts)
  const exitCode = exitCodeOf(facts, expectations, strict)
  const causes = causesOf(facts.checks, expectations)
  return { v: 1, ...facts, strict, causes, expectations, counts, level, levelObstacle: obstacle, exitCode }
}

function causesOf(checks: readonly CheckResult[], expectations: readonly ExpectationResult[]): CertificateCause[] {
  const causes: CertificateCause[] = []
  for (const result of checks) {
    const { id } = result.check
    const blocked: string[] = []
    const repeated: string[] = []
    for (const { check, reason, avoided } of checks)
      if (reason?.by === id) blocked.push(check.id)
      else if (avoided?.check === id) repeated.push(check.id)
    const isFailure = result.outcome === 'fail' && !isExpected(id, expectations)
    if (isFailure || blocked.length + repeated.length > 0)
      causes.push({ check: id, text: causeText(result), blocked, repeated })
  }
  const stopped = ({ blocked, repeated }: CertificateCause) => blocked.length + repeated.length
  return causes.toSorted((a, b) => stopped(b) - stopped(a))
}

/**
 * basic: every MUST of the profiles webhook and flow is proven. resilient: also every check of the profile resilience
 * passes. strict: every check passes. What does not apply counts as passed; what is blocked, inconclusive or an expected
 * failure does not.
 */
function levelOf({ checks, profiles, isPartial, stopped }: CertificateFacts): {
  readonly level: CertificateLevel | null
  readonly obstacle: LevelObstacle | null
} {
  if (stopped !== null) return { level: null, obstacle: 'stopped' }
  if (isPartial) return { level: null, obstacle: 'partial' }
  if (!profiles.includes('webhook') || !profiles.includes('flow')) return { level: null, obstacle: 'profiles' }
  let isResilient = profiles.includes('resilience')
  let isStrict = true
  for (const { check, outcome } of checks) {
    if (outcome === 'pass' || outcome === 'info' || outcome === 'not_applicable') continue
    isStrict = false
    if (check.profile === 'resilience') isResilient = false
    // A warning of a MUST check is about a SHOULD.
    else if (check.level === 'MUST' && outcome !== 'warn') return { level: null, obstacle: 'unmet' }
  }
  if (!isResilient) return { level: 'basic', obstacle: null }
  return { level: isStrict ? 'strict' : 'resilient', obstacle: null }
}

/**
 * 70: internal error. 1: a MUST failed, or a SHOULD with `--strict`, that was not expected to fail. 4: a MUST could not be
 * observed, nothing was, or the run stopped. 0: all else.
 */
function exitCodeOf(facts: CertificateFacts, expectations: readonly ExpectationResult[], strict: boolean): number {
  const counted = new Set<CheckOutcome>()
  let isIncomplete = facts.stopped !== null
  let isObserved = false
  for (const { check, outcome } of facts.checks) {
    if (!isExpected(check.id, expectations)) counted.add(outcome)
    if ((outcome === 'inconclusive' || outcome === 'blocked') && (strict || check.level === 'MUST')) isIncomplete = true
    if (outcome === 'pass' || outcome === 'info' || outcome === 'warn' || outcome === 'fail') isObserved = true
  }
  if (facts.checks.some(({ outcome, reason }) => outcome === 'error' && !isDriverMistake(reason))) return 70
  if (counted.has('fail') || (strict && counted.has('warn'))) return 1
  if (counted.has('error')) return 3
  return isIncomplete || !isObserved ? 4 : 0
}
