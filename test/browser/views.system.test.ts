/** Opens every view of the inspector, and looks for violations of axe, low contrast and what does not fit. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { PlatformServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { receiver } from '../webhooks/receiver.ts'
import {
  axeViolations,
  button,
  callPlatform,
  chromium,
  lowContrastInDark,
  open,
  startInspected,
} from './inspector-page.ts'

const SECTIONS = 'webhook,availability,faults,clock,knobs,snapshot'

/** What is wrong with each view, by its name. */
function collectProblems(page: Page) {
  const problems: string[] = []
  const add = (view: string, found: readonly string[]) => problems.push(...found.map(one => `${view}: ${one}`))
  return {
    problems,
    async check(view: string) {
      add(view, await axeViolations(page))
      add(view, await page.evaluate(overflows))
    },
    dark: async (view: string) => add(view, await lowContrastInDark(page)),
  }
}

/** The page and its columns, where their content is wider than they are. Runs inside the page. */
function overflows(): string[] {
  const boxes = [...document.querySelectorAll('html, .agent-desk, .platform-panel, .entry-details')]
  return boxes
    .filter(box => box.scrollWidth > box.clientWidth)
    .map(box => `${box.tagName} ${box.className} has ${box.scrollWidth} px in ${box.clientWidth} px`)
}

async function inDialog(page: Page, opener: string, look: () => Promise<void>): Promise<void> {
  await button(page, opener).first().click()
  await page.getByRole('dialog').waitFor()
  await look()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Two chats, a delivery that the webhook refuses, a fault, and a call that the platform refuses. */
async function playSomething(server: PlatformServer): Promise<void> {
  const ask = createControlClient(server)
  const hook = await receiver((_got, response) => response.writeHead(401).end('{"error":"wrong signature"}'))
  await ask('PATCH', '/config', { body: { 'webhook.url': hook.url } })
  await ask('POST', '/faults', { body: { name: 'busy', on: { api: 'message' }, respond: { status: 503 }, times: 1 } })
  for (const language of ['en', 'ar']) {
    const { chat_id } = (await ask('POST', '/chats', { body: { language } })).body
    await ask('POST', `/chats/${chat_id}/messages`, { body: { text: 'Where is my parcel?' } })
    await ask('POST', `/chats/${chat_id}/press?wait=ack`, { body: { button: 'handover' } })
    await callPlatform(server, 'message', { chat_id, message: 'Hello' })
  }
  await callPlatform(server, 'message', { chat_id: 'no-such-chat', message: 'Hello' })
}

describe.skipIf(chromium === null)('every view of the inspector', () => {
  it('has no violation of axe, enough contrast, and the width of the screen', async () => {
    const server = await startInspected()
    const { page } = await open(server.url)
    const { check, dark, problems } = collectProblems(page)
    await check('empty')
    await dark('empty')
    await playSomething(server)
    await page.getByRole('listbox').getByRole('option').nth(5).waitFor()
    await page.getByLabel('Message of the user').waitFor()
    await check('a chat, and a queue of two')
    await dark('a chat, and a queue of two')
    await inDialog(page, 'Set up a chat', () => check('new chat'))
    for (const opener of ['Keyboard shortcuts', 'New workspace']) {
      await page.getByText('Menu', { exact: true }).click()
      await inDialog(page, opener, () => check(opener))
    }
    await button(page, /^2 chats/).click()
    await check('list of chats')
    const [first, second] = server.journal.query({ kind: 'api' })
    await page.goto(`${server.url}/?entry=${second?.seq}&compare=${first?.seq}`)
    await button(page, 'Stop comparing').waitFor()
    await check('comparison')
    await page.goto(`${server.url}/?wire=list&all=1&at=${first?.seq}`)
    await page.getByText('You see an earlier moment').waitFor()
    await check('list of entries, earlier moment')
    await dark('list of entries, earlier moment')
    await page.goto(`${server.url}/?side=platform&sections=${SECTIONS}`)
    await button(page, 'Custom fault').click()
    await page.getByLabel('Search knobs').fill('webhook')
    await button(page, 'Change').click()
    await check('platform')
    await dark('platform')
    expect(problems).toEqual([])
  })

  it('has none in the details of every kind of entry', async () => {
    const server = await startInspected()
    await playSomething(server)
    const { page } = await open(server.url)
    const { check, dark, problems } = collectProblems(page)
    for (const kind of ['api', 'event', 'delivery', 'user', 'note', 'fault'] as const) {
      await page.goto(`${server.url}/?entry=${server.journal.query({ kind })[0]?.seq}`)
      await page.getByRole('region', { name: /^Entry \d/ }).waitFor()
      await check(`details of ${kind}`)
      if (kind === 'delivery') await inDialog(page, 'Edit and send', () => check('event dialog'))
      if (kind === 'api') await inDialog(page, 'Repeat with changes', () => check('call dialog'))
      if (kind === 'delivery' || kind === 'api') await dark(`details of ${kind}`)
    }
    expect(problems).toEqual([])
  })

  it('fits on a screen of 320 px, in light and dark', async () => {
    const server = await startInspected()
    await playSomething(server)
    const { page } = await open(server.url, { viewport: { width: 320, height: 640 }, hasTouch: true })
    const { check, dark, problems } = collectProblems(page)
    await page.getByLabel('Message of the user').waitFor()
    await check('end user')
    await dark('end user')
    await inDialog(page, 'Set up a chat', () => check('new chat'))
    for (const name of ['Wire', 'Agent', 'Platform']) {
      await page.getByRole('navigation', { name: 'Columns' }).getByRole('button', { name }).click()
      if (name === 'Wire') await page.getByRole('listbox').getByRole('option').nth(3).click()
      await check(name)
      await dark(name)
    }
    for (const { kind, seq } of [...server.journal.query({ kind: 'api' }), ...server.journal.query({ kind: 'user' })]) {
      await page.goto(`${server.url}/?column=wire&all=1&entry=${seq}`)
      await page.getByRole('region', { name: `Entry ${seq}` }).waitFor()
      expect(await page.evaluate(overflows), `${kind} ${seq}`).toEqual([])
    }
    await page.goto(`${server.url}/?column=side&side=platform&sections=${SECTIONS}`)
    await button(page, 'Custom fault').click()
    await check('platform')
    expect(problems).toEqual([])
  })
})
