import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createControlClient } from '../support/control-client.ts'
import {
  axeViolations,
  button,
  callPlatform,
  chromium,
  isFocused,
  messagesOf,
  open,
  press,
  runningAnimations,
  startInspected,
} from './inspector-page.ts'

const HOSTILE = '<img src=x onerror="globalThis.broken = true">'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const WAV_HEADER = 'UklGRkQDAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YSADAAA='
/** A tenth of a second of silence, with 8 bits at 8 kHz. */
const SOUND = Buffer.concat([Buffer.from(WAV_HEADER, 'base64'), Buffer.alloc(800, 128)])

/** Counts calls that scroll smoothly. Runs inside the page. */
function recordSmoothScrolls(): void {
  Reflect.set(globalThis, 'smoothScrolls', 0)
  for (const name of ['scrollTo', 'scrollBy', 'scroll', 'scrollIntoView'] as const) {
    const scroll = Element.prototype[name] as (...given: unknown[]) => void
    Element.prototype[name] = function (this: Element, ...given: unknown[]) {
      if (JSON.stringify(given).includes('smooth')) Reflect.set(globalThis, 'smoothScrolls', 1)
      return scroll.apply(this, given)
    }
  }
}

const SENDER = { name: 'Kari Nordmann', avatar: 'https://desk.example.test/kari.png', language_codes: ['en'] }

const composer = (page: Page) => page.getByLabel('Message of the user')
/** Writes as the user. */
async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
  await messagesOf(page).getByText(text, { exact: true }).waitFor()
}

