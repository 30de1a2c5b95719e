import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../../src/evaluation/evaluator/journal-file.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  axeViolations,
  button,
  callPlatform,
  chromium,
  detailsOf,
  messagesOf,
  open,
  rows,
  sees,
  startInspected,
} from './inspector-page.ts'

/** A handover with a refused call of each sort. Its webhook refuses signatures when `refuses` says so. */
async function playHandover(refuses = false) {
  const hook = createReceiver()
  const server = await startInspected({ webhook: { fetch: hook.fetch } })
  const chat = await server.chat()
  await chat.says('Where is my parcel?')
  await chat.press('handover')
  const about = { chat_id: chat.id }
  await callPlatform(server, 'start', { ...about, sender: { name: 'Anna' } })
  await callPlatform(server, 'message/', { ...about, message: 'I am Anna', sender: { name: 'Anna' } })
  await callPlatform(server, 'message/', { ...about, message: 42 })
  await callPlatform(server, 'strat', about)
  await callPlatform(server, 'start', about, 'wrong')
  if (refuses) hook.answerWith(401)
  await chat.says('Thank you')
  await server.settled()
  return { server, hook, chat }
}

const row = (page: Page, hasText: string) => rows(page).filter({ hasText })
const seqOf = (server: PlatformServer, test: (entry: Entry) => boolean) => server.journal.query().findLast(test)!.seq
const isCall = (status: number) => (entry: Entry) => entry.kind === 'api' && entry.status === status

