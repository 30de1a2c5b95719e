/** The agent's side of the page: a handover by hand alone, beside an intermediary, with the demo, with a driver. */

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { PlatformServer } from '../../src/server/start.ts'
import { openDesk } from '../agent-driver/desk.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { createControlClient } from '../support/control-client.ts'
import { axeViolations, button, chromium, messagesOf, open, sees, startInspected } from './inspector-page.ts'

/** Makes a chat, which asks for a person. */
async function waitingChat(url: string): Promise<string> {
  const ask = createControlClient({ url })
  const { chat_id } = (await ask('POST', '/chats', { body: { language: 'en' } })).body
  await ask('POST', `/chats/${chat_id}/messages`, { body: { text: 'Where is my parcel?' } })
  await ask('POST', `/chats/${chat_id}/press?wait=ack`, { body: { button: 'handover' } })
  return chat_id
}

const click = (page: Page, name: string) => button(page, name).click()
const callsOf = (journal: PlatformServer['journal']) =>
  journal.query({ kind: 'api' }).flatMap(entry => (entry.kind === 'api' ? [entry] : []))

describe.skipIf(chromium === null)('the desk of the page', () => {
  it('reaches all nine endpoints, and shows code and entry of each call', async () => {
    const { url, journal } = await startInspected()
    await waitingChat(url)
    const { page } = await open(url)
    await button(page, /asks for a person/)
      .first()
      .waitFor()
    await click(page, 'Accept')
    await sees(page, 'The agent has the chat.')
    await page.getByText('The call as code').click()
    const code = page.locator('.call-code pre')
    expect(await code.textContent()).toContain(`curl -s -X POST '${url}/api/v2/handover/start'`)
    expect(await code.textContent()).toContain("-H 'authorization: Bearer sim-handover-key'")
    await click(page, 'test')
    expect(await code.textContent()).toContain('expect(response.status).toBe(200)')
    await page.getByRole('button', { name: /^Entry #/ }).click()
    await page.getByRole('region', { name: /^Entry \d+/ }).waitFor()
    await page.getByLabel('Message of the agent').pressSequentially('Hi')
    await page.getByRole('region', { name: 'Chat of the agent' }).getByRole('button', { name: 'Send' }).click()
    await sees(page, 'The user sees the message.')
    await page.getByText('More calls').click()
    for (const name of ['Get the handover transcript', 'Read the whole chat']) await click(page, name)
    await sees(page, 'The chat with all its messages.')
    await click(page, 'Set to CLOSED')
    await sees(page, 'The availability is set.')
    await click(page, 'Summarize the chat')
    await sees(page, /Refused with 400/)
    await click(page, 'Hand back')
    await sees(page, 'The bot has the chat again.')
    const calls = callsOf(journal)
    expect(calls.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual([
      ...['start 200', 'typing_start 200', 'typing_stop 200', 'message 200', 'transcript 200', 'chat 200'],
      ...['availability 200', 'summarize 400', 'end 200'],
    ])
    expect(calls[3]!.request.body).toMatchObject({ message: 'Hi', sender: { name: 'Anna' } })
    expect(calls[6]!.request.body).toEqual({ availability: 'CLOSED', reason: 'AGENT_AVAILABILITY' })
  })

  it('names the field of a refusal, and shows no typing when that is turned off', async () => {
    const { url, journal } = await startInspected({ knobs: { 'strict.sender': 'on' } })
    await waitingChat(url)
    const { page } = await open(url)
    await page.getByText('The agent: Anna').click()
    await page.getByLabel('Show the user that I type').uncheck()
    await page.getByLabel('Name', { exact: true }).fill('Zoë')
    await page.getByLabel('Avatar').fill('')
    await page.getByLabel('Message of the agent').pressSequentially('Too early')
    await page.keyboard.press('Enter')
    await page.getByText('Field: sender.avatar').waitFor()
    await page.reload()
    await sees(page, 'The agent: Zoë')
    await click(page, 'Accept')
    await sees(page, 'Zoë has this chat.')
    expect(callsOf(journal).map(({ endpoint }) => endpoint)).toEqual(['message', 'start'])
  })

  it('sends each text to the chat for which it was written, and stops typing there', async () => {
    const { url, journal } = await startInspected()
    const [first, second] = [await waitingChat(url), await waitingChat(url)]
    const { page } = await open(url)
    const queue = page.getByRole('region', { name: 'Queue' })
    const field = page.getByLabel('Message of the agent')
    await click(page, 'Accept')
    await sees(page, 'The agent has the chat.')
    await field.pressSequentially('For the second')
    const third = await waitingChat(url)
    await expect.poll(() => queue.getByRole('listitem').count()).toBe(3)
    expect(await field.inputValue()).toBe('For the second')
    await queue.getByRole('button').first().click()
    await expect.poll(() => field.inputValue()).toBe('')
    const calls = () => callsOf(journal).map(({ endpoint, chat_id }) => `${endpoint} ${chat_id}`)
    await expect.poll(calls).toContain(`typing_stop ${second}`)
    await field.fill('For the first')
    await click(page, 'Platform')
    await click(page, 'Fold Platform')
    await click(page, 'Unfold Platform')
    await page.getByRole('button', { name: /^Agent/ }).click()
    expect(await field.inputValue()).toBe('For the first')
    await page.keyboard.press('Escape')
    await queue.getByRole('button', { name: /with an agent/ }).click()
    await expect.poll(() => field.inputValue()).toBe('For the second')
    await field.press('Enter')
    await sees(page, 'The user sees the message.')
    expect(await field.inputValue()).toBe('')
    const typed = ['typing_start', 'typing_stop', 'message'].map(endpoint => `${endpoint} ${second}`)
    expect(calls()).toEqual([`start ${second}`, ...typed])
    expect([first, third]).not.toContain(second)
  })

  it('gives back a message that the platform does not accept, before what was written since', async () => {
    const { url } = await startInspected({ knobs: { 'strict.sender': 'on' } })
    await waitingChat(url)
    const { page } = await open(url)
    const field = page.getByLabel('Message of the agent')
    const pending = Promise.withResolvers<void>()
    await page.route('**/handover/message/', async route => {
      await pending.promise
      await route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'Not now' } } })
    })
    await click(page, 'Accept')
    await sees(page, 'The agent has the chat.')
    await field.fill('First')
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('')
    await field.fill('Second')
    pending.resolve()
    await expect.poll(() => field.inputValue()).toBe('First\nSecond')
  })
})

