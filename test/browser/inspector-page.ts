/** Opens the inspector in Chromium, and fails a test when the page logs an error, breaks its policy, or calls another server. */
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import {
  type ControlExtension,
  type PlatformServer,
  type PlatformServerOptions,
  startServer,
} from '../../src/server/start.ts'
import { ROOT } from '../architecture/files.ts'
import { findChromium, launch } from './chromium.ts'
import { createPagePool } from './page-pool.ts'

export const chromium = findChromium()

export interface OpenInspector {
  readonly page: Page
  /** What went wrong in the page. A test may empty it when it caused the problem on purpose. */
  readonly problems: string[]
}

/** Launches one browser for a test file. Call it at the top of the file. */
export function useBrowser() {
  let browser: Browser
  beforeAll(async () => {
    if (chromium !== null) browser = await launch(chromium)
  })
  afterAll(() => browser?.close())
  const openPage = createPagePool(() => browser, { width: 1440, height: 900 })
  return async (url: string, options: BrowserContextOptions = {}): Promise<OpenInspector> => {
    const page = await openPage(options)
    const problems = watchProblems(page, new URL(url).origin)
    onTestFinished(() => expect(problems).toEqual([]))
    await page.goto(url)
    return { page, problems }
  }
}

/** Refusals of the platform are answers, which Chromium logs as failed loads. */
const LOGGED_ANSWER = /^Failed to load resource: the server responded with a status of 4/

function watchProblems(page: Page, origin: string): string[] {
  const problems: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !LOGGED_ANSWER.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) problems.push(`request to ${url.href}`)
  })
  return problems
}

/** Starts a simulator on a free port, until the test ends. */
export async function startInspected(
  options: PlatformServerOptions = {},
  more: ControlExtension = {},
): Promise<PlatformServer> {
  const server = await startServer({ port: 0, ...options }, undefined, undefined, more)
  onTestFinished(() => server.close())
  return server
}

/** How many animations and transitions run. */
export const runningAnimations = (page: Page): Promise<number> => page.evaluate(() => document.getAnimations().length)

const AXE = `${ROOT}node_modules/axe-core/axe.min.js`

/** What axe finds, as texts: the rule, and the elements that break it. */
export async function axeViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE, 'utf8'))
  const found = await page.evaluate(async () => {
    // @ts-expect-error axe is a global of the page.
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    return violations as { id: string; help: string; nodes: { html: string }[] }[]
  })
  return found.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}
