/** Defines a check of the certification: its data, its function, and its result. */

import type { Finding, Level } from '../../evaluation/finding.ts'
import type { KnobSettings } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { isInboxFailure, type TargetOutput } from '../../platform/journal/run-failures.ts'
import type { Capability } from './capabilities.ts'
import type { CheckContext } from './context.ts'
import type { CheckReason } from './reason.ts'

export const PROFILES = ['webhook', 'flow', 'resilience'] as const
/** webhook: needs only the URL. flow: needs an agent driver. resilience: faults, load and restarts. */
export type Profile = (typeof PROFILES)[number]

export interface CheckDefinition {
  /** `SIG-01`. */
  readonly id: string
  /** The highest level of its findings. */
  readonly level: Level
  readonly profile: Profile
  /** Rules of docs/reference/platform.md that it follows from; `PUB`: the platform's public documentation; `GP`: good practice. */
  readonly rules: readonly string[]
  readonly title: string
  readonly sends: string
  readonly observes: string
  /** The pass rule. */
  readonly passes: string
  /** Verbs of the agent driver without which nothing can be observed. */
  readonly needs?: readonly string[]
  /** Whether the intermediary must be a process that the agent driver can restart. */
  readonly restarts?: boolean
  /** The capability without which it does not apply. */
  readonly capability?: Capability
  /** Whether no other check may run at the same time. */
  readonly exclusive?: boolean
  /**
   * first: it begins before all others, whose requests and repetitions would change what it observes. last: it begins after
   * all others, because it may leave the intermediary silent.
   */
  readonly begins?: 'first' | 'last'
  /** Its own time limit, in milliseconds; default: the one of all checks. */
  readonly limitMs?: number
  /** Knobs that the check sets itself; they are not rotated. */
  readonly knobs?: KnobSettings
  /** Acts, observes, and reports findings. */
  run(context: CheckContext): Promise<void>
}

/**
 * fail: a MUST finding. warn: a SHOULD finding. blocked: the cause that another check shows ended it before it could judge.
 * inconclusive: could not be observed. error: an internal error.
 */
export type CheckOutcome = 'pass' | 'fail' | 'warn' | 'info' | 'not_applicable' | 'blocked' | 'inconclusive' | 'error'

/** An unspecified behaviour of the platform that decides the outcome: with its default the check passes. */
export interface DecisiveKnob {
  readonly knob: string
  readonly value: unknown
  readonly initial: unknown
}

/** Behaviours of the platform that a check was repeated with, so that the cause that another check shows does not stop it. */
export interface AvoidedCause {
  /** The id of the check that shows the cause. */
  readonly check: string
  readonly knobs: KnobSettings
}

export interface CheckResult {
  readonly check: CheckDefinition
  readonly outcome: CheckOutcome
  readonly findings: readonly Finding[]
  /** Null unless the outcome is `not_applicable`, `blocked`, `inconclusive` or `error`. */
  readonly reason: CheckReason | null
  /** Named figures, such as milliseconds of acknowledgements. */
  readonly measurements: Readonly<Record<string, number>>
  /** Unspecified behaviours of the platform in this check that differ from their defaults. */
  readonly rotated: Readonly<Record<string, unknown>>
  readonly decisive: readonly DecisiveKnob[]
  /** Null when its first run could judge. */
  readonly avoided: AvoidedCause | null
  readonly durationMs: number
  /** Without keys. */
  readonly journal: readonly Entry[]
  /** Chat ids by name. */
  readonly chats: Readonly<Record<string, string>>
  /** What the target printed last while it ran, of a check that did not pass. */
  readonly targetOutput?: TargetOutput
}

/** A check that has ended. */
export interface CheckRun {
  readonly result: CheckResult
  /** Adds the entries that came after the check had ended. */
  withLateEntries(result: CheckResult): CheckResult
}

/** What the agent sees cannot be read by any check, whatever the intermediary does. */
export const isDriverMistake = (reason: CheckReason | null): boolean =>
  reason?.code === 'inbox_failed' && isInboxFailure(reason.failure ?? null)

/** The worst finding decides; without findings a reason makes the check inconclusive. */
export function outcomeOf(findings: readonly Finding[], reason: CheckReason | null): CheckOutcome {
  const has = (level: Level) => findings.some(finding => finding.level === level)
  if (reason?.code === 'internal_error' || isDriverMistake(reason)) return 'error'
  if (reason?.code === 'blocked') return 'blocked'
  if (has('MUST')) return 'fail'
  if (reason?.code === 'capability_missing' || reason?.code === 'no_wire') return 'not_applicable'
  if (reason !== null) return 'inconclusive'
  if (has('SHOULD')) return 'warn'
  return findings.length > 0 ? 'info' : 'pass'
}
