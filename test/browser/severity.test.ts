/** How grave an event looks: forged ones that are accepted or refused, what a fault ordered, trials of a diagnosis. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import { receiver } from '../webhooks/receiver.ts'
import { chromium, startInspected, useBrowser } from './inspector-page.ts'

const open = useBrowser()

describe.skipIf(chromium === null)('an event with a wrong signature', () => {
  it('is a problem when it is accepted, and none when it is refused', async () => {
    let verifies = true
    const hook = await receiver(({ bytes, headers }, response) => {
      const right = createHmac('sha256', 'sim-handover-key').update(bytes).digest('base64')
      response.writeHead(!verifies || headers['kindly-hmac'] === right ? 200 : 401).end()
    })
    const server = await startInspected({ webhook: { url: hook.url } })
    const ask = createControlClient(server)
    const chat = await server.chat()
    await chat.says('Hello')
    const forge = () =>
      ask('POST', '/trigger', { body: { event: 'MESSAGE FROM USER', sign: 'wrong-key', chat_id: chat.id } })
    await forge()
    const { page } = await open(`${server.url}/?wire=list`)
    const row = page.locator('.entry-row.delivery')
    await row.getByText('401').waitFor()
    expect(await row.getByRole('img').count()).toBe(0)
    await row.click()
    await page.getByText('The webhook must refuse the event. It did.', { exact: false }).waitFor()
    expect(await page.getByText('only 200 acknowledges').filter({ visible: true }).count()).toBe(0)

    verifies = false
    await forge()
    const accepted = row.filter({ hasText: '200' })
    await accepted.getByRole('img', { name: 'failed' }).waitFor()
    await accepted.click()
    await page.getByText(/accepted a forged event: it answered 200/).waitFor()
    await page.getByRole('button', { name: 'Only problems' }).click()
    await expect.poll(() => row.count()).toBe(1)
  })

  it('trials of a diagnosis are named, and no problem; what a fault did has a bolt', async () => {
    const hook = await receiver((_got, response) => response.writeHead(401).end())
    const server = await startInspected({ webhook: { url: hook.url } })
    const ask = createControlClient(server)
    const chat = await server.chat()
    await chat.press('handover')
    await ask('POST', '/deliveries/latest/diagnose', { body: {} })
    const { page } = await open(server.url)
    await page.getByText('AGENT TYPING STOP, trial of hex').waitFor()
    await page.getByRole('button', { name: 'Only problems' }).click()
    await page.getByText('AGENT TYPING STOP, trial of hex').waitFor({ state: 'detached' })
    await page.getByText('REQUESTING TAKEOVER').first().waitFor()
    server.faults.add({ on: { webhook: 'REQUESTING TAKEOVER' }, delay: '1ms', times: 1 })
    await chat.press('handover')
    await page.getByRole('img', { name: 'as a fault ordered' }).first().waitFor()
  })
})
