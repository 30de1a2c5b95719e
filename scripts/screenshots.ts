/** Takes the pictures of docs/images/ in Chromium: plays a handover, and opens what the pages of the documentation show. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { startSimulator } from '../src/index.ts'

const root = new URL('..', import.meta.url).pathname
const folder = `${root}docs/images`
mkdirSync(folder, { recursive: true })

/** Expects a text that the agent of the scenario does not write. */
const FAILING = `version: 1
name: Lost parcel
description: The agent answers a question about a parcel.
tags: [flow]
steps:
  - user: Where is my parcel?
  - press: handover
  - agent: accept
  - expect: { start: { sender: { name: Anna } } }
  - agent: { says: It leaves Oslo today. }
  - expect: { message: { message: It leaves Bergen today. } }
  - agent: leave
  - expect: end
`

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--lang=en'],
})

try {
  if (!process.argv.includes('--scenarios')) await takeHandover()
  if (!process.argv.includes('--scenarios')) await takeRefusedWebhook()
  await takeScenarios()
} finally {
  await browser.close()
}

async function open(url: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 }, colorScheme, reducedMotion: 'reduce' })
  page.setDefaultTimeout(20_000)
  await page.goto(url)
  return page
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${folder}/${name}.png` })
}

/** A handover by hand, and an earlier moment of it. */
async function takeHandover(): Promise<void> {
  const server = await startSimulator({ port: 0 })
  const page = await open(server.url, 'light')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await say(page, 'user', 'Hello, where is my parcel?')
  await page.getByRole('button', { name: 'Ask for a person' }).click()
  await page.getByRole('button', { name: 'Accept' }).first().click()
  await say(page, 'agent', 'Hi, I am Anna. It leaves Oslo today.')
  await page.getByText('It leaves Oslo today').first().waitFor()
  await page.getByRole('option', { name: /POST start/ }).click()
  await page.getByText('Valid.').waitFor()
  await take(page, 'inspector')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('button', { name: 'Show this moment' }).click()
  await page.getByRole('button', { name: 'Platform', exact: true }).click()
  await page.getByRole('heading', { name: 'Business hours' }).waitFor()
  await take(page, 'time-travel')
  await page.close()
  await server.close()
}

/** An intermediary that compares the signature with another key. */
async function takeRefusedWebhook(): Promise<void> {
  const intermediary = createServer((request, response) => {
    request.resume()
    response.writeHead(401, { 'content-type': 'text/plain' }).end('invalid signature')
  })
  await new Promise<void>(resolve => intermediary.listen(0, '127.0.0.1', resolve))
  const { port } = intermediary.address() as AddressInfo
  const server = await startSimulator({ port: 0, webhook: { url: `http://127.0.0.1:${port}/webhook` } })
  const page = await open(server.url, 'light')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.getByRole('button', { name: 'Ask for a person' }).click()
  await page
    .getByText(/401 in/)
    .first()
    .waitFor()
  await page.getByRole('option', { name: /REQUESTING TAKEOVER/ }).click()
  await page.getByRole('button', { name: 'Find out why' }).click()
  await page
    .getByText(/\d+ trials|no trial|none of/i)
    .first()
    .waitFor()
  await take(page, 'refused-webhook')
  await page.close()
  await server.close()
  intermediary.closeAllConnections()
  intermediary.close()
}

/** UI mode with shipped scenarios, and one that fails. */
async function takeScenarios(): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'screenshots-'))
  for (const name of ['happy-path', 'closed-hours']) {
    const text = readFileSync(`${root}scenarios/${name}.yaml`, 'utf8')
    writeFileSync(join(work, `${name}.yaml`), text)
  }
  writeFileSync(join(work, 'lost-parcel.yaml'), FAILING)
  const args = ['run', '--ui', '--port', '0', '--self-test', '.']
  const program = spawn('node', [`${root}bin/handover-sim.js`, ...args], {
    cwd: work,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(program.stdout, 'data', { signal: AbortSignal.timeout(20_000) })
    const page = await open(/http:\/\/\S+/.exec(String(line))?.[0] ?? '', 'light')
    await page.getByRole('button', { name: 'Run all' }).click()
    await page.getByRole('button', { name: '1 failed' }).waitFor()
    await page.getByText('Lost parcel').first().click()
    await page
      .getByRole('tab', { name: /Failures/ })
      .or(page.getByRole('button', { name: /Failures/ }))
      .first()
      .click()
    await take(page, 'scenarios')
    await page.close()
  } finally {
    program.kill()
    rmSync(work, { recursive: true })
  }
}

async function say(page: Page, who: 'user' | 'agent', text: string): Promise<void> {
  await page.getByRole('textbox', { name: new RegExp(`(of the|as the) ${who}`, 'i') }).fill(text)
  await page.keyboard.press('Enter')
}
