/** The HTML certificate in a browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { htmlCertificate } from '../../src/pages/web/report/certificate.tsx'
import type { CertificateReport } from '../../src/running/certifier/report.ts'
import {
  BLOCKED,
  certificateReport,
  checkResult,
  failedResult,
  hostileCertificate,
  STOPPED,
  unobservedResult,
  warnedResult,
} from '../reporters/certificates.ts'
import { HOSTILE } from '../reporters/hostile.ts'
import { axeViolations, chromium, lowContrastInDark, openAll, openFile } from './inspector-page.ts'

const sample = () =>
  certificateReport(
    [
      checkResult({ id: 'SIG-01' }, { measurements: { ack_p95_ms: 12.345 } }),
      failedResult({ id: 'SIG-02' }),
      { ...warnedResult({ id: 'SIG-03' }), rotated: { 'webhook.json': 'spaced' } },
      unobservedResult({ id: 'FLW-01', profile: 'flow' }),
      checkResult({ id: 'FLW-02', profile: 'flow' }),
    ],
    { profiles: ['webhook', 'flow'] },
  )

const open = (certificate: CertificateReport) => openFile(htmlCertificate(certificate))
const shownChecks = (page: Page) =>
  page
    .locator('.check-table tr[data-outcome]:visible > th')
    .evaluateAll(all => all.map(one => one.textContent.slice(0, 6)))

/** The elements that make the page scroll sideways. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const wide = [...document.querySelectorAll('main *')].filter(
      part => scrollWidth > clientWidth && part.getBoundingClientRect().right > clientWidth,
    )
    return wide.map(part => `${part.className} ${part.outerHTML.slice(0, 80)}`).slice(-5)
  })

describe.skipIf(chromium === null)('the certificate in a browser', () => {
  it('leads with the cause, what to do, and the checks that it stopped, folded', async () => {
    const { page } = await open(BLOCKED)
    expect(await page.locator('h1').innerText()).toBe('No level: 2 of 5 checks failed, 2 are blocked')
    const cause = page.locator('h1 + article')
    expect(await cause.getByRole('heading').innerText()).toBe(
      'SIG-01 The webhook answered 500 to a validly signed REQUESTING TAKEOVER.',
    )
    expect(await cause.innerText()).toContain('Answer 200 as soon as the event is stored')
    const folded = cause.getByText('SIG-02 An event has no effect')
    expect(await folded.isVisible()).toBe(false)
    await cause.getByText(STOPPED).click()
    expect(await folded.isVisible()).toBe(true)
    expect(await cause.locator('li').allInnerTexts()).toContain('SIG-02 An event has no effect: blocked')
    // The check that stopped others is open, and not the first that failed.
    expect(await page.locator('.result[open] .check-id').allTextContents()).toEqual(['SIG-01'])
    await page.locator('.result-chip.blocked').click()
    expect(await shownChecks(page)).toEqual(['SIG-02', 'SIG-03'])
    expect(await axeViolations(page)).toEqual([])
    expect(await lowContrastInDark(page)).toEqual([])
  })

  it('filters the checks by outcome and words, and hides profiles without any', async () => {
    const { page } = await open(sample())
    await page.locator('.result-chip.inconclusive').click()
    expect(await shownChecks(page)).toEqual(['FLW-01'])
    expect(await page.locator('.check-profile:visible').allTextContents()).toEqual(['flow 1 of 2 passed'])
    await page.locator('.result-chip.all').click()
    await page.keyboard.press('/')
    await page.keyboard.type('ack p95')
    expect(await shownChecks(page)).toEqual(['SIG-01'])
    expect(await page.locator('#status').textContent()).toBe('1 of 5 checks shown')
    await page.keyboard.type(' nowhere')
    await page.getByRole('button', { name: 'Show all' }).click()
    expect(await shownChecks(page)).toHaveLength(5)
  })

  it('has no violation of axe and enough contrast, light and dark, and fits into 320 pixels', async () => {
    const { page } = await open(sample())
    await openAll(page)
    expect(await axeViolations(page)).toEqual([])
    expect(await lowContrastInDark(page)).toEqual([])
    for (const width of [1600, 700, 320]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await tooWide(page)).toEqual([])
    }
    expect(await axeViolations(page)).toEqual([])
  })

  it('shows hostile texts as text', async () => {
    const { page } = await open(hostileCertificate(HOSTILE.join(' ')))
    await openAll(page)
    await page.evaluate(() => {
      for (const row of document.querySelectorAll<HTMLElement>('.diagram-row')) row.click()
    })
    expect(await page.locator('.diagram-row').count()).toBeGreaterThan(5)
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await tooWide(page)).toEqual([])
  })
})
