/**
 * Opens pages for tests in one Chromium for all test files of a worker, which ends with the worker, and uses a page again
 * in the next test: a new one costs more than most tests do.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { findChromium, launch } from './chromium.ts'

export const chromium = findChromium()

const VIEWPORT = { width: 1440, height: 900 }
const free: Page[] = []
let launched: Promise<Browser> | null = null

/** Opens a page until the test ends. One with options of its own is not used again. */
export async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  launched ??= launch(chromium!)
  const browser = await launched
  const isUsual = Object.keys(options).length === 0
  const page = (isUsual ? free.pop() : undefined) ?? (await browser.newPage({ viewport: VIEWPORT, ...options }))
  onTestFinished(async () => {
    if (!isUsual || page.isClosed()) return page.close()
    await leave(page)
    free.push(page)
  })
  return page
}

/** Leaves nothing of a test: listeners, routes, what is stored, emulated media, the place of the mouse, connections. */
async function leave(page: Page): Promise<void> {
  page.removeAllListeners()
  page.setDefaultTimeout(30_000)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate(() => {
    if (location.protocol !== 'http:') return
    localStorage.clear()
    sessionStorage.clear()
  })
  await page.goto('about:blank')
  await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null, forcedColors: null })
  await page.setViewportSize(VIEWPORT)
  await page.mouse.move(0, 0)
}
