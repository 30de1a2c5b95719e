/** The reports of a certificate. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import { badgeValue, certificateBadge } from '../../src/pages/reporters/badge.ts'
import { checkCause } from '../../src/pages/reporters/findings.ts'
import { githubAnnotations, markdownReport } from '../../src/pages/reporters/github.ts'
import { certificateJson } from '../../src/pages/reporters/json.ts'
import { junitReport } from '../../src/pages/reporters/junit.ts'
import { certificateText } from '../../src/pages/reporters/pretty-certificate.ts'
import { createProgress } from '../../src/pages/reporters/progress.ts'
import { reportOfCertificate } from '../../src/pages/reporters/report-model.ts'
import { tapReport } from '../../src/pages/reporters/tap.ts'
import type { CertificateReport } from '../../src/running/certifier/report.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import {
  blockedResult,
  certificateReport,
  checkResult,
  failedResult,
  hostileCertificate,
  unobservedResult,
  warnedResult,
} from './certificates.ts'
import { anyText, UNSEEN } from './hostile.ts'
import { readTap } from './tap-checker.ts'
import { all, type Element, readXml } from './xml-checker.ts'

const certificateJunit = (report: CertificateReport) => junitReport(reportOfCertificate(report))
const certificateTap = (report: CertificateReport) => tapReport(reportOfCertificate(report))
const certificateMarkdown = (report: CertificateReport) => markdownReport(reportOfCertificate(report))
const certificateAnnotations = (report: CertificateReport) => githubAnnotations(reportOfCertificate(report))

const EXPECTED = [{ check: 'FLW-01', because: 'the old gateway', until: '2027-01-31' }]
const MIXED = certificateReport(
  [
    checkResult({ id: 'SIG-01' }, { measurements: { ack_20_chats_p50_ms: 3, ack_20_chats_p95_ms: 12.345, copies: 2 } }),
    failedResult({ id: 'SIG-02' }),
    unobservedResult({ id: 'SIG-03' }),
    unobservedResult({ id: 'SIG-04' }),
    failedResult({ id: 'FLW-01', profile: 'flow' }),
    warnedResult({ id: 'FLW-02', profile: 'flow' }),
    checkResult(
      { id: 'ATT-01', profile: 'flow' },
      { outcome: 'not_applicable', reason: { code: 'capability_missing', capability: 'attachments' } },
    ),
  ],
  { expected: EXPECTED },
)

/** SIG-01 stopped three other checks, of which one judged when it was repeated. */
const BLOCKED = certificateReport([
  failedResult({ id: 'TXT-01', profile: 'flow' }),
  failedResult(),
  blockedResult('SIG-01', { id: 'SIG-02' }),
  blockedResult('SIG-01', { id: 'SIG-03', level: 'SHOULD' }),
  checkResult({ id: 'ACK-01' }, { avoided: { check: 'SIG-01', knobs: { 'webhook.json': 'compact' } } }),
])