describe.skipIf(chromium === null)('the wire', () => {
  it('lists, filters, searches and downloads entries, and keeps the view in the address', async () => {
    const { server } = await playHandover()
    const { page } = await open(server.url)
    await button(page, 'List').click()
    await expect.poll(() => rows(page).count()).toBe(server.journal.nextSeq - 1)
    await page.getByRole('searchbox', { name: 'Search in entries' }).fill('my PARCEL')
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Where is my parcel?')])
    await page.getByRole('searchbox', { name: 'Search in entries' }).fill('')
    await button(page, /Only problems/).click()
    await expect.poll(() => rows(page).count()).toBe(4)
    await page.getByRole('combobox', { name: 'Kind of entries' }).selectOption('call')
    await expect.poll(() => page.url()).toMatch(/wire=list.*kind=api.*problems=1/)
    await page.reload()
    await expect.poll(() => rows(page).count()).toBe(4)
    await page.getByText('More', { exact: true }).click()
    const download = page.waitForEvent('download')
    await button(page, 'Download the journal').click()
    const { journal } = readJournal('journal.jsonl', readFileSync(await (await download).path(), 'utf8'))
    expect(journal.map(({ seq }) => seq)).toEqual(server.journal.query().map(({ seq }) => seq))
  })

  it('explains refused calls in words, leads to the knob of an assumption, and repeats a call with changes', async () => {
    const { server } = await playHandover()
    const { page } = await open(`${server.url}/?entry=${seqOf(server, isCall(404))}`)
    await expect.poll(() => detailsOf(page).textContent()).toContain('/api/v2/handover/start')
    await page.goto(`${server.url}/?entry=${seqOf(server, isCall(401))}`)
    await expect.poll(() => detailsOf(page).textContent()).toContain('The API key is not known here.')
    expect(await axeViolations(page)).toEqual([])
    await button(detailsOf(page), 'errors.body').click()
    await expect.poll(() => page.url()).toContain('knob=errors.body')
    await page.getByLabel('errors.body').waitFor()
    await page.goto(`${server.url}/?entry=${seqOf(server, isCall(400))}`)
    await expect.poll(() => detailsOf(page).textContent()).toMatch(/Field\s*message\s*Expected.*Received\s*42/)
    await button(detailsOf(page), 'Repeat with changes').click()
    const dialog = page.getByRole('dialog')
    const body = dialog.getByLabel('Body (not sent with GET)')
    await body.fill((await body.inputValue()).replace('"message": 42', '"message": "Forty-two"'))
    await button(dialog, 'Send').click()
    await dialog.getByText('Answer 200.').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => detailsOf(page).textContent()).toContain('POST message "Forty-two"')
    await expect.poll(() => messagesOf(page).textContent()).toContain('Forty-two')
  })

  it('says what is known about a refused signature, shows its bytes, and sends it again', async () => {
    const { server, hook } = await playHandover(true)
    const refused = seqOf(server, entry => entry.kind === 'delivery' && entry.status === 401)
    const viewport = { width: 320, height: 640 }
    const { page } = await open(`${server.url}/?column=wire&entry=${refused}`, { viewport })
    await sees(detailsOf(page), /accepted events until #\d+, and refuses them since #\d+/)
    expect(await detailsOf(page).textContent()).toMatch(/Header Kindly-HMAC, HMAC-SHA-256 .*over \d+ bytes of body/)
    await detailsOf(page).getByRole('button', { name: 'Bytes', exact: true }).first().click()
    await expect.poll(() => detailsOf(page).textContent()).toContain('0000  7b 22 65 76 65 6e 74')
    const bytes = detailsOf(page).locator('.byte-view').first()
    await bytes.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => bytes.evaluate(element => element.scrollLeft)).toBeGreaterThan(0)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => bytes.evaluate(element => element.scrollLeft)).toBe(0)
    expect(await detailsOf(page).getAttribute('aria-label')).toBe(`Entry ${refused}`)
    hook.answerWith(200)
    await detailsOf(page).getByRole('button', { name: 'Send the same bytes again' }).click()
    await expect.poll(() => detailsOf(page).textContent()).toContain(', sent again')
    const [before, again] = hook.received.slice(-2).map(({ text, headers }) => [text, headers.get('kindly-hmac')])
    expect(again).toEqual(before)
  })

  it('sends an edited event with an invalid signature, and says where JSON is wrong', async () => {
    const { server, hook } = await playHandover()
    const { page } = await open(server.url)
    await page.getByText('More', { exact: true }).click()
    await page.getByRole('button', { name: 'Send an event' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send an event' })
    await dialog.getByLabel('Fields of the payload').fill('{\n  "message": "Hi",\n}')
    await dialog.getByText('line 3, column 1').waitFor()
    expect(await dialog.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
    await dialog.getByLabel('Fields of the payload').fill('{ "message": "<b>Hi</b>" }')
    await dialog.getByLabel('Signature').selectOption('hex')
    await dialog.getByText('Delay, copies, broken bodies').click()
    await dialog.getByLabel('Sent later by').fill('soon')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('must be a duration').first().waitFor()
    await createControlClient(server)('POST', '/trigger', {
      body: { event: 'MESSAGE FROM USER', body: { message: 'From elsewhere' } },
    })
    const last = String(server.journal.query().at(-1)!.seq)
    await expect.poll(() => page.locator('.time-line input').getAttribute('max')).toBe(last)
    expect(await detailsOf(page).count()).toBe(0)
    await dialog.getByLabel('Sent later by').fill('')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('Answer 200.').waitFor()
    expect(hook.payloadsOf('MESSAGE FROM USER').at(-1)!.message).toBe('<b>Hi</b>')
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => detailsOf(page).textContent()).toContain('It accepted it.')
  })

  it('compares two entries field by field', async () => {
    const { server } = await playHandover()
    const [first, second] = [seqOf(server, isCall(404)), seqOf(server, isCall(401))]
    const { page } = await open(`${server.url}/?wire=list&entry=${first}`)
    await detailsOf(page).waitFor()
    await page.keyboard.press('c')
    await detailsOf(page).getByText('Select the entry to compare').waitFor()
    await row(page, `#${second}`).click()
    await expect.poll(() => detailsOf(page).textContent()).toContain(`#${first} and #${second}`)
    const header = page.getByRole('rowheader', { name: 'status', exact: true })
    const status = detailsOf(page).getByRole('row').filter({ has: header })
    expect(await status.textContent()).toBe('status404401')
    const names = await detailsOf(page).getByRole('table').first().getByRole('rowheader').allTextContents()
    expect(names).not.toContain('time')
    expect(names[0]).toMatch(/^(request\.body|response|status)/)
    await sees(detailsOf(page), /with ids, times and lengths$/)
    expect(await axeViolations(page)).toEqual([])

    await page.keyboard.press('Escape')
    await row(page, `#${second}`).click()
    await row(page, `#${first}`).click({ modifiers: ['Shift'] })
    await expect.poll(() => status.textContent()).toBe('status401404')
    await expect.poll(() => page.url()).toContain(`entry=${first}&compare=${second}`)
  })

  it('shows the bodies of a call first, and keeps the size that the details were given', async () => {
    const { server } = await playHandover()
    const { page } = await open(`${server.url}/?entry=${seqOf(server, isCall(200))}`)
    await detailsOf(page).waitFor()
    const top = async (text: string | RegExp) => (await detailsOf(page).getByText(text).first().boundingBox())?.y
    await detailsOf(page).getByRole('button', { name: 'Fail this next time' }).click()
    await page.getByRole('banner').first().getByRole('button', { name: '1 fault' }).waitFor()
    expect(server.faults.list()).toMatchObject([{ on: { api: 'message' }, respond: { status: 503 }, of: 1 }])
    expect(await top('Repeat with changes')).toBeGreaterThan((await top(/"sender"/))!)
    expect(await top('Duration')).toBeGreaterThan((await top(/"sender"/))!)
    const width = async () => (await detailsOf(page).boundingBox())!.width
    const before = await width()
    const separator = page.getByRole('separator', { name: 'Size of the details' })
    await separator.focus()
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    await expect.poll(width).toBeGreaterThan(before + 50)
    const box = (await separator.boundingBox())!
    await page.mouse.move(box.x + 3, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + 303, box.y + 50)
    await page.mouse.up()
    await expect.poll(width).toBeLessThan(before)
    const value = await separator.getAttribute('aria-valuenow')
    await page.reload()
    await expect.poll(() => separator.getAttribute('aria-valuenow')).toBe(value)
    expect(await axeViolations(page)).toEqual([])
    await page.setViewportSize({ width: 1100, height: 900 })
    await expect.poll(() => separator.getAttribute('aria-orientation')).toBe('horizontal')
    expect(await separator.getAttribute('aria-valuenow')).toBe(value)
  })

  it.each([
    [1200, 'Agent', 'Queue'],
    [1760, 'Platform', 'Availability'],
  ])('shows the details at the right, where the right column was, at %d px', async (width, column, heading) => {
    const { server } = await playHandover()
    const { page } = await open(server.url, { viewport: { width, height: 900 } })
    const agent = page.getByRole('heading', { name: heading }).first()
    await agent.waitFor()
    await rows(page).filter({ hasText: 'POST message "I am Anna"' }).click()
    const list = page.getByRole('listbox', { name: 'Calls and events' })
    const { x, width: listWidth } = (await list.boundingBox())!
    await expect.poll(async () => (await detailsOf(page).boundingBox())!.x).toBeGreaterThanOrEqual(x + listWidth)
    await expect.poll(() => agent.isVisible()).toBe(false)
    // What was asked for last has the place.
    await page.getByRole('button', { name: `Unfold ${column}` }).click()
    await agent.waitFor()
    await rows(page).filter({ hasText: 'POST message "I am Anna"' }).click()
    await expect.poll(() => agent.isVisible()).toBe(false)
    await page.keyboard.press('Escape')
    await agent.waitFor()
  })

  it('says who acts in narrow rows, and draws the first of them when its column is shown', async () => {
    const { server } = await playHandover()
    const { page } = await open(server.url, { viewport: { width: 390, height: 560 } })
    await page.getByRole('button', { name: 'Wire' }).click()
    const label = row(page, 'MESSAGE FROM USER "Thank you"').locator('.sequence-label').first()
    expect(await label.evaluate(shown => getComputedStyle(shown, '::before').content)).toContain('platform →')
  })

  it('shows an earlier moment, and returns to now', async () => {
    const { server } = await playHandover()
    const { page } = await open(server.url)
    const messages = messagesOf(page)
    await expect.poll(() => messages.textContent()).toContain('Thank you')
    await rows(page).filter({ hasText: 'presses' }).click()
    await page.keyboard.press('t')
    await page.getByText('You see an earlier moment:').waitFor()
    await expect.poll(() => messages.textContent()).not.toContain('I am Anna')
    expect(await messages.textContent()).toMatch(/Pressed “Talk to a person”.*One moment/)
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('slider', { name: 'Moment' }).focus()
    await page.keyboard.press('Home')
    await expect.poll(() => page.url()).toContain('at=1')
    await page.getByRole('button', { name: 'Back to now', exact: true }).click()
    await expect.poll(() => messages.textContent()).toContain('Thank you')
  })
})
