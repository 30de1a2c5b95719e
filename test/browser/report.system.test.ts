/** The HTML report of a run in a browser. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../src/evaluation/evaluator/verdict.ts'
import { htmlReport } from '../../src/pages/web/report/run-report.tsx'
import { Journal, result, scenarioResult } from '../reporters/run-results.ts'
import { escapedPlay } from '../reporters/samples.ts'
import { hostileRun, sample } from '../web/report/sample.ts'
import { axeViolations, button, chromium, lowContrastInDark, openAll, openFile, press } from './inspector-page.ts'

const open = (report: RunResult, hash = '', options: BrowserContextOptions = {}) =>
  openFile(htmlReport(report), hash, options)

const current = (page: Page) =>
  page.evaluate(() => document.activeElement?.querySelector('.diagram-seq')?.textContent ?? null)
const visibleNames = (page: Page) => page.locator('.result:visible .result-name b').allTextContents()
const panelTitle = (page: Page) => page.locator('#panel:visible h3').textContent()

describe.skipIf(chromium === null)('the report in a browser', () => {
  it('makes no request and has no error with hostile content', async () => {
    const { page } = await open(hostileRun())
    await openAll(page)
    await page.evaluate(() => {
      for (const row of document.querySelectorAll<HTMLElement>('.diagram-row')) row.click()
    })
    expect(await page.locator('.diagram-row').count()).toBeGreaterThan(20)
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)
    expect(await page.locator('img, iframe, b[onclick]').count()).toBe(0)
  })

  it('is used with the keyboard alone', async () => {
    const { page } = await open(sample())
    const focusedText = () => page.evaluate(() => document.activeElement!.textContent)
    await press(page, 'Tab')
    expect(await focusedText()).toBe('Skip to the scenarios')
    await press(page, 'Enter', 'Tab')
    expect(await focusedText()).toBe('all 6')
    await page.locator('.result > summary').first().focus()
    await press(page, 'j', 'ArrowDown', 'k', 'Enter')
    const opened = page.locator('.result[open] .result-name b')
    expect(await opened.allTextContents()).toEqual(['Happy path', 'Two chats'])

    await page.locator('.diagram-row').first().focus()
    await press(page, 'j', 'ArrowDown', 'ArrowDown', 'k')
    expect(await current(page)).toBe('#4')
    const outline = await page.evaluate(() => {
      const { borderStyle, borderWidth } = getComputedStyle(document.activeElement!, '::after')
      return `${borderStyle} ${borderWidth}`
    })
    expect(outline).toBe('solid 2px')
    await press(page, 'Enter')
    expect(await panelTitle(page)).toBe('REQUESTING TAKEOVER')
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('panel')
    expect(await page.locator('#panel .entry-details').count()).toBe(2)
    expect(page.url()).toMatch(/#happy-path\/4$/)
    await press(page, 'j')
    expect(await panelTitle(page)).toBe('step 5: agent accept')
    await press(page, 'Escape')
    expect(await page.locator('#panel').isVisible()).toBe(false)
    expect(await current(page)).toBe('#7')
    await press(page, 'f')
    expect(await current(page)).toBe('#12')
    await press(page, 'f', 'f', 'Shift+F')
    expect(await current(page)).toBe('#14')
    await press(page, 'Home')
    expect(await current(page)).toBe('#2')
    await press(page, 'End')
    expect(await current(page)).toBe('#14')
  })

  it('opens the first failure, draws others when they are opened, and shows the answer of a clicked row', async () => {
    const { page } = await open(sample(), '', { permissions: ['clipboard-read', 'clipboard-write'] })
    expect(await page.locator('.result[open] .result-name b').allTextContents()).toEqual(['Happy path'])
    expect(await page.locator('.diagram-rows').count()).toBe(1)
    await page.getByText('Two chats').first().click()
    await expect.poll(() => page.locator('.diagram-rows').count()).toBe(2)
    const panel = page.locator('#panel')
    await page.locator('.diagram-row', { hasText: 'POST message "I' }).click()
    await panel
      .getByText(/^\d+ headers$/)
      .first()
      .click()
    for (const part of ['"I&#39;m Anna"', 'Bearer ***', 'desk-bridge/2.1', 'Answer 200'])
      expect(await panel.innerText()).toContain(part)
    await button(page, 'Previous row').click()
    expect(await panelTitle(page)).toMatch(/^step 7/)
    await button(page, 'Close').click()
    expect(await panel.isVisible()).toBe(false)
    await button(page, 'Copy the command').first().click()
    await page.getByText('Copied', { exact: true }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe('npx handover-sim run scenarios/happy.yaml --seed 1')
  })

  it('filters scenarios by outcome and by words', async () => {
    const { page } = await open(sample())
    await page.locator('.result-chip.pass').click()
    expect(await visibleNames(page)).toEqual(['Closed hours', 'A busy platform is asked again'])
    await press(page, '/')
    await page.keyboard.type('BUSY resilience')
    expect(await visibleNames(page)).toEqual(['A busy platform is asked again'])
    expect(await page.locator('#status').textContent()).toBe('1 of 6 scenarios shown')
    await page.keyboard.type(' nowhere')
    expect(await visibleNames(page)).toEqual([])
    await button(page, 'Show all').click()
    expect(await visibleNames(page)).toHaveLength(6)
    expect(await page.locator('.result-chip[aria-pressed=true]').textContent()).toBe('all 6')
  })

  it('opens the linked scenario and row, whose timeline is filtered by chat', async () => {
    const { page } = await open(sample(), '#two-chats-run-2/6')
    expect(await panelTitle(page)).toContain('POST message')
    expect(await current(page)).toBe('#6')
    await press(page, 'Escape')
    const timeline = page.locator('.result[open]', { hasText: 'Two chats' })
    const chats = () => timeline.locator('.diagram-row:visible .diagram-chat').allTextContents()
    await expect.poll(chats).toEqual(expect.arrayContaining(['main', 'bo']))
    await timeline.locator('select').selectOption('bo')
    expect(await chats()).not.toContain('main')
    expect(await chats()).toContain('bo')
    await timeline.locator('select').selectOption('all')
    expect(await chats()).toContain('main')
    await page.locator('#happy-path a.entry-seq', { hasText: '#12' }).first().click()
    expect(await panelTitle(page)).toContain('POST message')
    await press(page, 'Escape')
    await page.locator('.report-table a', { hasText: 'Closed hours' }).first().click()
    await expect.poll(() => page.locator('#closed-hours').getAttribute('open')).not.toBeNull()
    const [url] = page.url().split('#')
    for (const hash of ['#%', '#nothing/3', '#happy-path/99999', '#/1', '#panel']) {
      await page.goto('about:blank')
      await page.goto(`${url}${hash}`)
      expect(await page.locator('#panel').isVisible(), hash).toBe(false)
    }
  })

  it('is readable without JavaScript', async () => {
    const { page } = await open(sample(), '', { javaScriptEnabled: false })
    expect(await page.locator('.result-filter').isVisible()).toBe(false)
    expect(await page.getByText('only HTML escaping differs').first().isVisible()).toBe(true)
    expect(await page.locator('#happy-path .static-timeline tbody tr').count()).toBeGreaterThan(5)
    await page.getByText('Closed hours').first().click()
    expect(await page.locator('#closed-hours .step').first().isVisible()).toBe(true)
  })

  it('has enough contrast, no violation of axe, and no page wider than the window', async () => {
    const { page } = await open(sample())
    await openAll(page)
    await page.locator('.diagram-row.failed').first().click()
    expect(await lowContrastInDark(page)).toEqual([])
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(await paper()).toBe('rgb(251, 250, 248)')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await paper()).toBe('rgb(21, 23, 26)')
    expect(await axeViolations(page)).toEqual([])
    await press(page, 'Escape')
    expect(await axeViolations(page)).toEqual([])
    for (const width of [1600, 1000, 700, 360]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    }
  })

  it('has no animation with reduced motion, and opens failures for print', async () => {
    const { page } = await open(sample(), '', { reducedMotion: 'reduce' })
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
    expect(await page.locator('.report-skip').evaluate(skip => getComputedStyle(skip).transitionDuration)).toBe('0s')
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.result[open]').count()).toBe(3)
    expect(await page.locator('.result-filter').isVisible()).toBe(false)
  })

  it('draws nothing of 200 scenarios but the one that is open', async () => {
    const scenarios = Array.from({ length: 199 }, (_, index) => ({ ...escapedPlay(), name: `Scenario ${index}` }))
    const { page } = await open(result([escapedPlay(), ...scenarios]))
    expect(await page.locator('.result').count()).toBe(200)
    expect(await page.locator('.result-diagram:not(:empty)').count()).toBe(1)
    await page.locator('#scenario-198 > summary').click()
    await expect.poll(() => page.locator('.result-diagram:not(:empty)').count()).toBe(2)
  })

  it('follows cause and effects in the panel', async () => {
    const log = new Journal()
    const cause = log.call('start')
    log.call('message', { message: 'Hi' }, { cause })
    const { page } = await open(result([scenarioResult({ outcome: 'fail', journal: log.entries })]), '#happy-path/2')
    const link = (name: string) => page.locator('#panel').getByRole('button', { name, exact: true })
    await link('#1').click()
    expect(await panelTitle(page)).toBe('POST start')
    expect(page.url()).toMatch(/#happy-path\/1$/)
    await link('#2').click()
    expect(await panelTitle(page)).toBe('POST message "Hi"')
  })

  it('stays usable with thousands of rows', async () => {
    const log = new Journal()
    for (let count = 0; count < 5000; count++) log.at(count).call('message', { message: `Message ${count}` })
    const long = scenarioResult({ outcome: 'fail', journal: log.entries })
    const { page } = await open(result([long]), '#happy-path/4999')
    expect(await current(page)).toBe('#4999')
    await press(page, 'j')
    expect(await panelTitle(page)).toContain('Message 4999')
    expect(await page.locator('.diagram-row').count()).toBe(5000)
    await page.locator('.diagram-row', { hasText: 'Message 4999' }).waitFor({ state: 'visible' })
  })
})
