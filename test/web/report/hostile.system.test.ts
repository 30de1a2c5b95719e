/** Whatever texts a run or a certificate contains, its page shows them as texts. */
import * as fc from 'fast-check'
// @ts-expect-error: jsdom has no types
import { JSDOM } from 'jsdom'
import { expect, it } from 'vitest'
import { htmlCertificate } from '../../../src/pages/web/report/certificate.tsx'
import { htmlReport } from '../../../src/pages/web/report/run-report.tsx'
import { scriptJson } from '../../../src/pages/web/report/timeline-data.tsx'
import { hostileCertificate } from '../../reporters/certificates.ts'
import { anyText, HOSTILE, UNSEEN } from '../../reporters/hostile.ts'
import { result, scenarioResult } from '../../reporters/run-results.ts'
import { HOSTILE_MARKUP, hostileRun } from './sample.ts'

const parse = (markup: string): Document => new JSDOM(markup).window.document
const tagsOf = (page: Document) => [...page.querySelectorAll('*')].map(({ tagName }) => tagName).sort()

const TEXTS = [...HOSTILE_MARKUP, ...HOSTILE]
const text = fc.oneof(fc.constantFrom(...TEXTS), anyText)

it.each([
  ['run', (text: string) => htmlReport(hostileRun([text]))],
  ['certificate', (text: string) => htmlCertificate(hostileCertificate(text))],
])('texts of a %s add no element, and show invisible characters by their code', (_what, render) => {
  const plain = tagsOf(parse(render('plain')))
  const check = (text: string) => {
    const page = parse(render(`plain ${text}`))
    expect(tagsOf(page)).toEqual(plain)
    for (const element of page.querySelectorAll('script, style, noscript')) element.remove()
    expect(page.documentElement.textContent).not.toMatch(UNSEEN)
    expect(page.documentElement.textContent).toContain('plain ')
  }
  fc.assert(fc.property(text, check), { examples: TEXTS.map((one): [string] => [one]), numRuns: TEXTS.length + 10 })
})

it('a command is copied as it is, and shown with its invisible characters', () => {
  const page = parse(htmlReport(result([scenarioResult({ outcome: 'fail', rerunCommand: 'run "a\u202E<b"' })])))
  expect(page.querySelector('.result-copy')!.getAttribute('data-text')).toBe('run "a\u202E<b"')
  expect(page.querySelector('.result-rerun code')!.textContent).toBe('run "a<U+202E><b"')
})

it('JSON is preserved and cannot end its script', () => {
  fc.assert(
    fc.property(fc.jsonValue(), text, (value, text) => {
      const json = scriptJson([value, text])
      expect(json).not.toMatch(/[<\u2028\u2029]/)
      expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify([value, text]))
    }),
  )
})
