import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import { startWebhook } from '../support/network.ts'
import { axeViolations, chromium, startInspected, useBrowser } from './inspector-page.ts'

const open = useBrowser()

describe.skipIf(chromium === null)('the way to connect a service', () => {
  it('begins with the address, the key, the webhook and a test event, and stays in the header', async () => {
    await using webhook = await startWebhook()
    const server = await startInspected()
    const { page } = await open(server.url)
    const card = page.getByRole('region', { name: 'Connect your service' })
    await card.getByText(server.url, { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Show API key' }).click()
    await card.getByText(server.apiKey, { exact: true }).waitFor()
    await card.getByText('--agent-driver FILE').waitFor()
    expect(await card.getByRole('button', { name: 'Send a test event' }).isDisabled()).toBe(true)
    await card.getByLabel('URL that gets the events').fill(webhook.url)
    await page.keyboard.press('Enter')
    await card.getByRole('button', { name: 'Send a test event' }).click()
    await card.getByText('Answered 200 in').waitFor()
    expect(webhook.bodies.map(body => JSON.parse(body).event)).toEqual(['AGENT TYPING STOP'])
    expect(await axeViolations(page)).toEqual([])
    const header = page.getByRole('banner').first()
    expect(await header.textContent()).toMatch(/127\.0\.0\.1.*API key.*\/webhook.* · 200 in \d+ ms/)
    await header.getByRole('button', { name: 'Copy the base URL of the platform' }).waitFor()

    const { body } = await createControlClient(server)('GET', '/chats')
    await createControlClient(server)('POST', `/chats/${body.chats[0].chat_id}/messages`, { body: { text: 'Hello' } })
    await page.getByRole('option', { name: /AGENT TYPING STOP/ }).waitFor()
    expect(await card.count()).toBe(0)
    await header.getByRole('button', { name: /^Webhook/ }).click()
    const section = page.getByRole('region', { name: 'Webhook', exact: true })
    await expect
      .poll(() => section.getByRole('button', { name: /^Webhook/ }).evaluate(one => one === document.activeElement))
      .toBe(true)
  })

  it('says in the header why the webhook fails', async () => {
    await using webhook = await startWebhook((_, response) => response.writeHead(401).end())
    const server = await startInspected({ webhook: { url: webhook.url } })
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'Send a test event' }).click()
    const header = page.getByRole('banner').first()
    await header.getByText(/401 in \d+ ms/).waitFor()
    await page
      .getByRole('button', { name: /^AGENT TYPING STOP #\d+$/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Find out why' }).waitFor()
    await header.getByRole('button', { name: /^Webhook refuses \(\d\)$/ }).waitFor()
  })

  it('lists only what differs from the normal state, and opens its section', async () => {
    const server = await startInspected()
    const ask = createControlClient(server)
    const { page } = await open(server.url)
    const header = page.getByRole('banner').first()
    await header.getByRole('button', { name: 'Set the webhook' }).waitFor()
    const strip = header.getByRole('list', { name: 'Differs from the normal state' })
    expect(await strip.count()).toBe(0)
    const start = (times: number) => ({ on: { api: 'start' }, respond: { status: 503 }, times })
    for (const times of [1, 2]) await ask('POST', '/faults', { body: start(times) })
    await ask('PUT', '/availability', { body: { availability: 'CLOSED' } })
    await ask('PATCH', '/config', { body: { 'start.again': '409' } })
    await ask('POST', '/clock/pause')
    const texts = () => strip.getByRole('listitem').allTextContents()
    await expect.poll(texts).toEqual(['Clock paused', '2 faults', 'Closed', '1 knob changed'])
    expect(await axeViolations(page)).toEqual([])
    await ask('POST', '/clock/advance', { body: { by: '10m' } })
    await ask('POST', '/clock/resume')
    await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST', body: '{}' })
    // A fault that is used up can no longer act.
    await expect.poll(texts).toEqual(['Clock +10 min', '1 fault', 'Closed', '1 knob changed'])
    await strip.getByRole('button', { name: '1 fault' }).click()
    const faults = page.getByRole('region', { name: 'Faults' })
    await faults.getByText('1 set, 1 used up').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Faults')
    await ask('POST', '/reset')
    await expect.poll(texts).toEqual(['1 knob changed'])
  })
})
