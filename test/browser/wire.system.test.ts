import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readJournal } from '../../src/evaluation/evaluator/journal-file.ts'
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { ROOT } from '../architecture/files.ts'
import { createControlClient } from '../support/control-client.ts'
import { createReceiver } from '../support/receiver.ts'
import { axeViolations, callPlatform, chromium, detailsOf, messagesOf, open, startInspected } from './inspector-page.ts'

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

const rows = (page: Page) => page.getByRole('listbox').getByRole('option')
const seqOf = (server: PlatformServer, test: (entry: Entry) => boolean) => server.journal.query().findLast(test)!.seq
const isCall = (status: number) => (entry: Entry) => entry.kind === 'api' && entry.status === status

describe.skipIf(chromium === null)('the wire', () => {
  it('lists, filters and searches entries, and keeps the view in the address', async () => {
    const { server } = await playHandover()
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await expect.poll(() => rows(page).count()).toBe(server.journal.nextSeq - 1)
    await page.getByRole('searchbox', { name: 'Search in entries' }).fill('my PARCEL')
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Where is my parcel?')])
    await page.getByRole('searchbox', { name: 'Search in entries' }).fill('')
    await page.getByRole('button', { name: 'Only problems' }).click()
    await expect.poll(() => rows(page).count()).toBe(4)
    await page.getByRole('combobox', { name: 'Kind of entries' }).selectOption('call')
    await expect.poll(() => page.url()).toMatch(/wire=list.*kind=api.*problems=1/)
    await page.reload()
    await expect.poll(() => rows(page).count()).toBe(4)
  })

  it('explains refused calls in words, and leads to the knob of an assumption', async () => {
    const { server } = await playHandover()
    const { page } = await open(`${server.url}/?entry=${seqOf(server, isCall(400))}`)
    await expect.poll(() => detailsOf(page).textContent()).toMatch(/Field\s*message\s*Expected.*Received\s*42/)
    await page.goto(`${server.url}/?entry=${seqOf(server, isCall(404))}`)
    await expect.poll(() => detailsOf(page).textContent()).toContain('/api/v2/handover/start')
    await page.goto(`${server.url}/?entry=${seqOf(server, isCall(401))}`)
    await expect.poll(() => detailsOf(page).textContent()).toContain('No bot has this key.')
    expect(await axeViolations(page)).toEqual([])
    await detailsOf(page).getByRole('button', { name: 'errors.body' }).click()
    await expect.poll(() => page.url()).toContain('knob=errors.body')
    await page
      .getByRole('heading', { name: 'Platform' })
      .or(page.getByRole('tab', { name: 'Platform' }))
      .first()
      .waitFor()
  })

  it('says what is known about a refused signature, shows its bytes, and sends it again', async () => {
    const { server, hook } = await playHandover(true)
    const refused = seqOf(server, entry => entry.kind === 'delivery' && entry.status === 401)
    const { page } = await open(`${server.url}/?column=wire&entry=${refused}`, {
      viewport: { width: 320, height: 640 },
    })
    await expect
      .poll(() => detailsOf(page).textContent())
      .toMatch(/accepted events until #\d+, and refuses them since #\d+/)
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
    await expect.poll(() => detailsOf(page).textContent()).toContain('sent again manually')
    expect(hook.received.at(-1)!.text).toBe(hook.received.at(-2)!.text)
    expect(hook.received.at(-1)!.headers.get('kindly-hmac')).toBe(hook.received.at(-2)!.headers.get('kindly-hmac'))
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
    await expect.poll(() => detailsOf(page).textContent()).toContain('The webhook accepted it')
  })

  it('repeats a call with changes and selects its entry', async () => {
    const { server } = await playHandover()
    const { page } = await open(`${server.url}/?entry=${seqOf(server, isCall(400))}`)
    await detailsOf(page).getByRole('button', { name: 'Repeat with changes' }).click()
    const dialog = page.getByRole('dialog')
    const body = dialog.getByLabel('Body (not sent with GET)')
    await body.fill((await body.inputValue()).replace('"message": 42', '"message": "Forty-two"'))
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('Answer 200.').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => detailsOf(page).textContent()).toContain('POST message "Forty-two"')
    await expect.poll(() => messagesOf(page).textContent()).toContain('Forty-two')
  })

  it('compares two entries field by field', async () => {
    const { server } = await playHandover()
    const [first, second] = [seqOf(server, isCall(404)), seqOf(server, isCall(401))]
    const { page } = await open(`${server.url}/?wire=list&entry=${first}`)
    await detailsOf(page).waitFor()
    await page.keyboard.press('c')
    await detailsOf(page).getByText('Select the entry to compare').waitFor()
    await rows(page)
      .filter({ hasText: `#${second}` })
      .click()
    await expect.poll(() => detailsOf(page).textContent()).toContain(`#${first} and #${second}`)
    const status = detailsOf(page)
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: 'status', exact: true }) })
    expect(await status.textContent()).toBe('status404401')
    const names = detailsOf(page).getByRole('table').first().getByRole('rowheader')
    expect(await names.allTextContents()).not.toContain('time')
    expect((await names.allTextContents())[0]).toMatch(/^(request\.body|response|status)/)
    await detailsOf(page)
      .getByText(/with ids, times and lengths$/)
      .waitFor()
    expect(await axeViolations(page)).toEqual([])

    await page.keyboard.press('Escape')
    await rows(page)
      .filter({ hasText: `#${second}` })
      .click()
    await rows(page)
      .filter({ hasText: `#${first}` })
      .click({ modifiers: ['Shift'] })
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
    await expect
      .poll(async () => (await detailsOf(page).boundingBox())!.x)
      .toBeGreaterThanOrEqual(((await list.boundingBox())?.x ?? 0) + ((await list.boundingBox())?.width ?? 0))
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
    const drawn = () =>
      rows(page).evaluateAll(all => {
        const list = document.querySelector('.virtual-list')?.getBoundingClientRect()
        return all.filter(row => row.getBoundingClientRect().top < (list?.top ?? 0) + 1).length
      })
    // A row begins at the top of the list or above it.
    await expect.poll(drawn).toBeGreaterThan(0)
    const from = (text: string) =>
      rows(page)
        .filter({ hasText: text })
        .locator('.sequence-label')
        .first()
        .evaluate(label => getComputedStyle(label, '::before').content)
    expect(await from('MESSAGE FROM USER "Thank you"')).toContain('platform →')
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

  it('draws a row again when its event is answered', async () => {
    const answered = Promise.withResolvers<void>()
    const refuse = () => answered.promise.then(() => new Response('invalid signature', { status: 401 }))
    const server = await startInspected({ webhook: { fetch: refuse } })
    const { page } = await open(server.url)
    // An entry without a chat gets no number of a chat.
    server.configure({ 'bot.replies': [] })
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByText(/^chat 1 · en/).waitFor()
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    const row = page.getByRole('option', { name: /REQUESTING TAKEOVER/ })
    await row.waitFor()
    answered.resolve()
    await expect.poll(() => row.textContent()).toContain('401 in')
    await row.click()
    await page.getByText('It accepted no event so far (1 refused).').waitFor()
    await page.locator('blockquote', { hasText: 'invalid signature' }).waitFor()
  })

  it('downloads the journal in the form of saved journals', async () => {
    const { server } = await playHandover()
    const { page } = await open(server.url)
    await page.getByText('More', { exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the journal' }).click(),
    ])
    const text = readFileSync(await download.path(), 'utf8')
    expect(readJournal('journal.jsonl', text).journal.map(({ seq }) => seq)).toEqual(
      server.journal.query().map(({ seq }) => seq),
    )
  })
})

