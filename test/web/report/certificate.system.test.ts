/** The HTML certificate as text. */
// @ts-expect-error: jsdom has no types
import { JSDOM } from 'jsdom'
import { describe, expect, it } from 'vitest'
import { htmlCertificate } from '../../../src/pages/web/report/certificate.tsx'
import type { CertificateReport } from '../../../src/running/certifier/report.ts'
import {
  certificateReport,
  checkResult,
  failedResult,
  unobservedResult,
  warnedResult,
} from '../../reporters/certificates.ts'

const parse = (markup: string): Document => new JSDOM(markup).window.document
const pageOf = (certificate: CertificateReport) => parse(htmlCertificate(certificate))
const textsOf = (page: Document, selector: string): string[] =>
  [...page.querySelectorAll(selector)].map(({ textContent }) => textContent.replace(/\s+/g, ' ').trim())

const PASSED = Array.from({ length: 40 }, (_, index) => checkResult({ id: `SIG-${index}`, profile: 'webhook' }))

describe('an HTML certificate', () => {
  const failed = { ...failedResult({ id: 'SIG-02' }), rotated: { 'webhook.json': 'spaced', 'time.format': 'epoch' } }
  const page = pageOf(
    certificateReport(
      [
        checkResult({ id: 'SIG-01' }, { measurements: { ack_p95_ms: 12.345 } }),
        { ...failed, decisive: [{ knob: 'webhook.json', value: 'spaced', initial: 'compact' }] },
        unobservedResult({ id: 'SIG-03' }),
        warnedResult({ id: 'SIG-04' }),
        failedResult({ id: 'FLW-01', profile: 'flow' }),
      ],
      {
        expected: [{ check: 'FLW-01', because: 'the old gateway', until: '2027-01-31' }],
        profiles: ['webhook', 'flow'],
        missing: ['translation'],
      },
    ),
  )

  it('begins with the level, its meaning, the counts, and how the run was made', () => {
    expect(textsOf(page, 'h1')).toEqual(['No level: 2 of 5 checks failed'])
    expect(textsOf(page, '.certificate-meaning')[0]).toMatch(/level basic needs failed/)
    const counts = ['2 failed', '1 with a warning', '1 inconclusive', '1 passed']
    expect(textsOf(page, '.certificate-counts span')).toEqual(counts)
    const facts = textsOf(page, 'header .report-facts > div')
    for (const fact of [/^Targethttp:\/\/127/, /^Seed7$/, /^Nodev24/, /^Withouttranslation$/, /^Observed for2\.0 s$/])
      expect(facts).toContainEqual(expect.stringMatching(fact))
  })

  it('shows the failures first, and expected ones after the others', () => {
    expect(textsOf(page, '.result .check-id')).toEqual(['SIG-02', 'FLW-01', 'SIG-04'])
    expect(page.querySelectorAll('.result[open]')).toHaveLength(1)
    expect(textsOf(page, '#FLW-01 .check-expected')).toEqual([
      'This failure is expected until 2027-01-31: the old gateway',
    ])
  })

  it('shows what happened, what was expected, what to try, and the commands', () => {
    expect(textsOf(page, '#SIG-02 .failure-facts > div')).toEqual([
      'happened The webhook answered 500 to a validly signed REQUESTING TAKEOVER. #2'.replace(' ', ''),
      'expectedThe status is 200.',
      'tryAnswer 200 as soon as the event is stored, also when its content is not used.',
    ])
    expect(textsOf(page, '#SIG-02 .result-rerun code')).toEqual([
      'npx handover-sim certify --explain SIG-02',
      'npx handover-sim certify --only SIG-02 --seed 7',
    ])
    expect(page.querySelector('#SIG-02 a[href="#SIG-02/2"]')).not.toBeNull()
    expect(textsOf(page, '#SIG-02 .check-decisive')[0]).toContain('webhook.json=spaced')
    expect(textsOf(page, '#SIG-02 .folded-list .deciding')).toEqual(['webhook.json=spaced decides'])
    expect(textsOf(page, '#SIG-02 .folded-list li')).toHaveLength(2)
  })

  it('has a timeline of each check with findings, and none of others', () => {
    expect(page.querySelectorAll('.result-diagram')).toHaveLength(3)
    const { entries } = JSON.parse(page.querySelector('#SIG-02 script')!.textContent) as { entries: unknown[] }
    expect(entries.length).toBeGreaterThan(1)
    expect(page.querySelector('#SIG-02 noscript')!.innerHTML).toContain('static-timeline')
  })

  it('lists all checks by profile, with their pass rules and figures', () => {
    expect(textsOf(page, '.check-profile')).toEqual(['webhook 1 of 4 passed', 'flow 0 of 1 passed'])
    expect(textsOf(page, '.check-table tr[data-outcome] > th')).toHaveLength(5)
    expect(textsOf(page, '.check-table tr.pass > th')[0]).toMatch(/^SIG-01 .*The status is 200\.\s*ack: p95 12\.3 ms$/)
    expect(page.querySelector('.check-table .fail a')!.getAttribute('href')).toBe('#SIG-02')
  })

  it('says what was not exercised, what was varied, and what it does not show', () => {
    const section = (title: string) => page.querySelector(`section[aria-labelledby="${title}"]`)!.textContent
    expect(section('open-title')).toMatch(/needs an agent driver.*SIG-03/)
    expect(section('open-title')).toMatch(/profile was not checked.*resilience/)
    expect(section('coverage-title')).toContain('Endpoint (0 of 9)')
    expect(section('varied-title')).toContain('webhook.json spaced in 1 check')
    expect(section('limits-title')).toContain('docs/reference/certification.md')
  })

  it('names the level when there is one', () => {
    const strict = pageOf(certificateReport(PASSED))
    expect(textsOf(strict, 'h1')).toEqual(['Level strict'])
    expect(strict.title).toBe('Level strict')
    expect(strict.querySelectorAll('.certificate-levels .pass:not(.mark)')).toHaveLength(3)
    expect(textsOf(pageOf(certificateReport([], { stopped: 'interrupted' })), 'header .report-notice')).toEqual([
      'Stopped early. interrupted',
    ])
  })

  it('without failures has at most 160 KB, most of them script and style, and no journal', () => {
    const journal = failedResult().journal
    const [bare, full] = [PASSED, PASSED.map(result => ({ ...result, journal }))].map(checks =>
      htmlCertificate(certificateReport(checks)),
    )
    expect(bare!.length).toBeLessThan(160 * 1024)
    expect(full!.length - bare!.length).toBeLessThan(200)
  })
})
