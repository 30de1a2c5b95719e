/** What JUnit, CTRF, TAP, GitHub, Markdown, JSON and the badge show of a run and of a certificate. */
import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../src/evaluation/evaluator/verdict.ts'
import { badgeValue, certificateBadge } from '../../src/pages/reporters/badge.ts'
import { ctrfReport } from '../../src/pages/reporters/ctrf.ts'
import { githubAnnotations, markdownReport } from '../../src/pages/reporters/github.ts'
import { certificateJson, jsonReport } from '../../src/pages/reporters/json.ts'
import { junitReport } from '../../src/pages/reporters/junit.ts'
import { reportOfCertificate, reportOfRun } from '../../src/pages/reporters/report-model.ts'
import { tapReport } from '../../src/pages/reporters/tap.ts'
import type { CertificateReport } from '../../src/running/certifier/report.ts'
import { read } from '../architecture/files.ts'
import {
  BLOCKED,
  blockedResult,
  CAUSE,
  certificateReport,
  checkResult,
  failedResult,
  MIXED,
  STOPPED,
  unobservedResult,
  warnedResult,
} from './certificates.ts'
import { attributesOf, readCommands, readTap, readXml } from './format-readers.ts'
import { readCtrf } from './read-ctrf.ts'
import { failure, result, scenarioResult } from './run-results.ts'
import { escapedPlay, openResult, passedResult, skippedResult, unreachableResult } from './samples.ts'

const OUTSIDE = [failure({ kind: 'unexpected', happened: 'a call for chat "nobody"' })]
const RUN = reportOfRun(
  result([passedResult(), escapedPlay(), openResult(), unreachableResult(), skippedResult()], { failures: OUTSIDE }),
)
const CERTIFICATE = reportOfCertificate(MIXED)
const STRICT = reportOfCertificate(
  certificateReport([checkResult({ id: 'SIG-01' }), warnedResult({ id: 'FLW-02' })], { strict: true }),
)
const HEADLINE = 'step 7: nearest: #12, message differs (only HTML escaping)'
const RERUN = 'npx handover-sim run scenarios/happy.yaml --seed 1'
const NO_DESK = 'the help desk is not there: connection refused at 127.0.0.1:3100'
const NO_VERB = 'inconclusive: the agent driver has no verb "transfer"'

