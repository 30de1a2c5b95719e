/** How grave an event looks: forged ones that are accepted or refused, what a fault ordered, trials of a diagnosis. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import { receiver } from '../webhooks/receiver.ts'
import { callPlatform, chromium, detailsOf, messagesOf, open, sees, startInspected } from './inspector-page.ts'

describe.skipIf(chromium === null)('trouble', () => {
  it('stands below the message of the user until it is delivered, with a link to its entry', async () => {
    let status = 200
    const hook = await receiver((_got, response) => response.writeHead(status).end())
    const server = await startInspected({ webhook: { url: hook.url } })
    const chat = await server.chat()
    await chat.press('handover')
    await callPlatform(server, 'start', { chat_id: chat.id, sender: { name: 'Anna' } })
    status = 503
    await chat.says('Hello')
    const { page } = await open(server.url)
    const bubble = messagesOf(page).locator('li', { hasText: 'Hello' })
    await bubble.getByRole('button', { name: 'not delivered: 503' }).click()
    const details = detailsOf(page)
    await details.getByText('only 200 acknowledges', { exact: false }).first().waitFor()
    status = 200
    await details.getByRole('button', { name: 'Send the same bytes again' }).click()
    await bubble.getByText('not delivered').waitFor({ state: 'detached' })
    // The attempt that was sent by hand has a row of its own, with its text.
    await page.getByRole('option', { name: /MESSAGE FROM USER "Hello", sent again/ }).waitFor()
  })

  it('of the agent is a refused message; a retry that is accepted takes its place', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    const about = { chat_id: chat.id }
    await callPlatform(server, 'start', { ...about, sender: { name: 'Anna' } })
    await callPlatform(server, 'message/', { ...about, message: 42, sender: { name: 'Anna' } })
    server.faults.add({ on: { api: 'message' }, respond: { status: 503 }, times: 1 })
    const hello = { ...about, message: 'I am here', sender: { name: 'Anna' } }
    await callPlatform(server, 'message/', hello)
    const { page } = await open(server.url)
    await page.getByRole('img', { name: 'as a fault ordered' }).first().waitFor()
    const messages = messagesOf(page)
    await messages.getByRole('button', { name: /^refused: 400/ }).waitFor()
    await messages.getByRole('button', { name: 'refused: 503' }).click()
    const details = detailsOf(page)
    await details.getByText('Your fault fault-1: respond 503 (1 of 1). It was not tried again so far.').waitFor()
    await callPlatform(server, 'message/', hello)
    await details.getByText(/It was tried again after .+, and accepted at #\d+\.$/).waitFor()
    await messages.getByText('refused: 503').waitFor({ state: 'detached' })
    await messages.getByText('I am here', { exact: true }).waitFor()
    await details.getByRole('note').getByRole('button').click()
    await sees(details, '200 MESSAGE SENT TO USER')
  })
})

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
})
