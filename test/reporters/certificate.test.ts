/** What the terminal shows of a certificate. */
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/base/text/terminal-text.ts'
import { certificateText } from '../../src/pages/reporters/pretty-certificate.ts'
import type { CertificateReport } from '../../src/running/certifier/report.ts'
import {
  BLOCKED,
  CAUSE,
  certificateReport,
  checkResult,
  failedResult,
  MIXED,
  STOPPED,
  warnedResult,
} from './certificates.ts'
import { Journal } from './run-results.ts'

const rendered = (report: CertificateReport, columns = 100) => certificateText(report, { colorLevel: 0, columns })

describe('a certificate in the terminal', () => {
  const text = rendered(MIXED)

  it('shows failures first, with what happened, what was expected, what to try, the chat, and how to run it again', () => {
    const [first, , ...lines] = text.split('\n').slice(0, 13)
    expect(first).toBe('SIG-02: The webhook answered 500 to a validly signed REQUESTING TAKEOVER.')
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "FAIL SIG-02 An event has no effect                                                      MUST, 120 ms
        happened  The webhook answered 500 to a validly signed REQUESTING TAKEOVER. (#2)
        try       Answer 200 as soon as the event is stored, also when its content is not used.
        expected  The status is 200.

                  user / agent              platform                                          intermediary
          +0.00   presses "handover"  #1
        x +0.00                       #2    REQUESTING TAKEOVER, sent manually ------------>  500 in 31 ms

        help      npx handover-sim certify --explain SIG-02
        rerun     npx handover-sim certify --only SIG-02 --seed 7"
    `)
    const should = certificateReport([failedResult({ id: 'DLV-01', level: 'SHOULD', profile: 'flow' })])
    expect(rendered(should)).toMatch(/^FAIL DLV-01 .* MUST, 120 ms$/m)
    const warned = certificateReport([warnedResult({ id: 'CON-01', level: 'MUST' })])
    expect(rendered(warned)).toMatch(/^WARN CON-01 .* SHOULD, 120 ms$/m)
  })

  it('of the trials of a diagnosis, shows the one that was accepted, which has not failed', () => {
    const log = new Journal()
    const refused = log.delivery('d1', { status: 401, outcome: 'failed', triggered: true })
    const trial = (code: string, status: number) =>
      log.delivery(code, { status, triggered: true, probe: { of: 'd1', code, detail: '' } })
    const accepted = [trial('hex', 401), trial('restringified-json', 200)][1]!
    const [finding] = failedResult().findings
    const findings = [{ ...finding!, entrySeqs: [refused, accepted] }]
    const shown = rendered(certificateReport([{ ...failedResult(), findings, journal: log.entries, chats: {} }]))
    expect(shown).toMatch(/^ {2}x .*#1 .*401 in 31 ms$/m)
    expect(shown).toMatch(/^ {4}\+.*#3 .*, trial of restringified-json -+> {2}200 in 31 ms$/m)
    expect(shown).not.toContain('trial of hex')
  })

  it('groups checks that were not observed for one reason, and shows expected failures last, without a diagram', () => {
    expect(text).toMatch(/^INCONCLUSIVE 2 checks\n {2}This check needs an agent driver.*\n {2}SIG-03, SIG-04$/m)
    expect(text.indexOf('FAIL (expected) FLW-01')).toBeGreaterThan(text.indexOf('FAIL SIG-02'))
    expect(text).toMatch(/^ {2}because {3}the old gateway \(until 2027-01-31\)$/m)
    expect(text.match(/user \/ agent/g)).toHaveLength(2)
  })

  it('ends with a table by profile, counts, the level or why there is none, what was exercised, and the exit code', () => {
    const ending = text.slice(
      text.indexOf('webhook  1 of 4 pass\n  PASS         SIG-01  An event has no effect  120 ms\n'),
    )
    for (const line of [
      ...['ack 20 chats: p50 3 ms, p95 12.3 ms', 'copies: 2', 'flow  0 of 3 pass', 'INCONCLUSIVE SIG-03  An event'],
      ...['1 PASS, 1 N/A, 2 INCONCLUSIVE, 1 WARN, 2 FAIL (1 expected)\nno level: ', 'N/A          ATT-01'],
      ...[
        'exercised: 0 of 9 endpoints, 1 of 4 events, 0 of 16 faults',
        'http://127.0.0.1:3000/webhook, seed 7, 4.2 s\n',
      ],
    ])
      expect(ending).toContain(line)
    expect(ending).toMatch(/\nhandover-sim 0\.1\.0, Node v24\.1\.0, linux x64\nexit 1: a MUST is broken\n$/)
  })

  it('begins with the cause that stopped other checks, which are one group', () => {
    const blocked = rendered(BLOCKED, 200)
    expect(blocked.split('\n')[0]).toBe(`SIG-01: ${CAUSE} ${STOPPED}`)
    const group = /\nBLOCKED 2 checks\n {2}SIG-01 shows the cause, which ended these checks .*\n {2}SIG-02, SIG-03\n/
    expect(blocked).toMatch(group)
    expect(blocked).toMatch(/1 PASS, 2 BLOCKED, 2 FAIL/)
  })

  it.each([60, 80, 120])('fits into %i columns, except commands', columns => {
    const lines = rendered(MIXED, columns).split('\n')
    expect(lines.filter(line => widthOf(line) > columns && !/npx handover-sim/.test(line))).toEqual([])
    expect(lines).toContain('  rerun     npx handover-sim certify --only SIG-02 --seed 7')
  })

  it('shows many checks with one finding briefly after the second', () => {
    const many = rendered(certificateReport(['SIG-01', 'SIG-02', 'SIG-03', 'SIG-04'].map(id => failedResult({ id }))))
    expect(many.match(/user \/ agent/g)).toHaveLength(2)
    expect(many.match(/The same finding as in SIG-01/g)).toHaveLength(2)
  })

  it('says that an expected failure passes, and that one is past its last day', () => {
    const passing = { check: 'SIG-01', because: 'x', until: null }
    const expired = { check: 'SIG-02', because: 'the old gateway', until: '2026-02-28' }
    const report = certificateReport([checkResult(), failedResult({ id: 'SIG-02' })], { expected: [passing, expired] })
    expect(report.exitCode).toBe(1)
    expect(rendered(report)).toContain('SIG-01 was expected to fail and passes: remove it')
    expect(rendered(report)).toContain('It was expected to fail until 2026-02-28: the old gateway')
  })
})
