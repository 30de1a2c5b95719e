/** What the wire shows of the journal: cleared, counted problems, and what passed before a restart. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { freePort } from '../support/port.ts'
import { axeViolations, chromium, messagesOf, open, rows, startInspected } from './inspector-page.ts'

describe.skipIf(chromium === null)('the wire', () => {
  it('counts problems on their filter and in the title of the tab, without what a fault ordered', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    await chat.says('Hello')
    const { page } = await open(server.url)
    const problems = page.getByRole('button', { name: 'Only problems' })
    await expect.poll(() => problems.textContent()).toBe('Problems')
    const start = () =>
      fetch(`${server.url}/api/v2/handover/start`, { method: 'POST', body: JSON.stringify({ chat_id: chat.id }) })
    await start()
    await expect.poll(() => problems.textContent()).toBe('Problems 1')
    await expect.poll(() => page.title()).toBe('(1) handover-sim')
    server.faults.add({ on: { api: 'start' }, respond: { status: 503 }, times: 1 })
    await start()
    // The call and the hit of the fault are among the problems; in the title is only what nothing explains.
    await expect.poll(() => problems.textContent()).toBe('Problems 3')
    await problems.click()
    await expect.poll(() => rows(page).count()).toBe(3)
    expect(await page.title()).toBe('(1) handover-sim')
  })

  it('clears the view without ending a chat, and shows all again', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    await chat.says('Hello')
    const { page } = await open(server.url)
    const shown = (hasText: string) => rows(page).filter({ hasText }).first()
    await shown('"Hello"').waitFor()
    await page.getByText('More', { exact: true }).click()
    await page.getByRole('button', { name: 'Clear the view' }).click()
    await expect.poll(() => rows(page).count()).toBe(0)
    await chat.says('Are you there?')
    await shown('Are you there?').waitFor()
    expect(await shown('"Hello"').count()).toBe(0)
    await messagesOf(page).getByText('Hello', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await shown('"Hello"').waitFor()
  })

  it('keeps what passed before a restart to read, and follows a reset and a restored snapshot', async () => {
    const port = await freePort()
    const first = await startInspected({ port })
    const chat = await first.chat()
    await chat.says('Before the crash')
    const { page, problems } = await open(`${first.url}/?wire=list&all=1`)
    const shown = (hasText: string) => rows(page).filter({ hasText }).first()
    await shown('Before the crash').waitFor()
    await first.close()
    await page.getByText(`handover-sim start --port ${port}`).waitFor()
    const second = await startServer({ port })
    onTestFinished(() => second.close())
    await page.getByText('The simulator was started again.', { exact: false }).waitFor()
    expect(await rows(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Show it' }).click()
    await shown('Before the crash').click()
    const details = page.getByRole('region', { name: /^Entry / })
    await details.getByText('"Before the crash"').first().waitFor()
    expect(await details.getByRole('button', { name: 'Show this moment' }).isVisible()).toBe(false)
    expect(await axeViolations(page)).toEqual([])
    const later = await second.chat()
    await later.says('After it')
    await page.getByRole('button', { name: 'Show now' }).click()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByText('The simulator was started again.').waitFor({ state: 'detached' })
    const ask = createControlClient(second)
    const snapshot = (await ask('GET', '/snapshot')).body
    await ask('POST', '/reset')
    await (await second.chat()).says('Of the past')
    await shown('Of the past').waitFor()
    await ask('PUT', '/snapshot', { body: snapshot })
    await (await second.chat()).says('Restored')
    await shown('Restored').waitFor()
    expect(await shown('Of the past').count()).toBe(0)
    // While nothing listened, the browser logged that it could not connect. It would do so again when the server ends.
    await page.close()
    problems.splice(0)
  })
})
