/** Opens pages for tests, and uses a page again in the next test: a new one costs more than most tests do. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** Opens a page until the test ends. One with options of its own is not used again. */
export type OpenPage = (options?: BrowserContextOptions) => Promise<Page>

export function createPagePool(browser: () => Browser, viewport: { width: number; height: number }): OpenPage {
  const free: Page[] = []
  return async (options = {}) => {
    const isUsual = Object.keys(options).length === 0
    const page = (isUsual ? free.pop() : undefined) ?? (await browser().newPage({ viewport, ...options }))
    onTestFinished(async () => {
      if (!isUsual || page.isClosed()) return page.close()
      await leave(page, viewport)
      free.push(page)
    })
    return page
  }
}

/** Leaves nothing of a test: listeners, routes, what is stored, emulated media, the place of the mouse, connections. */
async function leave(page: Page, viewport: { width: number; height: number }): Promise<void> {
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
  await page.setViewportSize(viewport)
  await page.mouse.move(0, 0)
}
