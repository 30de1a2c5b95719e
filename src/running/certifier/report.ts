/** Renders a certificate for reports: findings, reasons and levels become texts and keep their codes. */
import { groupBy } from '../../base/objects.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { CERTIFICATE_LEVELS, type Certificate, type CertificateLevel, type LevelObstacle } from './certificate.ts'
import type { CheckOutcome, CheckResult, CheckTexts, DecisiveKnob, Profile } from './check.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import type { ExpectationResult } from './expected-failures.ts'
import { type CheckFinding, type FindingCode, type FindingLevel, findingTexts } from './findings/index.ts'
import { checkReasonText } from './reasons.ts'

/** Each level in one sentence. */
const LEVEL_TEXTS = {
  basic: 'Every MUST of the profiles webhook and flow holds.',
  resilient: 'Every MUST of the profiles webhook and flow holds, and every check of the profile resilience passes.',
  strict: 'Every check of the three profiles passes.',
}

export const levelTexts = (): readonly { readonly level: CertificateLevel; readonly meaning: string }[] =>
  CERTIFICATE_LEVELS.map(level => ({ level, meaning: LEVEL_TEXTS[level] }))

const OBSTACLES = {
  stopped: 'The run ended early.',
  partial: 'Checks were left out with --only or --skip.',
  profiles: 'A level needs the profiles webhook and flow; flow needs an agent driver.',
  unmet: 'A check that the level basic needs failed or could not be observed.',
} satisfies Record<LevelObstacle, string>

const EXIT_CODES = {
  0: 'no MUST is broken',
  1: 'a MUST is broken',
  strict: 'a MUST or a SHOULD is broken, and --strict counts both',
  3: 'the environment failed: target, agent driver, port or a report file',
  4: 'incomplete: a MUST could not be observed, nothing was checked, or the run ended early',
  70: 'internal error of handover-sim: please report it with the json report',
  129: 'interrupted: the terminal was closed (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'terminated (SIGTERM)',
}

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

/** A check and its result as a report shows them: plain data, whose texts may contain anything. */
export interface CheckReport extends Readonly<CheckTexts> {
  readonly id: string
  readonly level: FindingLevel
  readonly profile: Profile
  readonly rules: readonly string[]
  readonly outcome: CheckOutcome
  readonly findings: readonly FindingReport[]
  /** Why it could not be observed, or does not apply. */
  readonly reason: string | null
  readonly reasonCode: string | null
  /** Whether it was expected to fail; null when not. */
  readonly expectation: Omit<ExpectationResult, 'check'> | null
  readonly measurements: Readonly<Record<string, number>>
  readonly rotated: Readonly<Record<string, unknown>>
  readonly decisive: readonly DecisiveKnob[]
  /** Which unspecified behaviours decide that it fails; null for none. */
  readonly decisiveText: string | null
  readonly durationMs: number
  /** Chat ids by name. */
  readonly chats: Readonly<Record<string, string>>
  readonly journal: readonly Entry[]
  /** Prints the help page. */
  readonly helpCommand: string
  readonly rerunCommand: string
}

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
  if (exitCode === 1 && counts.fail === 0) return EXIT_CODES.strict
  const texts: Readonly<Record<string, string>> = EXIT_CODES
  return texts[exitCode] ?? ''
}

/** For progress. */
export const describeResult = (result: CheckResult) => describeCheck(result, [], () => '')

function describeCheck(
  { check, findings, reason, ...result }: CheckResult,
  expectations: readonly ExpectationResult[],
  rerun: (id: string) => string,
): CheckReport {
  const { id, level, profile, rules, texts } = check
  const { title, sends, observes, passes } = texts
  const expectation = expectations.find(one => one.check === id)
  return {
    ...{ id, level, profile, rules, title, sends, observes, passes },
    ...result,
    findings: findings.map(describeFinding),
    reason: reason === null ? null : checkReasonText(reason),
    reasonCode: reason?.code ?? null,
    decisiveText: decisiveText(result.decisive),
    expectation:
      expectation === undefined
        ? null
        : { because: expectation.because, until: expectation.until, status: expectation.status },
    helpCommand: `npx handover-sim certify --explain ${id}`,
    rerunCommand: rerun(id),
  }
}

const DECISIVE = {
  one: (changed: string, initial: string) =>
    `The check passes when the platform behaves as the simulator does by default (${initial}). It fails with ${changed}, which the platform's description does not exclude.`,
}

/** Says which unspecified behaviours decide that a check fails; null for none. */
function decisiveText(knobs: readonly DecisiveKnob[]): string | null {
  if (knobs.length === 0) return null
  const spelled = (of: (knob: DecisiveKnob) => unknown) => knobs.map(one => `${one.knob}=${String(of(one))}`).join(', ')
  return DECISIVE.one(
    spelled(({ value }) => value),
    spelled(({ initial }) => initial),
  )
}

const describeFinding = (finding: CheckFinding): FindingReport => ({
  level: finding.level,
  code: finding.code,
  ...findingTexts(finding),
  details: finding.details,
  entrySeqs: finding.entrySeqs,
})

/** The order of outcomes in reports. */
export const WORST_FIRST: readonly CheckOutcome[] = [
  'error',
  'fail',
  'warn',
  'inconclusive',
  'info',
  'not_applicable',
  'pass',
]

export const isExpectedFailure = ({ expectation }: CheckReport): boolean => expectation?.status === 'failed'

/** Expected failures come after all others of their outcome. */
export const worstFirst = (checks: readonly CheckReport[]): CheckReport[] =>
  WORST_FIRST.flatMap(outcome => {
    const own = checks.filter(check => check.outcome === outcome)
    return [...own.filter(check => !isExpectedFailure(check)), ...own.filter(isExpectedFailure)]
  })

const FIGURE = /^(.*?)(?:_(p\d+))?(?:_(ms))?$/

/** `ack 20 chats: p50 255 ms, p95 368 ms`: a line for each group of figures that were measured. */
export function measurementLines({ measurements }: Pick<CheckReport, 'measurements'>): string[] {
  const figures = Object.entries(measurements).map(([name, value]) => {
    const [, words = name, percentile = '', unit = ''] = FIGURE.exec(name) ?? []
    const text = [percentile, Number(value.toFixed(1)), unit].filter(part => part !== '').join(' ')
    return { words: words.replaceAll('_', ' '), text }
  })
  const groups = groupBy(figures, ({ words }) => words)
  return [...groups].map(([words, group]) => `${words}: ${group.map(({ text }) => text).join(', ')}`)
}