/** Starts `handover-sim start` as a process. */
async function startProcess(port: number) {
  const argv = ['bin/handover-sim.js', 'start', '--port', String(port), '--json', '--output', 'quiet']
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  child.stdout.resume()
  return { child, ready: JSON.parse(String(line).split('\n')[0]!) as { url: string; inspectorUrl: string } }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function writeAsUser(url: string, texts: readonly string[]): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/_sim${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const { chat_id } = (await post('/chats', {})) as { chat_id: string }
  for (const text of texts) await post(`/chats/${chat_id}/messages`, { text })
}

/** What the list shows of what users wrote. */
const written = async (page: Page) =>
  (await rows(page).allTextContents()).flatMap(text => /user.*?"(\w+)"/.exec(text)?.[1] ?? [])

describe.skipIf(chromium === null)('the stream of entries', () => {
  it('continues without gaps or doubles after a restart of the server, a reset and a restored snapshot', async () => {
    const { child, ready } = await startProcess(0)
    const { page, problems } = await open(`${ready.inspectorUrl}?wire=list&all=1`)
    await writeAsUser(ready.url, ['one', 'two'])
    await expect.poll(() => written(page)).toEqual(['one', 'two'])
    await kill(child)
    await page.getByText(`handover-sim start --port ${new URL(ready.url).port}`).waitFor()

    const { ready: again } = await startProcess(Number(new URL(ready.url).port))
    await writeAsUser(again.url, ['three', 'four', 'five', 'six'])
    await expect.poll(() => written(page)).toEqual(['three', 'four', 'five', 'six'])

    const snapshot = await (await fetch(`${again.url}/_sim/snapshot`)).text()
    await fetch(`${again.url}/_sim/reset`, { method: 'POST' })
    await writeAsUser(again.url, ['seven'])
    await expect.poll(() => written(page)).toEqual(['seven'])
    const headers = { 'content-type': 'application/json' }
    await fetch(`${again.url}/_sim/snapshot`, { method: 'PUT', headers, body: snapshot })
    await writeAsUser(again.url, ['eight'])
    await expect.poll(async () => (await written(page)).slice(-1)).toEqual(['eight'])
    expect((await written(page)).filter(text => text === 'seven')).toEqual([])
    await page.close()
    // The browser reports that it could not connect while there was no server.
    problems.length = 0
  })
})
