/** Renders a certificate for reports: reasons and levels become texts and keep their codes. */

import { counted } from '../../base/text/quantities.ts'
import { exitCodeText } from '../../evaluation/evaluator/outcomes.ts'
import type { Certificate, CertificateCause, CertificateLevel, LevelObstacle } from './certificate.ts'
import type { AvoidedCause, CheckDefinition, CheckOutcome, CheckResult, DecisiveKnob } from './check.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import type { ExpectationResult } from './expected-failures.ts'

/** Each level in one sentence. */
export const LEVEL_TEXTS: Readonly<Record<CertificateLevel, string>> = {
  basic: 'Every MUST of the profiles webhook and flow holds.',
  resilient: 'Every MUST of the profiles webhook and flow holds, and every check of the profile resilience passes.',
  strict: 'Every check of the three profiles passes.',
}

const OBSTACLES: Readonly<Record<LevelObstacle, string>> = {
  stopped: 'The run ended early.',
  partial: 'Checks were left out with --only or --skip.',
  profiles: 'A level needs the profiles webhook and flow; flow needs an agent driver.',
  unmet: 'A check that the level basic needs failed, is blocked, or could not be observed.',
}

/** The exit codes that mean something else than those of a run. */
const EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'no MUST is broken',
  1: 'a MUST is broken',
  4: 'incomplete: a MUST is blocked or could not be observed, nothing was checked, or the run ended early',
  70: 'internal error of handover-sim: please report it with the json report',
}

type ShownDefinition = Pick<
  CheckDefinition,
  'id' | 'level' | 'profile' | 'rules' | 'title' | 'sends' | 'observes' | 'passes'
>

/** A check and its result as a report shows them: plain data, whose texts may contain anything. */
export interface CheckReport extends ShownDefinition, Omit<CheckResult, 'check' | 'reason'> {
  /** Why it could not be observed, or does not apply. */
  readonly reason: string | null
  readonly reasonCode: string | null
  /** The check that shows why this one could not judge; null for none. */
  readonly blockedBy: string | null
  /** Whether it was expected to fail; null when not. */
  readonly expectation: Omit<ExpectationResult, 'check'> | null
  /** Which unspecified behaviours decide that it fails; null for none. */
  readonly decisiveText: string | null
  /** With which behaviours it was repeated, and why; null when its first run could judge. */
  readonly avoidedText: string | null
  /** Prints the help page. */
  readonly helpCommand: string
  readonly rerunCommand: string
}

/** The level of what happened: a check of the level SHOULD fails when a MUST on its way is not met, and one of the level MUST warns of a SHOULD. */
export const shownLevel = ({ outcome, level }: Pick<CheckReport, 'outcome' | 'level'>) =>
  outcome === 'fail' ? 'MUST' : outcome === 'warn' ? 'SHOULD' : level

/** A certificate as a report shows it. */
export interface CertificateReport extends Omit<Certificate, 'checks'> {
  readonly checks: readonly CheckReport[]
  readonly coverage: Coverage
  /** What the level means, or why there is none. */
  readonly levelText: string
  readonly exitText: string
}

/** `rerun`: the command that runs one check again. */
export function describeCertificate(certificate: Certificate, rerun: (id: string) => string): CertificateReport {
  const { checks, expectations, level, levelObstacle } = certificate
  return {
    ...certificate,
    checks: checks.map(result => describeCheck(result, expectations, rerun)),
    coverage: coverageOf(checks.map(({ journal }) => journal)),
    levelText: level === null ? OBSTACLES[levelObstacle ?? 'unmet'] : LEVEL_TEXTS[level],
    exitText: exitTextOf(certificate),
  }
}

/** The report with the exit code of a command that could not write all reports, or was interrupted. */
export const withExitCode = (report: CertificateReport, exitCode: number): CertificateReport =>
  exitCode === report.exitCode ? report : { ...report, exitCode, exitText: exitTextOf({ ...report, exitCode }) }

function exitTextOf({ exitCode, counts }: Pick<Certificate, 'exitCode' | 'counts'>): string {
  if (exitCode === 1 && counts.fail === 0) return 'a MUST or a SHOULD is broken, and --strict counts both'
  return EXIT_CODES[exitCode] ?? exitCodeText(exitCode) ?? ''
}

/** For progress. */
export const describeResult = (result: CheckResult) => describeCheck(result, [], () => '')

