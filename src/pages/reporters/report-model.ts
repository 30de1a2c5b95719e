/** Describes a run or a certificate in one form, which JUnit, CTRF, TAP, GitHub's annotations and Markdown render. */
import { formatMs, visible } from '../../base/text/terminal-text.ts'
import type { RunResult, ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { Failure } from '../../evaluation/finding.ts'
import { placeText } from '../../evaluation/scenario/plan.ts'
import { ANSWER_CLASSES, type AnswerCounts } from '../../running/certifier/coverage.ts'
import {
  type CertificateReport,
  type CheckReport,
  isExpectedFailure,
  leadingCauses,
  shownLevel,
  stoppedText,
  worstFirst,
} from '../../running/certifier/report.ts'
import {
  causeOf,
  detailLines,
  headlineOf,
  OUTSIDE,
  outsideDetailLines,
  PLAIN_LAYOUT,
  recommendedOf,
  rerunText,
} from './failures.ts'
import { checkCause, checkDetails } from './findings.ts'
import { countsText, titleOf } from './pretty.ts'
import { certificateCounts, factLines } from './pretty-certificate.ts'
import { OUTCOME_STYLES } from './theme.ts'

/** A run, a certificate or a load. */
export interface Report {
  readonly command: 'handover-sim' | 'handover-sim certify' | 'handover-sim load'
  readonly noun: 'scenario' | 'check' | 'threshold'
  readonly startedAt: string
  readonly durationMs: number
  /** Why it ended early; null when it did not. */
  readonly stopped: string | null
  /** What it was made with. */
  readonly environment: Readonly<Record<string, string | number>>
  /** In the order of the run. */
  readonly items: readonly ReportItem[]
  /** Those that are not simply passed, worst first. */
  readonly notable: readonly ReportItem[]
  readonly heading: string
  /** Below the heading; empty when the heading says everything. */
  readonly summary: string
  /** Why items failed: causes that several have, or what a failed check shows. */
  readonly causes: readonly { readonly lead: string; readonly text: string }[]
  readonly tables: readonly ReportTable[]
  /** How it was made, for those who read the report elsewhere. */
  readonly facts: readonly string[]
}

/** A scenario, a check, or the failures that belong to no scenario. */
export interface ReportItem {
  /** The file of a scenario, the profile of a check. */
  readonly suite: string
  readonly className: string
  readonly name: string
  /** Complete by itself: `scenarios/happy.yaml > Happy path`. */
  readonly title: string
  /** `FAIL`. */
  readonly word: string
  /** Warnings and expected failures are skipped: they do not fail the run, and are not green. */
  readonly status: 'passed' | 'failure' | 'error' | 'skipped'
  /** The first failure or finding, or why there is none, in one line; empty when it passed. */
  readonly cause: string
  readonly skipReason?: string
  /** It failed, and the failure does not count. */
  readonly isTodo?: boolean
  /** The code of the first failure or finding. */
  readonly code: string
  /** Of a scenario in its file. */
  readonly place?: ItemPlace
  /** Of the step that failed. */
  readonly failedAt?: ItemPlace
  readonly startedAt: string
  readonly durationMs: number
  /** For JUnit and CTRF. */
  readonly properties: Readonly<Record<string, string | number>>
  /** For TAP. */
  readonly facts: Readonly<Record<string, string | number>>
  /** A column of a table: the duration of a scenario, the level of a check. */
  readonly column: string
  /** Lines of an annotation. */
  readonly annotation: readonly string[]
  readonly hasDetails: boolean
  details(): readonly string[]
}

interface ItemPlace {
  readonly file: string
  readonly line: number | null
  readonly column: number | null
}

export interface ReportTable {
  readonly title: string
  readonly parts: readonly { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] }[]
}