describe('a cause that stopped other checks', () => {
  const CAUSE = 'The webhook answered 500 to a validly signed REQUESTING TAKEOVER.'
  const STOPPED = 'It also stopped 3 other checks: 1 judged when repeated without it, 2 are blocked.'

  it('comes first in the terminal, and the checks that it blocked are one group', () => {
    const text = certificateText(BLOCKED, { colorLevel: 0, columns: 200 })
    expect(text.split('\n')[0]).toBe(`SIG-01: ${CAUSE} ${STOPPED}`)
    expect(text).toMatch(
      /\nBLOCKED 2 checks\n {2}SIG-01 shows the cause, which ended these checks .*\n {2}SIG-02, SIG-03\n/,
    )
    expect(text).toMatch(/1 PASS, 2 BLOCKED, 2 FAIL/)
  })

  it('is in the data, before one that stopped none', () => {
    const { causes, checks, exit_code, level_obstacle } = JSON.parse(certificateJson(BLOCKED))
    expect(causes).toEqual([
      { check: 'SIG-01', text: CAUSE, blocked: ['SIG-02', 'SIG-03'], repeated: ['ACK-01'] },
      { check: 'TXT-01', text: CAUSE, blocked: [], repeated: [] },
    ])
    expect({ exit_code, level_obstacle }).toEqual({ exit_code: 1, level_obstacle: 'unmet' })
    expect(checks[2]).toMatchObject({ outcome: 'blocked', blocked_by: 'SIG-01', reason_code: 'blocked', findings: [] })
    expect(checks[4]).toMatchObject({ outcome: 'pass', avoided: { check: 'SIG-01' } })
    expect(checks[4].avoided_text).toMatch(/^What SIG-01 shows .* repeated with webhook\.json=compact\.$/)
  })

  it('comes first in Markdown, and is a property of JUnit, where blocked checks are skipped', () => {
    expect(certificateMarkdown(BLOCKED).split('\n')[2]).toBe(`**SIG-01:** ${CAUSE} ${STOPPED}`)
    const junit = certificateJunit(BLOCKED)
    expect(junit).toContain(`<property name="cause" value="SIG-01: ${CAUSE} ${STOPPED}"/>`)
    expect(junit).toContain('<skipped message="blocked: SIG-01 shows the cause, ')
    expect(junit).toMatch(/<testsuites [^>]*failures="2" errors="0" skipped="2"/)
  })

  it('leaves the run incomplete when a MUST is blocked and none fails', () => {
    const warned = warnedResult()
    expect(certificateReport([warned, blockedResult('SIG-01', { id: 'SIG-02' })])).toMatchObject({
      exitCode: 4,
      levelObstacle: 'unmet',
    })
    expect(certificateReport([warned, blockedResult('SIG-01', { id: 'SIG-02', level: 'SHOULD' })]).exitCode).toBe(0)
  })
})