describe('junit', () => {
  const suitesOf = (report: typeof RUN) => [...readXml(junitReport(report)).querySelectorAll('testsuite')]
  const rootOf = (report: typeof RUN) => attributesOf(readXml(junitReport(report)).documentElement)
  /** Each case with the element that says how it ended, and its message. */
  const cases = (report: typeof RUN) =>
    [...readXml(junitReport(report)).querySelectorAll('testcase')].map(one => {
      const end = one.querySelector('failure, error, skipped')
      return [one.getAttribute('name'), end?.tagName ?? 'passed', end?.getAttribute('message')]
    })

  it('has a suite for each file, in order, and consistent counts', () => {
    const { name, time, timestamp, ...counts } = rootOf(RUN)
    expect(counts).toEqual({ tests: '6', failures: '2', errors: '1', skipped: '2' })
    expect([time, timestamp]).toEqual(['7.040', '2026-03-01T10:00:00'])
    for (const [key, value] of Object.entries(counts))
      expect(suitesOf(RUN).reduce((sum, suite) => sum + Number(suite.getAttribute(key)), 0)).toBe(Number(value))
    const three = [scenarioResult(), scenarioResult({ file: 'b.yaml' }), scenarioResult({ instance: 2 })]
    const grouped = suitesOf(reportOfRun(result(three))).map(attributesOf)
    expect(grouped.map(({ name, tests }) => `${name} ${tests}`)).toEqual(['scenarios/happy.yaml 2', 'b.yaml 1'])
    expect(rootOf(reportOfRun(result([]))).tests).toBe('0')
  })

  it('says how each scenario ended: an inconclusive one does not pass', () => {
    expect(cases(RUN)).toEqual([
      ['Short and good', 'passed', undefined],
      ['Happy path', 'failure', HEADLINE],
      ['With an agent', 'skipped', NO_VERB],
      ['No desk', 'error', NO_DESK],
      ['Later', 'skipped', 'not tagged smoke'],
      ['outside every scenario', 'failure', 'a call for chat "nobody" (expected: expect message)'],
    ])
  })

  it('has place, properties and timeline of a failure', () => {
    const one = readXml(junitReport(RUN)).querySelector('testcase[name="Happy path"]')!
    expect(attributesOf(one)).toMatchObject({ classname: 'scenarios.happy', file: 'scenarios/happy.yaml', line: '2' })
    const properties = [...one.querySelectorAll('property')].map(property => Object.values(attributesOf(property)))
    const facts = { seed: '1', clock: 'real', tags: 'smoke', spec: 'E4', rerun: RERUN }
    expect(Object.fromEntries(properties)).toEqual(facts)
    const { textContent } = one.querySelector('failure[type="expect"]')!
    expect(textContent).toContain(`message  - "I'm Anna"   + "I&#39;m Anna"   only HTML escaping differs`)
    expect(textContent).toMatch(/^x \+0\.84 +main +#12 +<-+ POST message "I&#39;m Anna"/m)
  })

  it('has a suite for each profile; warnings, expected failures and blocked checks are skipped', () => {
    expect(rootOf(CERTIFICATE)).toMatchObject({ tests: '7', failures: '1', errors: '0', skipped: '5' })
    const suites = suitesOf(CERTIFICATE).map(attributesOf)
    expect(suites.map(({ name, tests }) => `${name} ${tests}`)).toEqual(['webhook 4', 'flow 3'])
    const failed = readXml(junitReport(CERTIFICATE)).querySelector('failure')!
    expect(attributesOf(failed)).toEqual({ message: CAUSE, type: 'event-refused' })
    expect(failed.textContent).toContain('npx handover-sim certify --only SIG-02 --seed 7')
    const ends = Object.fromEntries(cases(CERTIFICATE).map(([name, ...end]) => [name!.slice(0, 6), end.join(': ')]))
    expect(ends['FLW-01']).toMatch(/^skipped: expected to fail: the old gateway \(/)
    expect(ends['FLW-02']).toMatch(/^skipped: warning: The webhook answered 500/)
    const blocked = junitReport(reportOfCertificate(BLOCKED))
    expect(blocked).toContain(`<property name="cause" value="SIG-01: ${CAUSE} ${STOPPED}"/>`)
    expect(blocked).toContain('<skipped message="blocked: SIG-01 shows the cause, ')
    expect(cases(STRICT)[1]).toEqual([expect.any(String), 'failure', CAUSE])
  })
})

describe('ctrf', () => {
  const endsOf = (report: typeof RUN) =>
    readCtrf(ctrfReport(report)).tests.map(({ name, status, rawStatus, message }) => [name, status, rawStatus, message])

  it('has a test for each scenario, in order, with its outcome as status and as it is', () => {
    expect(endsOf(RUN)).toEqual([
      ['Short and good', 'passed', 'pass', undefined],
      ['Happy path', 'failed', 'fail', HEADLINE],
      ['With an agent', 'skipped', 'inconclusive', NO_VERB],
      ['No desk', 'failed', 'error', NO_DESK],
      ['Later', 'skipped', 'skip', 'not tagged smoke'],
      ['outside every scenario', 'failed', 'fail', 'a call for chat "nobody" (expected: expect message)'],
    ])
    const { tool, summary, environment } = readCtrf(ctrfReport(RUN))
    expect(tool).toEqual({ name: 'handover-sim', version: '0.1.0' })
    const start = Date.parse('2026-03-01T10:00:00.000Z')
    expect(summary).toMatchObject({ tests: 6, suites: 6, start, stop: start + 7040, duration: 7040 })
    expect(environment!.extra).toMatchObject({ target: expect.stringMatching(/^http/), seed: 1 })
    const stopped = readCtrf(ctrfReport(reportOfRun(result([], { stopped: 'interrupted' }))))
    expect([stopped.tests, stopped.environment!.extra!.stopped]).toEqual([[], 'interrupted'])
  })

  it('has place, labels and timeline of a failure', () => {
    const [, failed] = readCtrf(ctrfReport(RUN)).tests
    expect(failed).toMatchObject({ suite: ['scenarios/happy.yaml'], filePath: 'scenarios/happy.yaml', line: 2 })
    expect(failed!.labels).toEqual({ seed: 1, clock: 'real', tags: 'smoke', spec: 'E4', rerun: RERUN })
    expect(failed!.trace).toMatch(/^x \+0\.84 +main +#12 +<-+ POST message "I&#39;m Anna"/m)
  })

  it('has a warning and an expected failure of a certificate as other', () => {
    const { tests, summary } = readCtrf(ctrfReport(CERTIFICATE))
    expect(summary).toMatchObject({ passed: 1, failed: 1, skipped: 3, other: 2, suites: 2 })
    const ends = Object.fromEntries(
      tests.map(({ name, status, message }) => [name.slice(0, 6), `${status}: ${message}`]),
    )
    expect(ends['SIG-02']).toBe(`failed: ${CAUSE}`)
    expect(ends['FLW-01']).toMatch(/^other: expected to fail: the old gateway \(/)
    expect(ends['FLW-02']).toMatch(/^other: warning: The webhook answered 500/)
    expect(endsOf(STRICT)[1]).toEqual([expect.any(String), 'failed', 'warn', CAUSE])
  })
})

describe('tap', () => {
  const points = (report: typeof RUN) =>
    readTap(tapReport(report)).points.map(({ ok, title, directive }) => [ok, title, directive])

  it('has a point for each scenario, a directive for what is not judged, and the story of a failure', () => {
    expect(points(RUN)).toEqual([
      [true, 'scenarios/short.yaml > Short and good', null],
      [false, 'scenarios/happy.yaml > Happy path', null],
      [true, 'scenarios/agent.yaml > With an agent', `SKIP ${NO_VERB}`],
      [false, 'scenarios/desk.yaml > No desk', null],
      [true, 'scenarios/later.yaml > Later', 'SKIP not tagged smoke'],
      [false, 'outside every scenario', null],
    ])
    const { facts } = readTap(tapReport(RUN)).points[1]!
    const about = { severity: 'fail', at: 'scenarios/happy.yaml:19:5', duration_ms: 6400, seed: 1 }
    expect(facts).toMatchObject({ message: HEADLINE, ...about, story: expect.arrayContaining([`rerun: ${RERUN}`]) })
    const stopped = reportOfRun(result([passedResult()], { stopped: 'interrupted' }))
    expect(readTap(tapReport(stopped)).bail).toBe('interrupted')
  })

  it('has TODO for a check that may fail, and SKIP for what was not observed', () => {
    const shown = points(CERTIFICATE).map(([ok, , directive]) => `${ok} ${String(directive).slice(0, 4)}`)
    const skipped = ['true SKIP', 'true SKIP']
    expect(shown).toEqual(['true null', 'false null', ...skipped, 'false TODO', 'false TODO', 'true SKIP'])
    expect(points(STRICT).map(([ok, , directive]) => `${ok} ${directive}`)).toEqual(['true null', 'false null'])
  })
})

describe('annotations of GitHub', () => {
  const commands = (run: RunResult, fileOf?: (file: string) => string) =>
    readCommands(githubAnnotations(reportOfRun(run), fileOf))

  it('mark the failed step of each failed scenario', () => {
    const name = 'Ask, answer: 100%, line=3'
    const happy = { file: 'scenarios/happy.yaml', line: '19', col: '5' }
    const message = `${HEADLINE}\nhint: send the text as it is; the platform does the escaping\nrerun: ${RERUN}`
    const desk = { file: 'scenarios/desk.yaml', line: '2', col: '1' }
    expect(commands(result([passedResult(), { ...escapedPlay(), name }, openResult(), unreachableResult()]))).toEqual([
      { command: 'error', ...happy, title: `FAIL ${name}`, message },
      { command: 'error', ...desk, title: 'ERROR No desk', message: NO_DESK },
    ])
    expect(commands(result([passedResult()]))).toEqual([])
  })

  it('are at most ten, and the last counts the others', () => {
    const lines = commands(result(Array.from({ length: 12 }, escapedPlay), { failures: [failure({})] }))
    expect(lines.map(({ command }) => command)).toEqual([...Array(10).fill('error'), 'notice'])
    expect(lines[0]).toMatchObject({ title: 'FAIL outside every scenario' })
    expect(lines.at(-1)!.message).toMatch(/^3 more/)
    const many = Array.from({ length: 12 }, (_, index) => failedResult({ id: `SIG-${10 + index}` }))
    const last = readCommands(githubAnnotations(reportOfCertificate(certificateReport(many)))).at(-1)
    expect(last!.message).toMatch(/^2 more checks failed/)
  })

  it('have paths of the repository, the number of failures, and no file for a shipped scenario', () => {
    const failed = scenarioResult({ outcome: 'fail', failures: [failure({}), failure({}), failure({})] })
    const [line] = commands(result([failed]), file => `packages/desk/${file}`)
    expect(line).toMatchObject({ file: 'packages/desk/scenarios/happy.yaml', line: '2' })
    expect(line!.message).toContain('and 2 more')
    const file = 'builtin:closed-hours.yaml'
    const place = { file, line: 10, column: 5 }
    const [shipped] = commands(result([{ ...failed, name: 'Closed hours', file, place }]))
    expect(shipped).toEqual({ command: 'error', title: `FAIL ${file} > Closed hours`, message: expect.any(String) })
  })

  it('mark what fails a certificate', () => {
    const [one, ...others] = readCommands(githubAnnotations(CERTIFICATE))
    expect(one).toMatchObject({ command: 'error', title: 'FAIL SIG-02 An event has no effect' })
    expect(one!.message).toMatch(/^The webhook answered 500 .*\nThe status is 200\.\ntry: .*\nhelp: npx/)
    expect(others).toEqual([])
  })
})

describe('markdown', () => {
  const ofRun = (...given: Parameters<typeof result>) => markdownReport(reportOfRun(result(...given)))

  it('has a row for each scenario that did not pass, failures first, with details and shared causes', () => {
    expect(ofRun([passedResult()])).toBe('## handover-sim: 1 scenario in 7.0 s: 1 passed\n')
    const [heading, , ...lines] = ofRun([openResult(), passedResult(), escapedPlay()]).split('\n')
    expect(heading).toBe('## handover-sim: 3 scenarios in 7.0 s: 1 passed, 1 failed, 1 inconclusive')
    expect(lines.slice(0, 4)).toEqual([
      '|  | Scenario | Time | What happened |',
      '| --- | --- | --- | --- |',
      `| FAIL | scenarios/happy.yaml &gt; Happy path | 6.4 s | ${HEADLINE.replace('#', '&#35;')} |`,
      '| INCONCLUSIVE | scenarios/agent.yaml &gt; With an agent | 30 ms | the agent driver has no verb "transfer" |',
    ])
    expect(lines).toContain('<details><summary>FAIL scenarios/happy.yaml &gt; Happy path</summary>')
    const causes = [{ code: 'repeated', text: '`end` is called twice', scenarios: [0, 1] }] as const
    const shared = '\n**One cause in 2 scenarios:** &#96;end&#96; is called twice\n'
    expect(ofRun([escapedPlay(), escapedPlay()], { causes })).toContain(shared)
    // GitHub has a limit of size.
    const many = Array<ReturnType<typeof escapedPlay>>(3000).fill(escapedPlay())
    expect(Buffer.byteLength(ofRun(many))).toBeLessThan(500_000)
  })

  it('has the level of a certificate, what did not pass, and what was exercised', () => {
    const text = markdownReport(CERTIFICATE)
    expect(text).toMatch(/^## Handover certificate: no level\n\n\*\*SIG-02:\*\* The webhook .*\n\n1 PASS, /)
    expect(text).toContain(`| FAIL | FLW-01 An event has no effect | MUST | ${CAUSE} (expected: the old gateway) |`)
    expect(text).toContain('| REQUESTING TAKEOVER | 0 | 0 | 0 | 3 | 0 |')
    expect(markdownReport(reportOfCertificate(BLOCKED)).split('\n')[2]).toBe(`**SIG-01:** ${CAUSE} ${STOPPED}`)
    const shouldFails = certificateReport([failedResult({ id: 'DLV-01', level: 'SHOULD', profile: 'flow' })])
    expect(markdownReport(reportOfCertificate(shouldFails))).not.toContain('SHOULD')
    expect(markdownReport(reportOfCertificate(certificateReport([checkResult()])))).toMatch(/certificate: strict\n/)
  })
})

describe('json', () => {
  const text = jsonReport(result([passedResult(), escapedPlay(), openResult()], { failures: OUTSIDE }))
  const { scenarios, ...run } = JSON.parse(text)

  it('has the failures of a run with the nearest calls, and no journal', () => {
    expect(text).not.toContain('"journal"')
    const counts = { pass: 1, fail: 1, error: 0, inconclusive: 1, skipped: 0 }
    expect(run).toMatchObject({ v: 2, type: 'run', exit_code: 1, counts, stopped: null, failures: [{}] })
    expect(scenarios[2]).toMatchObject({ outcome: 'inconclusive', reason: expect.stringContaining('"transfer"') })
    const [failed] = scenarios[1].failures
    expect(failed).toMatchObject({ kind: 'expect', conversation: 'main', rules: ['E6'], entry_seqs: [12] })
    expect(failed.step).toMatchObject({ number: 7, file: 'scenarios/happy.yaml', line: 19, column: 5 })
    const texts = { path: 'message', code: null, expected: `"I'm Anna"`, received: '"I&#39;m Anna"' }
    const nearest = { seq: 12, after_ms: 840, codes: [], why: '1 field differs', differences: [texts] }
    expect(failed.nearest).toMatchObject([nearest, {}, {}])
  })

  it('has exactly the documented fields of a run', () => {
    const [failed, warning, step] = [scenarios[1].failures[0], scenarios[1].warnings[0], scenarios[1].steps[0]]
    const rows = [...read('docs/reference/reports.md').matchAll(/^\| (\w+) \| (`.*?`) \| /gm)]
    const whole = { ...run, scenarios }
    const parts = { run: whole, scenario: scenarios[1], failure: failed, nearest: failed.nearest[0], warning, step }
    for (const [of, fields] of Object.entries(parts)) {
      const listed = rows.filter(row => row[1] === of).flatMap(row => row[2]!.match(/\w+/g))
      expect(listed.sort(), of).toEqual(Object.keys(fields).sort())
    }
  })

  it('has the causes of a certificate, and which check each of them stopped', () => {
    const { causes, checks, ...certificate } = JSON.parse(certificateJson(BLOCKED))
    expect(certificate).toMatchObject({ v: 2, type: 'certificate', exit_code: 1, level_obstacle: 'unmet' })
    expect(causes).toEqual([
      { check: 'SIG-01', text: CAUSE, blocked: ['SIG-02', 'SIG-03'], repeated: ['ACK-01'] },
      { check: 'TXT-01', text: CAUSE, blocked: [], repeated: [] },
    ])
    expect(checks[2]).toMatchObject({ outcome: 'blocked', blocked_by: 'SIG-01', reason_code: 'blocked', findings: [] })
    expect(checks[4]).toMatchObject({ outcome: 'pass', avoided: { check: 'SIG-01' } })
    expect(checks[4].avoided_text).toMatch(/^What SIG-01 shows .* repeated with webhook\.json=compact\.$/)
  })
})

const EXPECTED = [{ check: 'SIG-01', because: 'x', until: null }]

it.each<[value: string, report: CertificateReport]>([
  ['strict', certificateReport([checkResult()])],
  ['resilient', certificateReport([checkResult({ profile: 'resilience' }), warnedResult()])],
  ['basic', certificateReport([checkResult(), warnedResult({ profile: 'resilience' })])],
  ['failing', certificateReport([failedResult()])],
  ['failing', certificateReport([failedResult()], { expected: EXPECTED })],
  ['incomplete', certificateReport([unobservedResult()])],
  ['incomplete', certificateReport([checkResult()], { isPartial: true })],
  ['incomplete', certificateReport([warnedResult(), blockedResult('SIG-01', { id: 'SIG-02' })])],
])('the badge says %s', (value, report) => {
  expect(badgeValue(report)).toBe(value)
  const svg = readXml(certificateBadge(report)).documentElement
  expect(attributesOf(svg)).toMatchObject({ role: 'img', 'aria-label': `handover: ${value}` })
  expect(svg.querySelector('title')?.textContent).toBe(`handover: ${value}`)
})
