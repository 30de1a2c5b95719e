/** Defines a check of the certification: its data, its function, and its result. */

import type { KnobSettings } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import type { Capability } from './capabilities.ts'
import type { CheckContext } from './context.ts'
import type { CheckFinding, FindingLevel } from './findings/index.ts'
import type { CheckReason } from './reasons.ts'

export const PROFILES = ['webhook', 'flow', 'resilience'] as const
/** webhook: needs only the URL. flow: needs an agent driver. resilience: faults, load and restarts. */
export type Profile = (typeof PROFILES)[number]

/** Sentences for people; a table of texts by code. */
export interface CheckTexts {
  readonly title: string
  readonly sends: string
  readonly observes: string
  /** The pass rule. */
  readonly passes: string
}

export interface CheckDefinition {
  /** `SIG-01`. */
  readonly id: string
  /** The highest level of its findings. */
  readonly level: FindingLevel
  readonly profile: Profile
  /** Rules of docs/platform.md that it follows from; `PUB`: the platform's public documentation; `GP`: good practice. */
  readonly rules: readonly string[]
  readonly texts: CheckTexts
  /** Verbs of the agent driver without which nothing can be observed. */
  readonly needs?: readonly string[]
  /** Whether the intermediary must be a process that the agent driver can restart. */
  readonly restarts?: boolean
  /** The capability without which it does not apply. */
  readonly capability?: Capability
  /** Whether no other check may run at the same time. `last`: it also begins last, because it may leave the intermediary silent. */
  readonly exclusive?: boolean | 'last'
  /** Its own time limit, in milliseconds; default: the one of all checks. */
  readonly limitMs?: number
  /** Knobs that the check sets itself; they are not rotated. */
  readonly knobs?: KnobSettings
  /** Acts, observes, and reports findings. */
  run(context: CheckContext): Promise<void>
}

export const CHECK_OUTCOMES = ['pass', 'fail', 'warn', 'info', 'not_applicable', 'inconclusive', 'error'] as const
/** fail: a MUST finding. warn: a SHOULD finding. inconclusive: could not be observed. error: an internal error. */
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number]

/** An unspecified behaviour of the platform that decides the outcome: with its default the check passes. */
export interface DecisiveKnob {
  readonly knob: string
  readonly value: unknown
  readonly initial: unknown
}

export interface CheckResult {
  readonly check: CheckDefinition
  readonly outcome: CheckOutcome
  readonly findings: readonly CheckFinding[]
  /** Null unless the outcome is `not_applicable`, `inconclusive` or `error`. */
  readonly reason: CheckReason | null
  /** Named figures, such as milliseconds of acknowledgements. */
  readonly measurements: Readonly<Record<string, number>>
  /** Unspecified behaviours of the platform in this check that differ from their defaults. */
  readonly rotated: Readonly<Record<string, unknown>>
  readonly decisive: readonly DecisiveKnob[]
  readonly durationMs: number
  /** Without keys. */
  readonly journal: readonly Entry[]
  /** Chat ids by name. */
  readonly chats: Readonly<Record<string, string>>
}

const SEVERITY = { MUST: 'fail', SHOULD: 'warn', INFO: 'info' } as const

const NOT_APPLICABLE: ReadonlySet<CheckReason['code']> = new Set(['capability_missing', 'no_wire'])

/** The worst finding decides; without findings a reason makes the check inconclusive. */
export function outcomeOf(findings: readonly CheckFinding[], reason: CheckReason | null): CheckOutcome {
  const worst = (['MUST', 'SHOULD'] as const).find(level => findings.some(finding => finding.level === level))
  if (reason?.code === 'internal_error') return 'error'
  if (worst === 'MUST') return 'fail'
  if (reason !== null) return NOT_APPLICABLE.has(reason.code) ? 'not_applicable' : 'inconclusive'
  if (worst !== undefined) return SEVERITY[worst]
  return findings.length > 0 ? 'info' : 'pass'
}
