/** The agent's side of the page: a handover by hand alone, beside an intermediary, with the demo, with a driver. */

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { PlatformServer } from '../../src/server/start.ts'
import { openDesk } from '../agent-driver/desk.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { axeViolations, chromium, messagesOf, open, startInspected } from './inspector-page.ts'

/** Makes a chat, which asks for a person. */
async function waitingChat(url: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${url}/_sim/chats${path}`, init)).json()
  }
  const { chat_id } = await post('', { language: 'en' })
  await post(`/${chat_id}/messages`, { text: 'Where is my parcel?' })
  await post(`/${chat_id}/press?wait=ack`, { button: 'handover' })
  return chat_id
}

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const text = (page: Page, wanted: string | RegExp) => page.getByText(wanted).first().waitFor()
const steps = (page: Page) => page.getByRole('region', { name: 'Your first handover' }).getByRole('listitem')

describe.skipIf(chromium === null)('the desk of the page', () => {
  it('reaches all nine endpoints, and shows code and entry of each call', async () => {
    const { url, journal } = await startInspected()
    await waitingChat(url)
    const { page } = await open(url)
    await page
      .getByRole('button', { name: /asks for a person/ })
      .first()
      .waitFor()
    await click(page, 'Accept')
    await text(page, 'The agent has the chat.')
    await page.getByText('The call as code').click()
    expect(await page.locator('.call-code pre').textContent()).toContain(
      `curl -s -X POST '${url}/api/v2/handover/start'`,
    )
    expect(await page.locator('.call-code pre').textContent()).toContain("-H 'authorization: Bearer sim-handover-key'")
    await click(page, 'test')
    expect(await page.locator('.call-code pre').textContent()).toContain('expect(response.status).toBe(200)')
    await page.getByRole('button', { name: /^Entry #/ }).click()
    await page.getByRole('region', { name: /^Entry \d+/ }).waitFor()
    await page.getByLabel('Message of the agent').pressSequentially('Hi')
    await page.getByRole('region', { name: 'Chat of the agent' }).getByRole('button', { name: 'Send' }).click()
    await text(page, 'The user sees the message.')
    await page.getByText('More calls').click()
    for (const name of ['Get the handover transcript', 'Read the whole chat']) await click(page, name)
    await text(page, 'The chat with all its messages.')
    await click(page, 'Set to CLOSED')
    await text(page, 'The availability is set.')
    await click(page, 'Summarize the chat')
    await text(page, /Refused with 400/)
    await click(page, 'Hand back')
    await text(page, 'The bot has the chat again.')
    const calls = journal.query({ kind: 'api' }).flatMap(entry => (entry.kind === 'api' ? [entry] : []))
    expect(calls.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual([
      'start 200',
      'typing_start 200',
      'typing_stop 200',
      'message 200',
      'transcript 200',
      'chat 200',
      'availability 200',
      'summarize 400',
      'end 200',
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
    await text(page, 'The agent: Zoë')
    await click(page, 'Accept')
    await text(page, 'Zoë has this chat.')
    const calls = journal.query({ kind: 'api' }).flatMap(entry => (entry.kind === 'api' ? [entry.endpoint] : []))
    expect(calls).toEqual(['message', 'start'])
  })

  it('guides through the first handover, ticks off what the journal shows, and does not come back', async () => {
    const { url } = await startInspected()
    const { page } = await open(url)
    await expect.poll(() => steps(page).count()).toBe(6)
    const current = () => page.locator('[aria-current="step"]').textContent()
    expect(await current()).toContain('Press New chat')
    await click(page, 'New chat')
    await expect.poll(current).toContain('Write a message')
    await page.getByLabel('Message of the user').fill('Where is my parcel?')
    await page.keyboard.press('Enter')
    await expect.poll(current).toContain('Ask for a person')
    await click(page, 'Ask for a person')
    await expect.poll(current).toContain('Accept the chat')
    expect(await axeViolations(page)).toEqual([])
    await click(page, 'Accept')
    await text(page, 'The agent has the chat.')
    await page.getByLabel('Message of the agent').fill('Hello')
    await page.keyboard.press('Enter')
    await click(page, 'Hand back')
    await text(page, 'That was a whole handover')
    await page.reload()
    await text(page, 'No chat asks for a person.')
    expect(await page.getByText('Your first handover').count()).toBe(0)
  })

  it('sends each text to the chat for which it was written, and stops typing there', async () => {
    const { url, journal } = await startInspected()
    const [first, second] = [await waitingChat(url), await waitingChat(url)]
    const { page } = await open(url)
    const queue = page.getByRole('region', { name: 'Queue' })
    const field = page.getByLabel('Message of the agent')
    await click(page, 'Accept')
    await text(page, 'The agent has the chat.')
    await field.pressSequentially('For the second')
    const third = await waitingChat(url)
    await expect.poll(() => queue.getByRole('listitem').count()).toBe(3)
    expect(await field.inputValue()).toBe('For the second')
    await queue.getByRole('button').first().click()
    await expect.poll(() => field.inputValue()).toBe('')
    await expect.poll(() => callsOf(journal)).toContain(`typing_stop ${second}`)
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
    await text(page, 'The user sees the message.')
    expect(await field.inputValue()).toBe('')
    const typed = ['typing_start', 'typing_stop', 'message'].map(endpoint => `${endpoint} ${second}`)
    expect(callsOf(journal)).toEqual([`start ${second}`, ...typed])
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
    await text(page, 'The agent has the chat.')
    await field.fill('First')
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('')
    await field.fill('Second')
    pending.resolve()
    await expect.poll(() => field.inputValue()).toBe('First\nSecond')
  })
})

const callsOf = (journal: PlatformServer['journal']): string[] =>
  journal.query({ kind: 'api' }).flatMap(entry => (entry.kind === 'api' ? `${entry.endpoint} ${entry.chat_id}` : []))

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
    await text(page, 'The intermediary at http://127.0.0.1:9/hook plays the agent now.')
    await waitingChat(url)
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0)
    await click(page, 'Call the platform from here as well')
    await text(page, 'The calls of this desk mix with those of the intermediary at http://127.0.0.1:9/hook.')
    await click(page, 'Accept')
    await text(page, 'The agent has the chat.')
  })

  it('plays a handover in the desk of the demo', async () => {
    const { url } = await started(['--demo'])
    const { page } = await open(url)
    await waitingChat(url)
    const inbox = page.getByRole('list', { name: 'Inbox of the help desk' })
    await inbox.getByText('The user asks for a person.').waitFor()
    await click(page, 'Accept')
    await text(page, /joined the chat/)
    await page.getByLabel('Message of the agent').fill('Hello from the desk')
    await page.keyboard.press('Enter')
    await messagesOf(page).getByText('Hello from the desk').waitFor()
    await page.getByLabel('Message of the user').fill('Thanks')
    await page.keyboard.press('Enter')
    await inbox.getByText('Thanks').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await click(page, 'Leave the chat')
    await text(page, 'That was a whole handover')
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
    await text(page, 'What you do here happens in your help desk, through d.yaml.')
    await text(page, '<img src=x onerror=alert(1)>')
    expect(await page.getByRole('button', { name: 'Leave the chat' }).count()).toBe(0)
    await click(page, 'Accept')
    await text(page, 'answered 409: {"error":"taken"}')
    await page.getByText('Verbs of your own').click()
    await page.getByLabel('Parameters as JSON').fill('{"team":"billing"}')
    await click(page, 'transfer')
    await text(page, 'The help desk answered 200.')
    expect(desk.asked.at(-1)).toMatchObject({ url: '/desk/transfer', body: '{"team":"billing"}' })
  })
})
