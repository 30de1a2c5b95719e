/** The readiness line of the page: what the traffic shows, what proves it, and a trial of one check. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Driver } from '../../src/running/agent-driver/driver.ts'
import { LazyReadiness } from '../../src/running/certifier/load.ts'
import { loadRecorder } from '../../src/running/recorder/load.ts'
import { receiver } from '../webhooks/receiver.ts'
import { axeViolations, button, callPlatform, chromium, open, startInspected } from './inspector-page.ts'

describe.skipIf(chromium === null)('the readiness', () => {
  it('names what is wrong, shows it, tries it, and turns right when the service is mended', async () => {
    let key = 'another key'
    const hook = await receiver(({ bytes, headers }, response) => {
      const right = createHmac('sha256', key).update(bytes).digest('base64')
      response.writeHead(headers['kindly-hmac'] === right ? 200 : 401).end('bad signature')
    })
    const loadReadiness = new LazyReadiness(() => null).load
    const server = await startInspected({ webhook: { url: hook.url } }, { loadReadiness })
    const { page } = await open(server.url)
    const readiness = page.getByRole('region', { name: 'Readiness' })
    await readiness.getByText('Readiness: 0 of 48 seen right').waitFor()
    const chat = await server.chat()
    await chat.press('handover')
    await readiness.getByRole('button', { name: /SIG-01/ }).click()
    await readiness.getByText(/The webhook answered 401 to a validly signed REQUESTING TAKEOVER/).waitFor()
    // The mend is in the language of the reader, which the page remembers.
    await readiness.getByRole('heading', { name: 'How to fix it' }).waitFor()
    await readiness.getByRole('button', { name: 'php', exact: true }).click()
    await readiness.getByText('hash_hmac', { exact: false }).first().waitFor()
    await button(readiness, /^(not seen yet )?SIG-07/)
      .last()
      .click()
    await readiness.getByText('php://input', { exact: false }).waitFor()
    await button(readiness, /SIG-01/)
      .last()
      .click()
    expect(await axeViolations(page)).toEqual([])
    await readiness.getByRole('button', { name: 'Prove it' }).click()
    await page.getByRole('button', { name: 'Find out why' }).waitFor()
    // The panel gave way to the entry.
    await readiness.getByText('Readiness: 0 of 48 seen right').click()
    await readiness.getByRole('button', { name: /SIG-03/ }).click()
    await readiness.getByRole('button', { name: 'Try it' }).click()
    await readiness.getByText(/The trial ended after .*: (fail|inconclusive|blocked)/).waitFor()

    key = 'sim-handover-key'
    await chat.press('handover')
    await readiness.getByText(/Readiness: [1-9] of 48 seen right/).waitFor()
    await readiness.getByRole('button', { name: 'Try it' }).click()
    await readiness.getByText('MUST, seen right in a trial').waitFor()
    await readiness.getByRole('button', { name: 'Show the trial' }).click()
    await page.getByRole('dialog').getByText('control', { exact: true }).first().waitFor()
    expect(await axeViolations(page)).toEqual([])
  })

  it('plays a saved test against the service at once, and shows the line that failed', async () => {
    const driver: Driver = {
      name: 'an agent whose acts have no effect',
      verbs: ['accept'],
      target: null,
      call: async verb => ({ verb, how: 'a function', outcome: 'ok', duration_ms: 0 }),
      close: async () => {},
    }
    const hook = await receiver((_got, response) => response.end())
    const loadReadiness = new LazyReadiness(() => async () => driver).load
    const server = await startInspected({ webhook: { url: hook.url } }, { loadReadiness, loadRecorder })
    const chat = await server.chat()
    await chat.says('Where is my parcel?')
    await chat.press('handover')
    await callPlatform(server, 'start', { chat_id: chat.id })
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'Save as test' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save as test' })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Where is my parcel?')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('It expects 1 call of your service.', { exact: false }).waitFor()
    // The service acknowledges events, and never calls start by itself.
    await dialog.getByRole('button', { name: 'Play it' }).click()
    await dialog.getByText('Your service fails the test.').waitFor()
    const failed = await dialog.locator('.record-yaml mark').textContent()
    expect(failed).toContain('start')
    const line = (await dialog.locator('.record-yaml').textContent())!.split('\n').indexOf(failed!.trimEnd()) + 1
    await dialog.getByText(`${line}, step`, { exact: false }).waitFor()
    await dialog.getByRole('listbox', { name: 'What happened when the test was played' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    expect(server.chats()).toHaveLength(1)
  })
})