const DRIVER = (desk: string) => `version: 1
http: ${desk}
accept: { POST: "/desk/$(chat.id)/accept" }
says: { POST: "/desk/$(chat.id)/messages", json: { text: $(text) } }
inbox: { GET: "/desk/$(chat.id)/inbox" }
does: { transfer: { POST: /desk/transfer, json: { team: $(team) } } }
`

describe.skipIf(chromium === null)('the agent when others play it', () => {
  it('leaves the calls to an intermediary, unless the user wants to call as well', async () => {
    const { url } = await startInspected({ webhook: { url: 'http://127.0.0.1:9/hook' } })
    const { page } = await open(url)
    await sees(page, 'The intermediary at http://127.0.0.1:9/hook plays the agent now.')
    await waitingChat(url)
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0)
    await click(page, 'Call the platform from here as well')
    await sees(page, 'The calls of this desk mix with those of the intermediary at http://127.0.0.1:9/hook.')
    await click(page, 'Accept')
    await sees(page, 'The agent has the chat.')
  })

  it('plays a handover in the desk of the demo', async () => {
    const { url } = await started(['--demo'])
    const { page } = await open(url)
    await click(page, 'New chat')
    await sees(page, 'The help desk does not know this chat yet.')
    expect(await page.locator('.help-desk').locator('.refusal, .primary').count()).toBe(0)
    await click(page, 'Ask for a person')
    await page.locator('.help-desk .primary', { hasText: 'Accept' }).waitFor()
    const inbox = page.getByRole('list', { name: 'Inbox of the help desk' })
    await inbox.getByText('The user asks for a person.').waitFor()
    await click(page, 'Accept')
    await sees(page, /joined the chat/)
    await page.getByLabel('Message of the agent').fill('Hello from the desk')
    await page.keyboard.press('Enter')
    await messagesOf(page).getByText('Hello from the desk').waitFor()
    await page.getByLabel('Message of the user').fill('Thanks')
    await page.keyboard.press('Enter')
    await inbox.getByText('Thanks').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await click(page, 'Leave the chat')
    await sees(page, 'That was a whole handover')
  })

  it('acts through an agent driver, as far as it can, and shows refusals of the help desk', async () => {
    const desk = await openDesk(({ url }, response) => {
      if (url.endsWith('/inbox')) response.end('[{"request":true},{"text":"<img src=x onerror=alert(1)>"}]')
      else if (url.endsWith('/accept')) response.writeHead(409).end('{"error":"taken"}')
      else response.end('{}')
    })
    const { url } = await started(['--agent-driver', 'd.yaml'], {}, fakeIo(folderWith({ 'd.yaml': DRIVER(desk.url) })))
    await waitingChat(url)
    const { page } = await open(url)
    await sees(page, 'What you do here happens in your help desk, through d.yaml.')
    await sees(page, '<img src=x onerror=alert(1)>')
    expect(await page.getByRole('button', { name: 'Leave the chat' }).count()).toBe(0)
    await click(page, 'Accept')
    await sees(page, 'answered 409: {"error":"taken"}')
    await page.getByText('Verbs of your own').click()
    await page.getByLabel('Parameters as JSON').fill('{"team":"billing"}')
    await click(page, 'transfer')
    await sees(page, 'The help desk answered 200.')
    expect(desk.asked.at(-1)).toMatchObject({ url: '/desk/transfer', body: '{"team":"billing"}' })
  })
})
