import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunReport } from '../../src/evaluation/evaluator/wording/report.ts'
import { htmlReport } from '../../src/pages/web/report/run-report.tsx'
import { createTape } from '../web/report/journal-recorder.ts'
import { hostile, sample, wrongText } from '../web/report/sample.ts'
import { run, scenarioResult } from '../web/report/verdicts.ts'
import { launch } from './chromium.ts'
import { lowContrastTexts } from './contrast.ts'
import { axeViolations, chromium } from './inspector-page.ts'
import { createPagePool } from './page-pool.ts'

const openPage = createPagePool(() => browser, { width: 1300, height: 900 })
const folder = mkdtempSync(join(tmpdir(), 'report-'))
let browser: Browser

beforeAll(async () => {
  if (chromium !== null) browser = await launch(chromium)
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})

let files = 0
interface OpenReport {
  readonly page: Page
  /** URLs that the page requested beside itself. */
  readonly requests: string[]
  /** Console messages, uncaught errors and dialogs of the page. */
  readonly problems: string[]
}

async function open(result: RunReport, hash = '', options: BrowserContextOptions = {}): Promise<OpenReport> {
  const file = join(folder, `report-${++files}.html`)
  writeFileSync(file, htmlReport(result))
  const page = await openPage(options)
  const url = pathToFileURL(file).href
  const [requests, problems]: string[][] = [[], []]
  page.on('request', request => request.url().startsWith(url) || requests!.push(request.url()))
  page.on('console', message => problems!.push(message.text()))
  page.on('pageerror', error => problems!.push(String(error)))
  page.on('dialog', dialog => problems!.push(`dialog ${dialog.message()}`))
  await page.goto(`${url}${hash}`)
  return { page, requests: requests!, problems: problems! }
}

const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const scenarioResult of document.querySelectorAll('details')) scenarioResult.open = true
  })
  await expect.poll(() => page.locator('.result-diagram:empty').count()).toBe(0)
}
const current = (page: Page) =>
  page.evaluate(() => document.activeElement?.querySelector('.diagram-seq')?.textContent ?? null)
const visibleNames = (page: Page) => page.locator('.result:visible .result-name b').allTextContents()
const panelTitle = (page: Page) => page.locator('#panel:visible h3').textContent()