export function reportOfRun(run: RunResult): Report {
  const scenarios = run.scenarios.map(describeScenario)
  const outside = run.failures.length === 0 ? [] : [describeOutside(run)]
  const isBad = ({ status }: ReportItem) => status === 'failure' || status === 'error'
  const notable = scenarios.filter(({ status }) => status !== 'passed')
  return {
    command: 'handover-sim',
    noun: 'scenario',
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    stopped: run.stopped,
    environment: {
      target: run.target,
      ...(run.seed === null ? {} : { seed: run.seed }),
      version: run.version,
    },
    items: [...scenarios, ...outside],
    notable: [...outside, ...notable.filter(isBad), ...notable.filter(item => !isBad(item))],
    heading: `handover-sim: ${countsText(run)}`,
    summary: '',
    causes: run.causes.map(({ text, scenarios: sharing }) => ({
      lead: `One cause in ${sharing.length} scenarios`,
      text,
    })),
    tables: [],
    facts: [],
  }
}

const RUN_STATUSES = {
  pass: 'passed',
  fail: 'failure',
  error: 'error',
  inconclusive: 'skipped',
  skipped: 'skipped',
} as const

/** Scenarios without a verdict are skipped, with the reason, so that they never count as passed. */
function describeScenario(scenario: ScenarioResult): ReportItem {
  const { outcome, reason, failures, file, place, seed, clock, durationMs, rerunCommand } = scenario
  const [first] = failures
  const [recommended] = recommendedOf(scenario)
  const isWarning = outcome === 'pass' && recommended !== undefined
  const status = isWarning ? 'skipped' : RUN_STATUSES[outcome]
  const cause = isWarning ? headlineOf(recommended) : causeOf(scenario)
  const failedAt = first?.step?.place ?? place ?? { file, line: null, column: null }
  const isFailed = status === 'failure' || status === 'error'
  const annotation = [reason?.text ?? '']
  if (first !== undefined) {
    annotation.splice(0, 1, ...annotationOf(first))
    if (failures.length > 1) annotation.push(`and ${failures.length - 1} more`)
    annotation.push(rerunText(scenario))
  }
  const at =
    failedAt.line === null
      ? failedAt.file
      : placeText({ ...failedAt, column: failedAt.column ?? 1, line: failedAt.line })
  return {
    suite: visible(file),
    className: visible(file.replace(/\.(ya?ml|[jt]s|json)$/, '').replaceAll('/', '.')),
    name: visible(`${scenario.name}${scenario.instance > 1 ? ` #${scenario.instance}` : ''}`),
    title: titleOf(scenario),
    word: OUTCOME_STYLES[isWarning ? 'warn' : outcome].word,
    status,
    cause,
    skipReason: isWarning
      ? `warning: ${cause}`
      : `${outcome === 'inconclusive' ? 'inconclusive: ' : ''}${reason?.text ?? cause}`,
    isTodo: isWarning,
    code: first?.kind ?? outcome,
    place: place ?? { file, line: null, column: null },
    failedAt,
    startedAt: scenario.startedAt,
    durationMs,
    properties: { seed, clock, tags: scenario.tags.join(' '), spec: scenario.spec.join(' '), rerun: rerunCommand },
    facts: { ...(isFailed ? { at: visible(at) } : {}), duration_ms: Math.round(durationMs), seed },
    column: formatMs(durationMs),
    annotation,
    hasDetails: isFailed,
    details: () => detailLines(scenario, PLAIN_LAYOUT),
  }
}

function annotationOf(failure: Failure): string[] {
  return [headlineOf(failure), ...(failure.hint === undefined ? [] : [`hint: ${failure.hint}`])]
}

/** The failures that belong to no scenario. */
function describeOutside(run: RunResult): ReportItem {
  const [first] = run.failures
  return {
    suite: OUTSIDE,
    className: 'handover-sim',
    name: OUTSIDE,
    title: OUTSIDE,
    word: OUTCOME_STYLES.fail.word,
    status: 'failure',
    cause: first === undefined ? '' : headlineOf(first),
    code: first?.kind ?? 'fail',
    startedAt: run.startedAt,
    durationMs: 0,
    properties: {},
    facts: {},
    column: '',
    annotation: first === undefined ? [] : annotationOf(first),
    hasDetails: true,
    details: () => outsideDetailLines(run, PLAIN_LAYOUT),
  }
}

export function reportOfCertificate(certificate: CertificateReport): Report {
  const { level, target, seed, version, checks, profiles, startedAt, strict, coverage } = certificate
  const items = new Map(checks.map(check => [check, describeCheck(check, startedAt, strict)]))
  const inOrder = (list: readonly CheckReport[]) => list.flatMap(check => items.get(check) ?? [])
  const causes = leadingCauses(certificate).map(cause => ({
    lead: cause.check,
    text: `${cause.text} ${stoppedText(cause)}`.trimEnd(),
  }))
  const [first] = causes
  const answers = (head: string, rows: readonly AnswerCounts[]) => ({
    heads: [head, ...ANSWER_CLASSES],
    rows: rows.map(({ name, answers: counts }) => [name, ...ANSWER_CLASSES.map(one => String(counts[one]))]),
  })
  return {
    command: 'handover-sim certify',
    noun: 'check',
    startedAt,
    durationMs: certificate.durationMs,
    stopped: certificate.stopped,
    environment: { target, seed, version, ...(first && { cause: `${first.lead}: ${first.text}` }) },
    items: profiles.flatMap(profile => inOrder(checks.filter(check => check.profile === profile))),
    notable: inOrder(worstFirst(checks.filter(({ outcome }) => outcome !== 'pass'))),
    heading: `Handover certificate: ${level ?? 'no level'}`,
    summary: `${certificateCounts(certificate)}. ${certificate.levelText}`,
    causes,
    tables: [
      {
        title: `All ${checks.length} checks`,
        parts: [
          {
            heads: ['', 'Check', 'Level', 'Time'],
            rows: [...items].map(([check, { word, title }]) => [
              word,
              title,
              shownLevel(check),
              formatMs(check.durationMs),
            ]),
          },
        ],
      },
      {
        title: 'What was exercised',
        parts: [
          answers('Endpoint', coverage.endpoints),
          answers('Event', coverage.events),
          {
            heads: ['Signature of events that checks sent', 'Count'],
            rows: coverage.signatures.map(({ mode, events }) => [mode, String(events)]),
          },
          {
            heads: ['Fault', 'Count'],
            rows: coverage.faults.map(({ side, effect, hits }) => [`${side} ${effect}`, String(hits)]),
          },
        ],
      },
    ],
    facts: factLines(certificate),
  }
}

const CHECK_STATUSES = {
  pass: 'passed',
  info: 'passed',
  warn: 'skipped',
  fail: 'failure',
  error: 'error',
  not_applicable: 'skipped',
  blocked: 'skipped',
  inconclusive: 'skipped',
} as const

function describeCheck(check: CheckReport, startedAt: string, strict: boolean): ReportItem {
  const { outcome, level, profile, rules, findings, durationMs, rerunCommand, helpCommand, expectation } = check
  const [first] = findings
  const cause = checkCause(check)
  const isExpected = isExpectedFailure(check)
  const isWarning = outcome === 'warn' && !strict
  let skipReason = cause
  if (isExpected) skipReason = `expected to fail: ${expectation?.because} (${cause})`
  else if (isWarning) skipReason = `warning: ${cause}`
  else if (outcome === 'blocked' || outcome === 'inconclusive') skipReason = `${outcome}: ${cause}`
  return {
    suite: profile,
    className: `certify.${profile}`,
    name: visible(`${check.id} ${check.title}`),
    title: visible(`${check.id} ${check.title}`),
    word: OUTCOME_STYLES[outcome].word,
    status: isExpected ? 'skipped' : strict && outcome === 'warn' ? 'failure' : CHECK_STATUSES[outcome],
    cause: isExpected ? `${cause} (expected: ${expectation?.because})` : cause,
    skipReason,
    isTodo: isExpected || isWarning,
    code: first?.code ?? outcome,
    startedAt,
    durationMs,
    properties: { level, outcome, rules: rules.join(' '), rerun: rerunCommand },
    facts: { outcome, level, profile, duration_ms: Math.round(durationMs) },
    column: shownLevel(check),
    annotation: [
      cause,
      ...(first === undefined ? [] : [check.passes, `try: ${first.hint}`]),
      `help: ${helpCommand}`,
      `rerun: ${rerunCommand}`,
    ],
    hasDetails: findings.length > 0,
    details: () => checkDetails(check, PLAIN_LAYOUT),
  }
}
