/** Takes the pictures of docs/images/ in Chromium: plays a handover, and opens what the pages of the documentation show. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'

const { startSimulator } = (await import('../dist/index.js' as string)) as typeof import('../src/index.ts')

const root = new URL('..', import.meta.url).pathname
const folder = `${root}docs/images`
mkdirSync(folder, { recursive: true })

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--lang=en'],
})

try {
  await takeHandover(browser)
  await takeRefusedWebhook(browser)
  await takeScenarios(browser)
} finally {
  await browser.close()
}

async function open(url: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 }, colorScheme, reducedMotion: 'reduce' })
  page.setDefaultTimeout(20_000)
  await page.goto(url)
  return page
}

const take = (page: Page, name: string) => page.screenshot({ path: `${folder}/${name}.png` })

/** A handover by hand, and an earlier moment of it. */
async function takeHandover(_: Browser): Promise<void> {
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
  await page.getByText('Business hours').waitFor()
  await take(page, 'time-travel')
  await page.close()
  await server.close()
}

/** An intermediary that compares the signature with another key. */
async function takeRefusedWebhook(_: Browser): Promise<void> {
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
  await page.getByRole('option', { name: /REQUESTING TAKEOVER/ }).click()
  await page.getByRole('button', { name: 'Platform', exact: true }).click()
  await page.getByText('401').first().waitFor()
  await take(page, 'refused-webhook')
  await page.close()
  await server.close()
  intermediary.closeAllConnections()
  intermediary.close()
}

/** UI mode with the shipped scenarios, one of which a mutant of the reference intermediary fails. */
async function takeScenarios(_: Browser): Promise<void> {
  const args = ['run', '--ui', '--builtin', '--only', 'happy*', '--self-test']
  const program = spawn('node', [`${root}bin/handover-sim.js`, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const address = await new Promise<string>(resolve =>
    program.stdout.on('data', data => {
      const found = /http:\/\/\S+/.exec(String(data))?.[0]
      if (found !== undefined) resolve(found)
    }),
  )
  const page = await open(address, 'light')
  await page.getByRole('button', { name: /Play all/ }).click()
  await take(page, 'scenarios')
  await page.close()
  program.kill()
}

async function say(page: Page, who: 'user' | 'agent', text: string): Promise<void> {
  await page.getByRole('textbox', { name: new RegExp(`(of the|as the) ${who}`, 'i') }).fill(text)
  await page.keyboard.press('Enter')
}