function describeCheck(
  { check, reason, ...result }: CheckResult,
  expectations: readonly ExpectationResult[],
  rerun: (id: string) => string,
): CheckReport {
  const { id, level, profile, rules, title, sends, observes, passes } = check
  const expectation = expectations.find(({ check }) => check === id) ?? null
  return {
    ...{ id, level, profile, rules, title, sends, observes, passes },
    ...result,
    reason: reason?.text ?? null,
    reasonCode: reason?.code ?? null,
    blockedBy: reason?.by ?? null,
    decisiveText: decisiveText(result.decisive),
    avoidedText: avoidedText(result.avoided),
    expectation: expectation && {
      because: expectation.because,
      until: expectation.until,
      status: expectation.status,
    },
    helpCommand: `npx handover-sim certify --explain ${id}`,
    rerunCommand: rerun(id),
  }
}

/** Says which unspecified behaviours decide that a check fails; null for none. */
function decisiveText(knobs: readonly DecisiveKnob[]): string | null {
  if (knobs.length === 0) return null
  const initial: string[] = []
  const changed: string[] = []
  for (const change of knobs) {
    initial.push(`${change.knob}=${String(change.initial)}`)
    changed.push(`${change.knob}=${String(change.value)}`)
  }
  return `The check passes when the platform behaves as the simulator does by default (${initial.join(', ')}). It fails with ${changed.join(', ')}, which the platform's description does not exclude.`
}

function avoidedText(avoided: AvoidedCause | null): string | null {
  if (avoided === null) return null
  const knobs = Object.entries(avoided.knobs).map(([name, value]) => `${name}=${String(value)}`)
  return `What ${avoided.check} shows stopped the check, so it was repeated with ${knobs.join(', ')}.`
}

/** The causes that a reader looks at first: those that stopped other checks, or the first. */
export function leadingCauses({ causes }: Pick<Certificate, 'causes'>): readonly CertificateCause[] {
  const stopping = causes.filter(({ blocked, repeated }) => blocked.length + repeated.length > 0)
  return stopping.length > 0 ? stopping : causes.slice(0, 1)
}

export const blockedText = (by: string): string =>
  `${by} shows the cause, which ended these checks before they could judge.`

/** Says which checks the cause stopped; empty for none. */
export function stoppedText({ blocked, repeated }: CertificateCause): string {
  const are = (checks: readonly string[], verb: string) => `${checks.length === 1 ? 'is' : 'are'} ${verb}`
  if (repeated.length === 0)
    return blocked.length === 0 ? '' : `${counted(blocked.length, 'check')} ${are(blocked, 'blocked by it')}.`
  const stopped = `It also stopped ${counted(repeated.length + blocked.length, 'other check')}`
  if (blocked.length === 0) return `${stopped}, which ${repeated.length === 1 ? 'was' : 'were'} repeated without it.`
  return `${stopped}: ${repeated.length} judged when repeated without it, ${blocked.length} ${are(blocked, 'blocked')}.`
}

/** The order of outcomes in reports. */
export const WORST_FIRST: readonly CheckOutcome[] = [
  'error',
  'fail',
  'warn',
  'blocked',
  'inconclusive',
  'info',
  'not_applicable',
  'pass',
]

export const isExpectedFailure = ({ expectation }: CheckReport): boolean => expectation?.status === 'failed'

/** Expected failures come after all others of their outcome. */
export function worstFirst(checks: readonly CheckReport[]): CheckReport[] {
  const rank = (check: CheckReport) => 2 * WORST_FIRST.indexOf(check.outcome) + (isExpectedFailure(check) ? 1 : 0)
  return checks.toSorted((a, b) => rank(a) - rank(b))
}

const FIGURE = /^(.*?)(?:_(p\d+))?(?:_(ms))?$/

/** `ack 20 chats: p50 255 ms, p95 368 ms`: a line for each group of figures that were measured. */
export function measurementLines({ measurements }: Pick<CheckReport, 'measurements'>): string[] {
  const groups = new Map<string, string[]>()
  for (const [name, value] of Object.entries(measurements)) {
    const [, words = name, percentile = '', unit = ''] = FIGURE.exec(name) ?? []
    const figure = `${percentile} ${Number(value.toFixed(1))} ${unit}`.trim()
    const group = words.replaceAll('_', ' ')
    groups.set(group, [...(groups.get(group) ?? []), figure])
  }
  return [...groups].map(([group, figures]) => `${group}: ${figures.join(', ')}`)
}
