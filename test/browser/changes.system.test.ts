/** Changes the simulator behind an open page: from another tab, and while the page is hidden. */
import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import { chromium, messagesOf, open, startInspected } from './inspector-page.ts'

describe.skipIf(chromium === null)('a page that is open', () => {
  it('shows what another tab does, and a reset empties both', async () => {
    const server = await startInspected()
    const { page: first } = await open(server.url)
    const { page: second } = await open(server.url)
    await first.getByRole('button', { name: 'New chat' }).click()
    await first.getByLabel('Message of the user').fill('From the first tab')
    await first.keyboard.press('Enter')
    await messagesOf(second).getByText('From the first tab').waitFor()
    await second.getByRole('button', { name: 'Ask for a person' }).click()
    await first.getByText('The user asks for a person.').waitFor()
    await first.goto(`${server.url}/?entry=4&compare=3&at=4`)
    await first.getByText('You see an earlier moment:').waitFor()
    await createControlClient(server)('POST', '/reset')
    for (const page of [first, second]) await page.getByText('There is no chat yet.').waitFor()
    expect(await first.getByText('You see an earlier moment').count()).toBe(0)
    await (await server.chat()).says('After the reset')
    for (const page of [first, second]) await messagesOf(page).getByText('After the reset').waitFor()
    await expect.poll(() => new URL(first.url()).search).toBe('')
  })

  it('has all of 10,000 entries that came while it was hidden, draws few of them, and finds one', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    const { page } = await open(`${server.url}/?wire=list`)
    await page.getByText('Live', { exact: true }).waitFor()
    // A hidden tab draws no frames.
    await page.evaluate(() => {
      const frame = globalThis.requestAnimationFrame
      globalThis.requestAnimationFrame = () => 0
      Object.assign(globalThis, { showAgain: () => Object.assign(globalThis, { requestAnimationFrame: frame }) })
    })
    for (let said = 1; said <= 5_000; said++) await chat.says(`Message ${said}`)
    await page.evaluate('showAgain()')
    await messagesOf(page).getByText('Message 5000', { exact: true }).waitFor()
    const last = server.journal.query().at(-1)!.seq
    const rows = page.getByRole('listbox').getByRole('option')
    await expect.poll(() => rows.last().getAttribute('aria-setsize')).toBe(String(last))
    expect(await rows.count()).toBeLessThan(150)
    await rows.last().click()
    await page.getByRole('region', { name: `Entry ${last}`, exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Search in entries' }).fill('Message 1234')
    await expect.poll(() => rows.first().textContent()).toContain('Message 1234')
  })
})
