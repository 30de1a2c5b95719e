/** Opens the inspector in Chromium, and fails a test when the page logs an error, breaks its policy, or calls another server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { ControlExtension, PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { startServer } from '../../src/server/start.ts'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { openPage } from './page-pool.ts'

export { chromium } from './page-pool.ts'

export interface OpenInspector {
  readonly page: Page
  /** What went wrong in the page. A test may empty it when it caused the problem on purpose. */
  readonly problems: string[]
}

/** Opens an address until the test ends. */
export async function open(url: string, options: BrowserContextOptions = {}): Promise<OpenInspector> {
  const page = await openPage(options)
  const problems = watchProblems(page, new URL(url).origin)
  onTestFinished(() => expect(problems).toEqual([]))
  await page.goto(url)
  return { page, problems }
}

/** Opens a report, which is one file. */
export async function openFile(html: string, hash = '', options: BrowserContextOptions = {}): Promise<OpenInspector> {
  return open(`${pathToFileURL(join(folderWith({ 'report.html': html }), 'report.html'))}${hash}`, options)
}

export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Opens everything that is folded in a report. */
export async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  await expect.poll(() => page.locator('.result-diagram:empty').count()).toBe(0)
}

/** A button by its whole name, or by a part of it. */
export const button = (scope: Page | Locator, name: string | RegExp) =>
  scope.getByRole('button', { name, exact: typeof name === 'string' })

/** Waits until a text, or the part of one, is shown. */
export const sees = (scope: Page | Locator, text: string | RegExp) => scope.getByText(text).first().waitFor()

/** The rows of the list that is shown: entries, or what happened in a test. */
export const rows = (page: Page) => page.getByRole('listbox').getByRole('option')

/** The messages of the chat that is shown. */
export const messagesOf = (page: Page) => page.getByRole('list', { name: 'Messages' })

/** The details of the entry that is selected. */
export const detailsOf = (page: Page) => page.getByRole('region', { name: /^Entr(y|ies) / })

/** Whether the element has the focus. Runs inside the page. */
export const isFocused = (element: Element): boolean => element === document.activeElement

/** Calls the platform as an intermediary does. */
export const callPlatform = (
  { url, apiKey, botId }: Pick<PlatformServer, 'url' | 'apiKey' | 'botId'>,
  path: string,
  body: object,
  key = apiKey,
) =>
  fetch(`${url}/api/v2/handover/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: botId, ...body }),
  })

/** Refusals of the platform are answers, which Chromium logs as failed loads. */
const LOGGED_ANSWER = /^Failed to load resource: the server responded with a status of 4/

function watchProblems(page: Page, origin: string): string[] {
  const problems: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !LOGGED_ANSWER.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('dialog', dialog => problems.push(`dialog ${dialog.message()}`))
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

/** What axe finds, as texts: the rule, and the elements that break it. With names of rules, only these are tried. */
export async function axeViolations(page: Page, ...rules: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE, 'utf8'))
  const found = await page.evaluate(async runOnly => {
    const options = { resultTypes: ['violations'], ...(runOnly.length > 0 && { runOnly }) }
    // @ts-expect-error axe is a global of the page.
    const { violations } = await axe.run(document, options)
    return violations as { id: string; help: string; nodes: { html: string }[] }[]
  }, rules)
  return found.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

/** The texts that have too little contrast in dark colours; every other look of axe is at the light ones. */
export async function lowContrastInDark(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  const found = await axeViolations(page, 'color-contrast')
  await page.emulateMedia({ colorScheme: 'light' })
  return found
}