describe('in a terminal', () => {
  const text = certificateText(MIXED, { colorLevel: 0, columns: 100 })
  const lines = text.split('\n')

  it('shows failures first, with what happened, what was expected, what to try, the chat, and how to run it again', () => {
    expect(lines.slice(0, 13).join('\n')).toMatchInlineSnapshot(`
      "SIG-02: The webhook answered 500 to a validly signed REQUESTING TAKEOVER.

      FAIL SIG-02 An event has no effect                                                      MUST, 120 ms
        happened  The webhook answered 500 to a validly signed REQUESTING TAKEOVER. (#2)
        try       Answer 200 as soon as the event is stored, also when its content is not used.
        expected  The status is 200.

                  user / agent              platform                                          intermediary
          +0.00   presses "handover"  #1
        x +0.00                       #2    REQUESTING TAKEOVER, sent manually ------------>  500 in 31 ms

        help      npx handover-sim certify --explain SIG-02
        rerun     npx handover-sim certify --only SIG-02 --seed 7"
    `)
  })

  it('shows MUST beside the failure of a check whose level is SHOULD, as Markdown does', () => {
    const report = certificateReport([failedResult({ id: 'DLV-01', level: 'SHOULD', profile: 'flow' })])
    expect(certificateText(report, { colorLevel: 0 })).toMatch(/^FAIL DLV-01 .* MUST, 120 ms$/m)
    expect(markdownReport(reportOfCertificate(report))).not.toContain('SHOULD')
  })

  it('shows checks that could not be observed for one reason together', () => {
    expect(text).toMatch(/^INCONCLUSIVE 2 checks\n {2}This check needs an agent driver.*\n {2}SIG-03, SIG-04$/m)
  })

  it('names the reason of an expected failure, after the others and without a diagram', () => {
    expect(text.indexOf('FAIL (expected) FLW-01')).toBeGreaterThan(text.indexOf('FAIL SIG-02'))
    expect(text).toMatch(/^ {2}because {3}the old gateway \(until 2027-01-31\)$/m)
    expect(text.match(/user \/ agent/g)).toHaveLength(2)
  })

  it('has a table by profile, with figures that were measured', () => {
    const table = text.slice(text.indexOf('webhook  '), text.indexOf('1 PASS'))
    expect(table).toMatchInlineSnapshot(`
      "webhook  1 of 4 pass
        PASS         SIG-01  An event has no effect  120 ms
                             ack 20 chats: p50 3 ms, p95 12.3 ms
                             copies: 2
        FAIL         SIG-02  An event has no effect  120 ms
        INCONCLUSIVE SIG-03  An event has no effect  120 ms
        INCONCLUSIVE SIG-04  An event has no effect  120 ms

      flow  0 of 3 pass
        FAIL         FLW-01  An event has no effect  120 ms
        WARN         FLW-02  An event has no effect  120 ms
        N/A          ATT-01  An event has no effect  120 ms

      "
    `)
  })

  it('ends with counts, the level or why there is none, what was exercised, the versions and the exit code', () => {
    expect(text.slice(text.indexOf('1 PASS'))).toMatchInlineSnapshot(`
      "1 PASS, 1 N/A, 2 INCONCLUSIVE, 1 WARN, 2 FAIL (1 expected)
      no level: A check that the level basic needs failed, is blocked, or could not be observed.
      exercised: 0 of 9 endpoints, 1 of 4 events, 0 of 16 faults
      target http://127.0.0.1:3000/webhook, seed 7, 4.2 s
      handover-sim 0.1.0, Node v24.1.0, linux x64
      exit 1: a MUST is broken
      "
    `)
  })

  it.each([60, 80, 120])('fits into %i columns, except commands', columns => {
    const rendered = certificateText(MIXED, { colorLevel: 0, columns: columns }).split('\n')
    const wide = rendered.filter(line => widthOf(line) > columns && !/npx handover-sim/.test(line))
    expect(wide).toEqual([])
    expect(rendered.filter(line => /rerun/.test(line))).toContain(
      '  rerun     npx handover-sim certify --only SIG-02 --seed 7',
    )
  })

  it('shows many checks with one finding briefly after the second', () => {
    const many = certificateReport(['SIG-01', 'SIG-02', 'SIG-03', 'SIG-04'].map(id => failedResult({ id })))
    const rendered = certificateText(many, { colorLevel: 0, columns: 100 })
    expect(rendered.match(/user \/ agent/g)).toHaveLength(2)
    expect(rendered.match(/The same finding as in SIG-01/g)).toHaveLength(2)
  })

  it('says that an expected failure passes, and that one is past its last day', () => {
    const passing = { check: 'SIG-01', because: 'x', until: null }
    const expired = { check: 'SIG-02', because: 'the old gateway', until: '2026-02-28' }
    const report = certificateReport([checkResult(), failedResult({ id: 'SIG-02' })], { expected: [passing, expired] })
    expect(report.exitCode).toBe(1)
    const rendered = certificateText(report, { colorLevel: 0, columns: 100 })
    expect(rendered).toContain('SIG-01 was expected to fail and passes: remove it from the file of expected failures.')
    expect(rendered).toContain('It was expected to fail until 2026-02-28: the old gateway')
  })
})

