/** The page of a proxy, which records and takes no acts, and the calibration: verdicts, their entries, and the knob that fits. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { coreOf } from '../../src/platform/simulator/simulator.ts'
import { createProxy } from '../../src/server/proxy/proxy.ts'
import { receiver } from '../webhooks/receiver.ts'
import { axeViolations, callPlatform, chromium, open, startInspected } from './inspector-page.ts'

describe.skipIf(chromium === null)('the calibration in the page', () => {
  it('of a proxy: says what is recorded, offers no acts, and leads from a verdict to its entry', async () => {
    const hook = await receiver((_got, response) => response.end())
    const platform = await startInspected({ knobs: { 'start.again': '409' } })
    const proxy = createProxy({
      ...{ upstream: new URL(platform.url), webhookUrl: new URL(hook.url), deliveryPath: '/_webhook/of-this-test' },
      ...{ keys: ['sim-handover-key'], anonymise: false, rewriteLinks: false, file: 'recorded.jsonl' },
    })
    onTestFinished(() => proxy.close())
    const server = await startInspected({}, { proxy })
    await platform.configure({ 'webhook.url': `${server.url}/_webhook/of-this-test` })
    const { page } = await open(server.url)
    const bar = page.getByRole('region', { name: 'Recording' })
    await bar.getByText('0 calls, 0 deliveries', { exact: false }).waitFor()
    await page.getByText('Nothing has passed yet.', { exact: false }).waitFor()

    const chat = await platform.chat()
    await chat.press('handover')
    for (const endpoint of ['start', 'start', 'end']) await callPlatform(server, endpoint, { chat_id: chat.id })
    await coreOf(server).work.activity.idle()
    await bar.getByText('3 calls, 1 delivery', { exact: false }).waitFor()
    for (const text of [platform.url, hook.url, 'recorded.jsonl']) expect(await bar.textContent()).toContain(text)

    // The second start was refused.
    const rows = page.getByRole('list', { name: 'Assumptions' })
    const row = rows.getByRole('listitem').filter({ hasText: 'start.again' })
    await row.getByText('409 fits; in force is accept.', { exact: false }).waitFor()
    expect(await row.textContent()).toContain('contradicted')
    await row.getByText('--set start.again=409').waitFor()
    expect(await rows.getByText('Seen in your traffic', { exact: false }).count()).toBeGreaterThan(0)
    expect(await axeViolations(page)).toEqual([])

    const [, refused] = server.journal.query({ kind: 'api' })
    await row.getByRole('button', { name: `#${refused?.seq}` }).click()
    const details = page.locator('.entry-details')
    await details.getByText('409', { exact: false }).first().waitFor()
    expect(refused).toMatchObject({ endpoint: 'start', status: 409 })
    const refusedByProxy = [
      ...['New chat', 'Set up a chat', 'Send', 'Ask for a person', 'Accept', 'Try it', 'Repeat with changes'],
      ...['Fail this next time', 'Send the same bytes again', 'Edit and send', 'Send an event', 'New workspace'],
    ]
    for (const menu of ['More', 'Menu']) await page.getByText(menu, { exact: true }).click()
    for (const name of refusedByProxy)
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    expect(await page.getByRole('region', { name: 'Agent', exact: true }).count()).toBe(0)
    expect(await page.getByLabel('Message of the user').count()).toBe(0)
  })

  it('of a simulator: sets the knob that fits, through the control API', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    await chat.press('handover')
    for (const endpoint of ['start', 'start']) await callPlatform(server, endpoint, { chat_id: chat.id })
    await server.configure({ 'start.again': '409' })
    const { page } = await open(`${server.url}/?side=platform&sections=calibration`)
    const row = page.getByRole('list', { name: 'Assumptions' }).getByRole('listitem').filter({ hasText: 'start.again' })
    await row.getByText('accept fits; in force is 409.', { exact: false }).waitFor()
    // What a simulator did says nothing about the platform.
    expect(await page.getByText('Seen in your traffic', { exact: false }).count()).toBe(0)
    expect(await axeViolations(page)).toEqual([])
    await row.getByRole('button', { name: 'Set start.again to accept' }).click()
    await row.getByText('confirmed').waitFor()
    expect(server.config()['start.again']).toBe('accept')
    expect(await row.getByRole('button', { name: 'Set', exact: false }).count()).toBe(0)
    // A knob is one press away, and a new entry is compared as it comes.
    await server.configure({ 'start.again': '409' })
    await row.getByText('contradicted').waitFor()
    await callPlatform(server, 'start', { chat_id: chat.id })
    await row.getByText('changed', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'start.again', exact: true }).click()
    await page.getByRole('combobox', { name: 'start.again' }).waitFor()
  })
})
