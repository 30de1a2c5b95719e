import { describe, expect, it } from 'vitest'
import { axeViolations, chromium, startInspected, useBrowser } from './inspector-page.ts'

const open = useBrowser()

describe.skipIf(chromium === null)('the inspector', () => {
  it('plays a whole handover with nothing else running', async () => {
    const { url, journal } = await startInspected()
    const { page } = await open(url)
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByLabel('Message of the user').fill('Hello, where is my parcel?')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByLabel('Message of the agent').fill('I am Anna. Let me look.')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('list', { name: 'Messages' }).textContent()).toContain('I am Anna')
    await page.getByRole('button', { name: 'Hand back' }).click()
    await expect
      .poll(() => journal.query({ kind: 'api' }).map(call => call.kind === 'api' && call.endpoint))
      .toEqual(expect.arrayContaining(['start', 'message', 'end']))
    expect(journal.query({ kind: 'api' }).filter(call => call.kind === 'api' && call.status !== 200)).toEqual([])
  })

  it('draws a row again when its event is answered', async () => {
    let answer = () => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const refuse = () => answered.then(() => new Response('invalid signature', { status: 401 }))
    const server = await startInspected({ webhook: { fetch: refuse } })
    const { page } = await open(server.url)
    // An entry without a chat gets no number of a chat.
    server.configure({ 'bot.replies': [] })
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByText(/^chat 1 · en/).waitFor()
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    const row = page.getByRole('option', { name: /REQUESTING TAKEOVER/ })
    await row.waitFor()
    answer()
    await expect.poll(() => row.textContent()).toContain('401 in')
    await row.click()
    await page.getByText('It accepted no event so far (1 refused).').waitFor()
    await page.locator('blockquote', { hasText: 'invalid signature' }).waitFor()
  })

  it('has no violation of the rules of axe', async () => {
    const server = await startInspected()
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    await page.getByRole('listbox').getByRole('option').nth(1).click()
    expect(await axeViolations(page)).toEqual([])
  })
})