describe('progress', () => {
  const end = (id: string, outcome: 'pass' | 'fail') => {
    const { checks } = certificateReport([outcome === 'pass' ? checkResult({ id }) : failedResult({ id })])
    const { title, durationMs, ...check } = checks[0]!
    return { name: id, title: `${id} ${title}`, outcome, durationMs, cause: checkCause(check) }
  }

  it('is one line on a terminal: how many are done, how many failed, which run', () => {
    const output = fakeOutput(true)
    let tick = () => {}
    const after = (_delayMs: number, run: () => void) => {
      tick = run
      return { cancel() {} }
    }
    const progress = createProgress({ output, isTTY: true, colorLevel: 0, columns: 80, after })
    progress.planned(44)
    for (const id of ['SIG-01', 'SIG-02']) progress.started(id)
    tick()
    progress.finished(end('SIG-01', 'fail'))
    tick()
    progress.stop()
    const drawn = output.text.split('\r\u001b[2K')
    expect(drawn).toEqual(['', ' 0/44  SIG-01 (and 1 more)', ' 1/44, 1 failed  SIG-02', ''])
  })

  it('is a line for each failed check elsewhere, with its cause', () => {
    const output = fakeOutput()
    const progress = createProgress({ output, isTTY: false, colorLevel: 0, columns: 80 })
    progress.planned(12)
    progress.started('SIG-01')
    progress.finished(end('SIG-01', 'pass'))
    progress.finished(end('SIG-02', 'fail'))
    progress.stop()
    expect(output.lines).toEqual([
      ' 2/12  FAIL SIG-02 An event has no effect, 120 ms: The webhook answered 500 to a validly signed REQUESTING TAKEOVER.',
    ])
  })
})

