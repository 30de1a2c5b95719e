/** Renders a certificate for CI servers: as JUnit XML, with a suite per profile and a case per check, and as TAP 14. */

import { visible } from '../../base/text/terminal-text.ts'
import type { CheckOutcome, Profile } from '../../running/certifier/check.ts'
import { type CertificateReport, type CheckReport, isExpectedFailure } from '../../running/certifier/report.ts'
import { checkCause, checkDetails, checkTitle } from './certificate-lines.ts'
import { PLAIN_LAYOUT } from './failures.ts'
import { element, junitSeconds, junitTimestamp, xmlText } from './junit.ts'
import { blockOf, description } from './tap.ts'

const TEXTS = {
  warning: (cause: string) => `warning: ${cause}`,
  expected: (because: string, cause: string) => `expected to fail: ${because} (${cause})`,
  unobserved: (reason: string) => `inconclusive: ${reason}`,
  skip: (why: string) => ` # SKIP ${why}`,
  todo: (why: string) => ` # TODO ${why}`,
}

export function certificateJunit(certificate: CertificateReport): string {
  const { checks, profiles, durationMs, startedAt, strict } = certificate
  const suites = profiles.flatMap(profile => {
    const own = checks.filter(check => check.profile === profile)
    return own.length === 0 ? [] : [suiteOf(profile, own, certificate)]
  })
  const attributes = {
    name: 'handover-sim certify',
    ...totals(checks, strict),
    time: junitSeconds(durationMs),
    timestamp: junitTimestamp(startedAt),
  }
  const root = element('testsuites', attributes, [...suites.map(suite => `\n${suite}`), '\n'])
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`
}

function totals(checks: readonly CheckReport[], strict: boolean) {
  const count = (kind: Kind) => checks.filter(check => kindOf(check, strict) === kind).length
  return { tests: checks.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') }
}

type Kind = 'passed' | 'failure' | 'error' | 'skipped'

const KINDS: Readonly<Record<CheckOutcome, Kind>> = {
  pass: 'passed',
  info: 'passed',
  warn: 'skipped',
  fail: 'failure',
  error: 'error',
  not_applicable: 'skipped',
  inconclusive: 'skipped',
}

/** A warning and an expected failure are skipped, with the cause: they do not fail the run, and are not green. */
function kindOf(check: CheckReport, strict: boolean): Kind {
  if (isExpectedFailure(check)) return 'skipped'
  return strict && check.outcome === 'warn' ? 'failure' : KINDS[check.outcome]
}

function suiteOf(
  profile: Profile,
  checks: readonly CheckReport[],
  { startedAt, seed, target, version, strict }: CertificateReport,
) {
  const time = junitSeconds(checks.reduce((sum, { durationMs }) => sum + durationMs, 0))
  const values = { target: visible(target), seed, version }
  const properties = Object.entries(values).map(([name, value]) => element('property', { name, value }))
  const attributes = { name: profile, ...totals(checks, strict), time, timestamp: junitTimestamp(startedAt) }
  const cases = checks.map(check => `\n${caseOf(check, strict)}`)
  return element('testsuite', attributes, [`\n${element('properties', {}, properties)}`, ...cases, '\n'])
}

function caseOf(check: CheckReport, strict: boolean): string {
  const { level, rules, rerunCommand, outcome, profile, durationMs } = check
  const values = { level, outcome, rules: rules.join(' '), again: visible(rerunCommand) }
  const properties = Object.entries(values).map(([name, value]) => element('property', { name, value }))
  const attributes = {
    name: visible(checkTitle(check)),
    classname: `certify.${profile}`,
    time: junitSeconds(durationMs),
  }
  return element('testcase', attributes, [element('properties', {}, properties), ...resultOf(check, strict)])
}

function resultOf(check: CheckReport, strict: boolean): string[] {
  const kind = kindOf(check, strict)
  if (kind === 'passed') return []
  if (kind === 'skipped') return [element('skipped', { message: visible(skippedText(check)) })]
  const type = check.findings[0]?.code ?? check.outcome
  const text = xmlText(`\n${checkDetails(check, PLAIN_LAYOUT).join('\n')}\n`)
  return [element(kind, { message: visible(checkCause(check)), type }, [text])]
}

function skippedText(check: CheckReport): string {
  const cause = checkCause(check)
  if (isExpectedFailure(check)) return TEXTS.expected(check.expectation?.because ?? '', cause)
  if (check.outcome === 'warn') return TEXTS.warning(cause)
  return check.outcome === 'inconclusive' ? TEXTS.unobserved(cause) : cause
}

/** A test point per check, with a YAML block of details. */
export function certificateTap({ checks, stopped, strict }: CertificateReport): string {
  const points = checks.flatMap((check, index) => [
    `${isOk(check) ? 'ok' : 'not ok'} ${index + 1} - ${`${description(checkTitle(check))}${directiveOf(check, strict)}`.trimEnd()}`,
    ...blockOf(tapFacts(check)),
  ])
  const end = stopped === null ? [] : [`Bail out! ${visible(stopped)}`]
  return `${['TAP version 14', `1..${checks.length}`, ...points, ...end].join('\n')}\n`
}

const isOk = ({ outcome }: CheckReport): boolean => !['fail', 'warn', 'error'].includes(outcome)

/** TODO: it fails, and does not fail the run. SKIP: it does not apply, or could not be observed. */
function directiveOf(check: CheckReport, strict: boolean): string {
  const why = description(checkCause(check))
  if (isExpectedFailure(check)) return TEXTS.todo(description(check.expectation?.because ?? ''))
  if (check.outcome === 'warn' && !strict) return TEXTS.todo(TEXTS.warning(why))
  if (check.outcome === 'inconclusive') return TEXTS.skip(TEXTS.unobserved(why))
  return check.outcome === 'not_applicable' ? TEXTS.skip(why) : ''
}

function tapFacts(check: CheckReport) {
  const { outcome, level, profile, durationMs } = check
  const facts = { outcome, level, profile, duration_ms: Math.round(durationMs) }
  if (isOk(check)) return facts
  return { message: checkCause(check), severity: outcome, ...facts, story: checkDetails(check, PLAIN_LAYOUT) }
}