describe.skipIf(chromium === null)('the report in a browser', () => {
  it('makes no request and has no error with hostile content', async () => {
    const { page, requests, problems } = await open(hostile())
    await openAll(page)
    await page.evaluate(() => {
      for (const row of document.querySelectorAll<HTMLElement>('.diagram-row')) row.click()
    })
    expect(await page.locator('.diagram-row').count()).toBeGreaterThan(20)
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)
    expect(await page.locator('img, iframe, b[onclick]').count()).toBe(0)
    expect({ requests, problems }).toEqual({ requests: [], problems: [] })
  })

  it('opens the first failure, and draws a timeline when it is opened', async () => {
    const { page } = await open(sample())
    expect(await page.locator('.result[open] .result-name b').allTextContents()).toEqual(['Happy path'])
    expect(await page.locator('.diagram-rows').count()).toBe(1)
    await page.getByText('Two chats at once').first().click()
    await expect.poll(() => page.locator('.diagram-rows').count()).toBe(2)
    expect(await page.locator('.diagram-rows .sequence-arrow').count()).toBeGreaterThan(10)
  })

  describe('with the keyboard alone', () => {
    it('skips to the scenarios with the first Tab', async () => {
      const { page } = await open(sample())
      await press(page, 'Tab')
      expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('Skip to the scenarios')
      await press(page, 'Enter', 'Tab')
      expect(await page.evaluate(() => document.activeElement!.textContent)).toBe('all 6')
    })

    it('moves between scenarios and opens one', async () => {
      const { page } = await open(sample())
      await page.locator('.result > summary').first().focus()
      await press(page, 'j', 'ArrowDown', 'k', 'Enter')
      expect(await page.locator('.result[open] .result-name b').allTextContents()).toEqual([
        'Happy path',
        'Two chats at once',
      ])
    })

    it('moves between rows, opens the entries of one, and returns to it', async () => {
      const { page } = await open(sample())
      await page.locator('.diagram-row').first().focus()
      await press(page, 'j', 'ArrowDown', 'ArrowDown', 'k')
      expect(await current(page)).toBe('#3')
      await press(page, 'Enter')
      expect(await panelTitle(page)).toBe('REQUESTING TAKEOVER')
      expect(await page.evaluate(() => document.activeElement!.id)).toBe('panel')
      expect(await page.locator('#panel .entry-details').count()).toBe(2)
      expect(page.url()).toMatch(/#happy-path\/3$/)
      await press(page, 'j')
      expect(await panelTitle(page)).toBe('step 2: agent accept')
      await press(page, 'Escape')
      expect(await page.locator('#panel').isVisible()).toBe(false)
      expect(await current(page)).toBe('#6')
    })

    it('jumps to failures, to the first row and to the last row', async () => {
      const { page } = await open(sample())
      await page.locator('.diagram-row').first().focus()
      await press(page, 'f')
      expect(await current(page)).toBe('#21')
      await press(page, 'f', 'f', 'Shift+F')
      expect(await current(page)).toBe('#22')
      await press(page, 'Home')
      expect(await current(page)).toBe('#1')
      await press(page, 'End')
      expect(await current(page)).toBe('#22')
    })

    it('outlines the focused row', async () => {
      const { page } = await open(sample())
      await page.locator('.diagram-row').first().focus()
      await press(page, 'j')
      const outline = await page.evaluate(() => {
        const { borderStyle, borderWidth } = getComputedStyle(document.activeElement!, '::after')
        return `${borderStyle} ${borderWidth}`
      })
      expect(outline).toBe('solid 2px')
    })
  })

  it('shows request, answer and headers of a clicked row, and moves to the previous row', async () => {
    const { page } = await open(sample())
    await page.locator('.diagram-row', { hasText: 'POST message' }).click()
    await page
      .locator('#panel')
      .getByText(/^\d+ headers$/)
      .first()
      .click()
    const text = await page.locator('#panel').innerText()
    for (const part of [
      'POST /api/v2/handover/message/',
      '"I&#39;m Anna"',
      'Bearer ***',
      'desk-bridge/2.1',
      'Answer 200',
    ])
      expect(text).toContain(part)
    await page.getByRole('button', { name: 'Previous row' }).click()
    expect(await panelTitle(page)).toMatch(/^step 6/)
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await page.locator('#panel').isVisible()).toBe(false)
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
    await page.getByRole('button', { name: 'Show all' }).click()
    expect(await visibleNames(page)).toHaveLength(6)
    expect(await page.locator('.result-chip[aria-pressed=true]').textContent()).toBe('all 6')
  })

  it('filters a timeline by chat', async () => {
    const { page } = await open(sample(), '#two-chats-at-once-run-2')
    const timeline = page.locator('.result[open]', { hasText: 'Two chats' })
    const chats = () => timeline.locator('.diagram-row:visible .diagram-chat').allTextContents()
    await expect.poll(async () => new Set(await chats())).toEqual(new Set(['ada', 'bo']))
    await timeline.locator('select').selectOption('bo')
    expect(new Set(await chats())).toEqual(new Set(['bo']))
    await timeline.locator('select').selectOption('all')
    expect(new Set(await chats())).toEqual(new Set(['ada', 'bo']))
  })

  it('opens the linked scenario and row', async () => {
    const { page } = await open(sample(), '#two-chats-at-once-run-2/17')
    expect(await panelTitle(page)).toContain('POST message')
    expect(await current(page)).toBe('#17')
    await press(page, 'Escape')
    await page.locator('#happy-path .step a.entry-seq', { hasText: '#10' }).click()
    expect(await panelTitle(page)).toBe('POST start')
    await press(page, 'Escape')
    await page.locator('.report-table a', { hasText: 'Closed hours' }).first().click()
    await expect.poll(() => page.locator('#closed-hours').getAttribute('open')).not.toBeNull()
  })

  it('ignores links to unknown scenarios and rows', async () => {
    const { page, problems } = await open(sample())
    const url = page.url()
    for (const hash of ['#%', '#nothing/3', '#happy-path/99999', '#/1', '#panel']) {
      await page.goto('about:blank')
      await page.goto(`${url}${hash}`)
      expect(await page.locator('#panel').isVisible(), hash).toBe(false)
      expect(problems, hash).toEqual([])
    }
  })

  it('copies the command that reruns a scenario', async () => {
    const { page } = await open(sample(), '', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('button', { name: 'Copy the command' }).first().click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      'npx handover-sim run scenarios/happy.yaml --seed 1',
    )
  })

  it('is readable without JavaScript', async () => {
    const { page } = await open(sample(), '', { javaScriptEnabled: false })
    expect(await page.locator('.result-filter').isVisible()).toBe(false)
    expect(await page.getByText('only HTML escaping differs').first().isVisible()).toBe(true)
    expect(await page.locator('#happy-path .static-timeline tbody tr').count()).toBeGreaterThan(10)
    await page.getByText('Closed hours').first().click()
    expect(await page.locator('#closed-hours .step').first().isVisible()).toBe(true)
  })

  it('has enough contrast in every text, light and dark', async () => {
    const { page } = await open(sample())
    await openAll(page)
    await page.locator('.diagram-row.failed').first().click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const { measured, failing } = await page.evaluate(lowContrastTexts)
      expect(measured).toBeGreaterThan(150)
      expect(failing).toEqual([])
      const paper = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
      expect(paper).toBe(colorScheme === 'dark' ? 'rgb(21, 23, 26)' : 'rgb(251, 250, 248)')
    }
  })

  it('does not scroll sideways in windows of 1600, 1000, 700 and 360 pixels', async () => {
    const { page } = await open(sample())
    await openAll(page)
    for (const width of [1600, 1000, 700, 360]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    }
  })

  it('has no violation of the rules of axe, with an open panel and without one', async () => {
    const { page } = await open(sample())
    await openAll(page)
    expect(await axeViolations(page)).toEqual([])
    await page.locator('.diagram-row', { hasText: 'POST message' }).first().click()
    await page.locator('#panel').waitFor()
    expect(await axeViolations(page)).toEqual([])
  })

  it('names every control, and nests its headings correctly', async () => {
    const { page } = await open(sample())
    await page.locator('.diagram-row').first().click()
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, summary, [role=listbox], [role=option], [role=img], aside')]
        .filter(part => part.checkVisibility())
        .filter(part => {
          const named = part.getAttribute('aria-labelledby')
          const text = named === null ? part.textContent : document.getElementById(named)!.textContent
          return (
            `${part.getAttribute('aria-label') ?? ''}${text}${part.closest('label')?.textContent ?? ''}`.trim() === ''
          )
        })
        .map(part => part.outerHTML.slice(0, 80)),
    )
    expect(nameless).toEqual([])
    const levels = await page
      .locator('h1, h2, h3, h4, h5')
      .evaluateAll(all => all.map(({ tagName }) => Number(tagName[1])))
    expect(levels.filter(level => level === 1)).toHaveLength(1)
    expect(levels.filter((level, index) => index > 0 && level > levels[index - 1]! + 1)).toEqual([])
    const ids = await page.locator('[id]').evaluateAll(all => all.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has no animation with reduced motion, and opens failures for print', async () => {
    const { page } = await open(sample(), '', { reducedMotion: 'reduce' })
    const moving = await page.evaluate(() => document.getAnimations().length)
    expect(moving).toBe(0)
    expect(await page.locator('.report-skip').evaluate(skip => getComputedStyle(skip).transitionDuration)).toBe('0s')
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.result[open]').count()).toBe(3)
    expect(await page.locator('.result-filter').isVisible()).toBe(false)
  })

  it('draws nothing of 200 scenarios but the one that is open', async () => {
    const passed = Array.from({ length: 199 }, (_, index) => ({
      ...wrongText(),
      name: `Scenario ${index}`,
      instance: 2,
    }))
    const { page } = await open(run([wrongText(), ...passed]))
    expect(await page.locator('.result').count()).toBe(200)
    expect(await page.locator('.result-diagram:not(:empty)').count()).toBe(1)
    await page.locator('#scenario-198-run-2 > summary').click()
    await expect.poll(() => page.locator('.result-diagram:not(:empty)').count()).toBe(2)
  })

  it('follows cause and effects in the panel', async () => {
    const recorder = createTape()
    const first = recorder.call('start', 'c')
    recorder.call('message', 'c', { message: 'Hi' }, { cause: first })
    const linked = scenarioResult('Linked', 'fail', { journal: recorder.entries, conversations: { main: 'c' } })
    const { page } = await open(run([linked]), '#linked/2')
    const link = (name: string) => page.locator('#panel').getByRole('button', { name, exact: true })
    await link('#1').click()
    expect(await panelTitle(page)).toBe('POST start')
    expect(page.url()).toMatch(/#linked\/1$/)
    await link('#2').click()
    expect(await panelTitle(page)).toBe('POST message "Hi"')
  })

  it('stays usable with thousands of rows', async () => {
    const recorder = createTape()
    for (let count = 0; count < 5000; count++) {
      recorder.at(count)
      recorder.call('message', 'c', { message: `Message ${count}` })
    }
    const long = scenarioResult('Long', 'fail', { journal: recorder.entries, conversations: { main: 'c' } })
    const { page } = await open(run([long, wrongText()]), '#long/4999')
    expect(await current(page)).toBe('#4999')
    await press(page, 'j')
    expect(await panelTitle(page)).toContain('Message 4999')
    expect(await page.locator('#long .diagram-row').count()).toBe(5000)
    await page.locator('#long .diagram-row', { hasText: 'Message 4999' }).waitFor({ state: 'visible' })
  })
})