describe('junit', () => {
  const root = readXml(certificateJunit(MIXED))
  const caseNamed = (id: string): Element =>
    all(root, 'testcase').find(({ attributes }) => attributes.name?.startsWith(id))!

  it('has a suite per profile and a case per check, with consistent counts', () => {
    const { tests, failures, errors, skipped } = root.attributes
    expect({ tests, failures, errors, skipped }).toEqual({ tests: '7', failures: '1', errors: '0', skipped: '5' })
    const suites = all(root, 'testsuite')
    expect(suites.map(({ attributes }) => [attributes.name, attributes.tests])).toEqual([
      ['webhook', '4'],
      ['flow', '3'],
    ])
  })

  it('has the cause and the evidence of a failure; expected failures and warnings are skipped', () => {
    const [failure] = all(caseNamed('SIG-02'), 'failure')
    expect(failure?.attributes).toEqual({
      message: 'The webhook answered 500 to a validly signed REQUESTING TAKEOVER.',
      type: 'event-refused',
    })
    expect(failure?.text).toContain('npx handover-sim certify --only SIG-02 --seed 7')
    expect(all(caseNamed('FLW-01'), 'skipped')[0]?.attributes.message).toMatch(/^expected to fail: the old gateway \(/)
    expect(all(caseNamed('FLW-02'), 'skipped')[0]?.attributes.message).toMatch(/^warning: The webhook answered 500/)
  })
})

it('tap: TODO for what fails and is expected, SKIP for what was not observed', () => {
  const { points } = readTap(certificateTap(MIXED))
  expect(points.map(({ ok, skip, todo }) => ({ ok, skip: skip?.slice(0, 12), todo: todo?.slice(0, 15) }))).toEqual([
    { ok: true },
    { ok: false },
    { ok: true, skip: 'inconclusive' },
    { ok: true, skip: 'inconclusive' },
    { ok: false, todo: 'expected to fai' },
    { ok: false, todo: 'warning: The we' },
    { ok: true, skip: 'The capabili' },
  ])
})

describe('with --strict, a warning is a failure', () => {
  const strict = certificateReport([checkResult({ id: 'SIG-01' }), warnedResult({ id: 'FLW-02' })], { strict: true })

  it('in junit', () => {
    const root = readXml(certificateJunit(strict))
    expect(root.attributes).toMatchObject({ tests: '2', failures: '1', skipped: '0' })
    expect(all(root, 'failure')[0]?.attributes.message).toMatch(/^The webhook answered 500/)
  })

  it('in tap', () => {
    const { points } = readTap(certificateTap(strict))
    expect(points.map(({ ok, todo }) => [ok, todo ?? null])).toEqual([
      [true, null],
      [false, null],
    ])
  })
})

describe('github', () => {
  it('annotates what fails the run, at most ten', () => {
    expect(certificateAnnotations(MIXED).split('\n')).toHaveLength(2)
    expect(certificateAnnotations(MIXED)).toMatch(
      /^::error title=FAIL SIG-02 An event has no effect::The webhook answered 500 .*%0Atry: .*%0Ahelp: npx/,
    )
    const ids = Array.from({ length: 12 }, (_, index) => `SIG-${10 + index}`)
    const many = certificateAnnotations(certificateReport(ids.map(id => failedResult({ id }))))
    expect(many.match(/^::error /gm)).toHaveLength(10)
    expect(many).toMatch(/^::notice::2 more checks failed/m)
  })
})

describe('markdown', () => {
  const markdown = certificateMarkdown(MIXED)

  it('begins with the level, and lists what did not pass', () => {
    expect(markdown).toMatch(/^## Handover certificate: no level\n\n\*\*SIG-02:\*\* The webhook .*\n\n1 PASS, /)
    expect(markdown).toContain(
      '| FAIL | FLW-01 An event has no effect | MUST | The webhook answered 500 to a validly signed REQUESTING TAKEOVER. (expected: the old gateway) |',
    )
    expect(certificateMarkdown(certificateReport([checkResult()]))).toMatch(/^## Handover certificate: strict\n/)
  })

  it('shows what was exercised', () => {
    expect(markdown).toContain('| REQUESTING TAKEOVER | 0 | 0 | 0 | 3 | 0 |')
    expect(markdown).toContain('| api latency | 0 |')
  })
})

describe('badge', () => {
  it.each([
    [[checkResult()], {}, 'strict'],
    [[checkResult({ profile: 'resilience' }), warnedResult()], {}, 'resilient'],
    [[checkResult(), warnedResult({ profile: 'resilience' })], {}, 'basic'],
    [[failedResult()], {}, 'failing'],
    [[failedResult()], { expected: [{ check: 'SIG-01', because: 'x', until: null }] }, 'failing'],
    [[unobservedResult()], {}, 'incomplete'],
    [[checkResult()], { isPartial: true }, 'incomplete'],
  ])('%# says %s', (checks, given, value) => {
    const report = certificateReport(checks, given)
    expect(badgeValue(report)).toBe(value)
    const svg = readXml(`<?xml version="1.0" encoding="UTF-8"?>\n${certificateBadge(report)}`)
    expect(svg.attributes).toMatchObject({ role: 'img', 'aria-label': `handover: ${value}` })
    expect(all(svg, 'title')[0]?.text).toBe(`handover: ${value}`)
  })
})

const TEXTS: Readonly<Record<string, (report: CertificateReport) => string>> = {
  pretty: report => certificateText(report, { colorLevel: 0, columns: 100 }),
  junit: certificateJunit,
  tap: certificateTap,
  github: certificateAnnotations,
  markdown: certificateMarkdown,
}

describe('hostile texts', () => {
  it.each(Object.keys(TEXTS))('show as themselves in %s', name => {
    fc.assert(
      fc.property(anyText, text => {
        const report = TEXTS[name]!(hostileCertificate(text))
        expect(report).not.toMatch(UNSEEN)
        if (name === 'junit') expect(all(readXml(report), 'testcase')).toHaveLength(5)
        if (name === 'tap') expect(readTap(report).points).toHaveLength(5)
        if (name === 'github')
          expect(
            report
              .trimEnd()
              .split('\n')
              .every(line => line.startsWith('::error ')),
          ).toBe(true)
        if (name === 'markdown') expect(report.replace(/<\/?(details|summary|pre|br)>/g, '')).not.toMatch(/<[a-z/!]/i)
      }),
      { numRuns: 60 },
    )
  })

  it('stay one line of JSON', () => {
    fc.assert(
      fc.property(anyText, text => {
        const json = certificateJson(hostileCertificate(text))
        expect(json.indexOf('\n')).toBe(json.length - 1)
        expect(JSON.parse(json)).toMatchObject({ v: 2, type: 'certificate' })
      }),
    )
  })
})