describe.skipIf(chromium === null)('the chat of the end user', () => {
  it('sends texts and files, shows them, and makes no call of the platform', async () => {
    // The addresses of files are those of a server that the page cannot reach.
    const server = await startInspected({ baseUrl: 'https://chat.example.test/sim' })
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'New chat' }).click()
    await composer(page).fill('Two lines')
    await press(page, 'Shift+Enter')
    await page.keyboard.type(HOSTILE)
    await page.getByLabel('Files of the user').setInputFiles([
      { name: 'receipt.png', mimeType: 'image/png', buffer: PNG },
      { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(`<body>${HOSTILE}`) },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('wrong') },
    ])
    const chosen = page.getByRole('list', { name: 'Files to send' })
    expect(await chosen.innerText()).toMatch(/receipt\.png\s+image\/png, 70 bytes[\s\S]+page\.html\s+text\/html/)
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click()
    await composer(page).press('Enter')

    const image = page.getByAltText('receipt.png')
    await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1)
    expect(await messagesOf(page).innerText()).toContain(`Two lines\n${HOSTILE}`)
    expect(await messagesOf(page).locator('img').count()).toBe(1)
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)
    const download = page.waitForEvent('download')
    await button(page, 'Download page.html').click()
    expect((await download).suggestedFilename()).toBe('page.html')
    expect(await chosen.count()).toBe(0)
    expect(server.journal.query({ kind: 'api' })).toEqual([])
    expect(server.journal.query({ kind: 'user' })).toHaveLength(1)
  })

  it('takes dropped and pasted files, keeps them while the column is folded, and plays sound, or offers it as a file', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    const { page } = await open(server.url)
    await composer(page).fill('Here they are')
    const give = (type: 'drop' | 'paste', name: string) =>
      composer(page).evaluate(
        (field, given) => {
          const data = new DataTransfer()
          data.items.add(new File(['some bytes'], given.name, { type: 'text/plain' }))
          const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data }
          const event = given.type === 'drop' ? new DragEvent('drop', init) : new ClipboardEvent('paste', init)
          return !field.dispatchEvent(event)
        },
        { type, name },
      )
    expect(await give('drop', 'dropped.txt')).toBe(true)
    expect(await give('paste', 'pasted.txt')).toBe(true)
    const chosen = page.getByRole('list', { name: 'Files to send' })
    await expect.poll(() => chosen.innerText()).toMatch(/dropped\.txt[\s\S]+pasted\.txt/)

    await page.getByRole('button', { name: 'Fold End user' }).click()
    await composer(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Unfold End user' }).click()
    expect(await composer(page).inputValue()).toBe('Here they are')
    expect(await chosen.getByRole('listitem').count()).toBe(2)
    await composer(page).press('Enter')
    await button(page, 'Download pasted.txt').waitFor()
    expect(chat.transcript[0]).toMatchObject({ text: 'Here they are', attachments: [{ name: 'dropped.txt' }, {}] })

    await page.getByLabel('Files of the user').setInputFiles([
      { name: 'voice.wav', mimeType: 'audio/wav', buffer: SOUND },
      { name: 'broken.mp4', mimeType: 'video/mp4', buffer: Buffer.from('no video') },
    ])
    await composer(page).press('Enter')
    const seconds = (name: string) =>
      page.getByLabel(name, { exact: true }).evaluate((media: HTMLMediaElement) => media.duration)
    await expect.poll(() => seconds('voice.wav')).toBeCloseTo(0.1)
    await page.getByRole('button', { name: 'Download broken.mp4' }).waitFor()
    await expect.poll(() => page.locator('video').count()).toBe(0)
    const sent = chat.transcript.flatMap(({ attachments = [] }) => attachments.map(({ name }) => name))
    expect(sent).toEqual(['dropped.txt', 'pasted.txt', 'voice.wav', 'broken.mp4'])
  })

  it('moves nothing for people who asked their system for less motion', async () => {
    const server = await startInspected()
    const { id: chat_id } = await server.chat()
    await callPlatform(server, 'start', { chat_id, sender: SENDER })
    await callPlatform(server, 'typing_start', { chat_id })
    const { page } = await open(server.url, { reducedMotion: 'reduce' })
    await page.addInitScript(recordSmoothScrolls)
    await page.goto(`${server.url}/?knob=webhook.timeout`)
    await page.getByText('Kari Nordmann is typing').waitFor()
    await expect.poll(() => page.getByRole('textbox', { name: 'webhook.timeout' }).evaluate(isFocused)).toBe(true)
    expect(await runningAnimations(page)).toBe(0)
    expect(await page.evaluate(() => Reflect.get(globalThis, 'smoothScrolls'))).toBe(0)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await runningAnimations(page)).toBeGreaterThan(0)
  })

  it('shows the agent, both sides of a translation, safe buttons, the typing sign, and what was closed', async () => {
    const server = await startInspected()
    const { id: chat_id } = await server.chat({ language: 'nb' })
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    await callPlatform(server, 'start', { chat_id, sender: SENDER })
    const buttons = [
      { label: 'Yes' },
      { label: 'Track it', url: 'https://post.example.test/track' },
      { label: 'Bad', url: 'javascript:globalThis.broken=true' },
      { button_type: 'phone', label: 'Call', value: '+4722000000' },
      { button_type: 'quick_reply', label: 'No', value: 'no thanks' },
      { button_type: 'quick_reply', label: 'Later', value: 'Later', is_active: false },
    ]
    await callPlatform(server, 'message/', { chat_id, message: 'Which one?', sender: SENDER, buttons })
    await callPlatform(server, 'typing_start', { chat_id })

    await page.getByText('Kari Nordmann is typing').waitFor()
    const said = messagesOf(page).getByRole('listitem').filter({ hasText: 'Which one?' })
    expect(await said.innerText()).toMatch(/Kari Nordmann\s+\[en>nb\] Which one\?\s+The agent wrote\s+Which one\?/)
    const link = said.getByRole('link').first()
    expect(await said.getByRole('link').allInnerTexts()).toEqual([
      expect.stringContaining('post.example.test'),
      expect.stringContaining('+4722000000'),
    ])
    expect(await said.getByRole('button', { name: 'Later not active' }).isDisabled()).toBe(true)
    expect(await link.innerText()).toContain('post.example.test')
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    await said.getByRole('button', { name: 'Bad' }).click()
    await said.getByRole('button', { name: 'No writes “no thanks”' }).click()
    await said.getByRole('button', { name: 'Yes' }).click()
    await messagesOf(page).getByText('[nb>en] no thanks').waitFor()
    await messagesOf(page).getByText('[nb>en] Yes').waitFor()
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false)

    await callPlatform(server, 'end', { chat_id })
    await messagesOf(page).getByText('Kari Nordmann har forlatt chatten.').waitFor()
    server.setAvailability({ availability: 'CLOSED' })
    await page.getByRole('button', { name: 'Ask for a person' }).click()
    await messagesOf(page).getByText('Teamet vårt er ikke tilgjengelig').waitFor()
    expect(await axeViolations(page)).toEqual([])
  })

  it('lets the user close the chat, come back, and delete it', async () => {
    const server = await startInspected()
    const chat = await server.chat()
    await callPlatform(server, 'start', { chat_id: chat.id, sender: SENDER })
    const { page } = await open(server.url)
    await write(page, 'My secret')
    const leave = async (name: string) => {
      await page.locator('summary', { hasText: 'Leave' }).click()
      expect(await axeViolations(page)).toEqual([])
      await page.getByRole('button', { name }).click()
    }
    await leave('Close the chat')
    await messagesOf(page).getByText('The user closed the chat').waitFor()
    await page.locator('.chat-status', { hasText: 'Ended' }).waitFor()
    await write(page, 'I am back')
    await page.locator('.chat-status', { hasText: SENDER.name }).waitFor()
    await leave('Delete the chat')
    await messagesOf(page).getByText('The user deleted the chat').waitFor()
    await expect.poll(() => messagesOf(page).getByText('My secret').count()).toBe(0)
    expect(chat.view()).toMatchObject({ active: false, messages: [] })
  })

  it('has each chat as a user of its own, found and shown with the keyboard alone', async () => {
    const server = await startInspected()
    const { page } = await open(server.url)
    for (const text of ['I am the first', 'I am the second']) {
      await page.getByRole('button', { name: 'New chat' }).first().click()
      await write(page, text)
    }
    await composer(page).fill('not sent')
    await press(page, 'Escape', ']')
    await messagesOf(page).getByText('I am the first').waitFor()
    const [first, second] = server.journal.query({ kind: 'user' }).map(entry => entry.chat_id)
    await expect.poll(() => new URL(page.url()).searchParams.get('chat')).toBe(first)

    await createControlClient(server)('POST', `/chats/${second}/press`, { body: { button: 'handover' } })
    await page.getByText('1 unread').waitFor()
    await press(page, 'l')
    await page.getByLabel('Search in chats').focus()
    await page.keyboard.type('THE SECOND')
    const rows = page.getByRole('listbox', { name: 'Chats' }).getByRole('option')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('listbox', { name: 'Chats' }).focus()
    await press(page, 'Home')
    await messagesOf(page).getByText('I am the second').waitFor()
    expect(await composer(page).inputValue()).toBe('not sent')
    await expect.poll(() => new URL(page.url()).searchParams.get('chat')).toBe(second)
    await page.reload()
    await messagesOf(page).getByText('I am the second').waitFor()
  })

  it('shows a shipped conversation in Arabic mirrored, and has it also at an earlier moment', async () => {
    const server = await startInspected()
    const { page } = await open(server.url)
    await page.getByRole('button', { name: 'Set up a chat' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Conversation so far').selectOption('ar-shop')
    await dialog.getByLabel('With this name').check()
    await dialog.getByLabel('First name').fill('Ada')
    await dialog.getByLabel('Last name').fill('Berg')
    await dialog.getByLabel('Context').fill('{ no json')
    await dialog.getByRole('button', { name: 'Start chat' }).click()
    await dialog.getByText('This is not JSON').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByLabel('Context').fill('{ "order": 7 }')
    await dialog.getByRole('button', { name: 'Start chat' }).click()
    await page.getByRole('heading', { name: 'Ada Berg' }).waitFor()
    const { messages: history } = (await createControlClient(server)('GET', `/chats/${server.chats()[0]!.chatId}`)).body
    await expect.poll(() => messagesOf(page).locator('.message').count()).toBe(history.length)
    expect(await messagesOf(page).evaluate(list => getComputedStyle(list).direction)).toBe('rtl')

    await write(page, 'مرحبا')
    await page.goto(`${page.url()}&at=1`)
    await page.getByText('You see an earlier moment:').waitFor()
    await expect.poll(() => messagesOf(page).locator('.message').count()).toBe(history.length)
    expect(await composer(page).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await messagesOf(page).getByText('مرحبا', { exact: true }).waitFor()
  })

  it('draws the latest of 5,000 messages, more when they are scrolled to, and says what came below', async () => {
    const server = await startInspected()
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ user: `Message ${index}` }))
    const chat = await server.chat({ history: rows })
    const { page } = await open(server.url)
    await messagesOf(page).getByText('Message 4999', { exact: true }).waitFor()
    const drawn = () => messagesOf(page).locator('.message').count()
    expect(await drawn()).toBeLessThan(100)
    const box = page.getByRole('region', { name: 'Chat', exact: true })
    await box.evaluate(element => element.scrollTo({ top: 0 }))
    await expect.poll(drawn).toBeGreaterThan(100)
    expect(await box.evaluate(element => element.scrollTop)).toBeGreaterThan(0)
    await chat.says('Hello')
    await button(page, /new message/).click()
    await expect.poll(() => messagesOf(page).getByText('Hello', { exact: true }).isVisible()).toBe(true)
    const below = () => box.evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight)
    await expect.poll(below).toBeLessThan(2)
  })

  it('shows the chats of the chosen workspace alone, and says that another tab closed it', async () => {
    const server = await startInspected()
    const ask = createControlClient(server)
    await (await server.chat()).says('In the default one')
    const { page } = await open(server.url)
    await messagesOf(page).getByText('In the default one').waitFor()
    await page.getByText('Menu', { exact: true }).click()
    await button(page, 'New workspace').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('no spaces allowed')
    await button(dialog, 'Create workspace').click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Name').fill('checkout')
    await button(dialog, 'Create workspace').click()
    await page.getByText('There is no chat yet.').waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('workspace')).toBe('checkout')
    await button(page, 'New chat').click()
    await write(page, 'In the other one')
    await page.getByLabel('Workspace').selectOption('default')
    await messagesOf(page).getByText('In the default one').waitFor()
    await page.getByLabel('Workspace').selectOption('checkout')
    await messagesOf(page).getByText('In the other one').waitFor()
    await page.getByText('Menu', { exact: true }).click()
    await button(page, 'Close workspace').click()
    await messagesOf(page).getByText('In the default one').waitFor()
    expect((await ask('GET', '/workspaces')).body).toEqual({ workspaces: [] })

    await ask('POST', '/workspaces', { body: { name: 'later' } })
    await page.goto(`${server.url}/?workspace=later`)
    await page.getByText('There is no chat yet.').waitFor()
    await ask('DELETE', '/workspaces/later')
    await page.getByText('This workspace does not exist.').waitFor()
    await page.getByLabel('Workspace').selectOption('default')
    await messagesOf(page).getByText('In the default one').waitFor()
  })
})
