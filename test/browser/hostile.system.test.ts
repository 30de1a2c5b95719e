/** Feeds the inspector with hostile texts in every place: they stay texts, and the page stays as it is. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { PlatformServer } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { startWebhook } from '../support/network.ts'
import { callPlatform, chromium, messagesOf, open, startInspected } from './inspector-page.ts'

const HOSTILE = `"><img src=x onerror="globalThis.broken=1"><script>globalThis.broken=1</script>`
const ELSEWHERE = 'https://elsewhere.example.test/'
const URLS = [
  'javascript:globalThis.broken=1',
  'data:text/html,<script>1</script>',
  `${ELSEWHERE}"onclick="1`,
  ' JaVaScRiPt:1',
]
const SECTIONS = 'availability,webhook,keys,faults,clock,knobs,snapshot'

async function callAll(server: PlatformServer, chatId: string): Promise<void> {
  const sender = { name: HOSTILE, avatar: `${ELSEWHERE}a.png`, language_codes: ['en'] }
  const call = (path: string, body: object) => callPlatform(server, path, { chat_id: chatId, ...body })
  await call('start', { sender })
  const buttons = URLS.map(url => ({ label: HOSTILE, url }))
  await call('message', { message: HOSTILE, sender, buttons })
  for (const avatar of URLS) await call('message', { message: avatar, sender: { ...sender, avatar } })
  await call('message', { chat_id: HOSTILE, message: { [HOSTILE]: HOSTILE } })
  await call(`${encodeURIComponent(HOSTILE)}`, {})
}

/** Two chats with names, texts, files, replies, faults and a workspace that are hostile. Returns the id of the workspace. */
async function fill(server: PlatformServer, webhookUrl: string): Promise<void> {
  const ask = createControlClient(server)
  await ask('PATCH', '/config', {
    body: {
      'webhook.url': `${webhookUrl}?${encodeURIComponent(HOSTILE)}`,
      'bot.replies': [{ match: 'hello', text: HOSTILE, buttons: [{ label: HOSTILE, url: URLS[2] }] }],
    },
  })
  await ask('POST', '/faults', { body: { name: HOSTILE, on: { api: 'end' }, respond: { status: 503, body: HOSTILE } } })
  await ask('POST', '/workspaces', { body: { name: 'with-a-name' } })
  const user = { first_name: HOSTILE, last_name: `\u202e${HOSTILE}` }
  const { chat_id } = (
    await ask('POST', '/chats', { body: { user, source: HOSTILE, context: { [HOSTILE]: HOSTILE } } })
  ).body
  const form = new FormData()
  form.set('text', `hello ${HOSTILE}`)
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.broken=1"/>'
  form.append('files', new File(['<script>globalThis.broken=1</script>'], `${HOSTILE}.html`, { type: 'text/html' }))
  form.append('files', new File([drawing], 'a.svg', { type: 'image/svg+xml' }))
  await ask('POST', `/chats/${chat_id}/messages`, { form })
  await ask('POST', `/chats/${chat_id}/press?wait=ack`, { body: { button: 'handover' } })
  await callAll(server, chat_id)
  await ask('PUT', '/availability', { body: { availability: 'CLOSED', reason: 'OTHER' } })
}

/** What must never be in the page. */
async function expectTexts(page: Page, view: string): Promise<void> {
  await page.getByRole('heading', { name: 'handover-sim' }).waitFor()
  const found = await page.evaluate(() => ({
    broken: 'broken' in globalThis,
    elements: [
      ...document.querySelectorAll('[onerror], [onclick], [onload], main script, img[src="x"], iframe, object, embed'),
    ].map(({ outerHTML }) => outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('a[href], [src]')]
      .map(element => element.getAttribute('href') ?? element.getAttribute('src') ?? '')
      .filter(address => /^\s*(javascript|data:text)/i.test(address)),
  }))
  expect(found, view).toEqual({ broken: false, elements: [], links: [] })
}

describe.skipIf(chromium === null)('hostile texts', () => {
  it('are texts in every view, and no button of a message opens a script', async () => {
    await using webhook = await startWebhook((_, response) =>
      response.writeHead(500, { 'content-type': 'text/html', 'x-hostile': HOSTILE }).end(`<body>${HOSTILE}`),
    )
    const server = await startInspected()
    await fill(server, webhook.url)
    const { page } = await open(server.url)
    const messages = messagesOf(page)
    await messages.getByText(HOSTILE).first().waitFor()
    await expectTexts(page, 'chat')
    expect(await messages.getByRole('link').count()).toBe(2)
    for (const button of await messages.getByRole('button', { name: 'not opened' }).all()) await button.click()
    await page.getByRole('button', { name: '1 chat' }).click()
    await expectTexts(page, 'after pressing buttons')
    const entries = server.journal.query()
    for (const [wire, query] of [
      ['diagram', ''],
      ['list', `side=platform&sections=${SECTIONS}&`],
    ] as const) {
      await page.goto(`${server.url}/?${query}wire=${wire}&all=1&entry=1`)
      await page.getByRole('region', { name: 'Entry 1', exact: true }).waitFor()
      const list = page.getByRole('listbox').last()
      await list.focus()
      for (const _ of entries) {
        await page.keyboard.press('ArrowDown')
        await expectTexts(page, `${wire} ${new URL(page.url()).search}`)
      }
    }
  })

  it('in the address break nothing', async () => {
    const server = await startInspected()
    await (await server.chat()).says('Hello')
    const { page } = await open(server.url)
    const hostile = encodeURIComponent(HOSTILE)
    const names = ['chat', 'filter', 'workspace', 'kind', 'side', 'wire', 'column', 'sections', 'knob', 'at', 'entry']
    const addresses = [
      ...names.map(name => `?${name}=${hostile}`),
      ...names.map(name => `?${name}=__proto__`),
      '?entry=999999999999999&compare=0&at=999999999999999',
      '?at=0&entry=1&compare=1',
      '?folded=user,wire,side,agent&column=agent&sections=,,,',
      '?workspace=..%2F..%2Fchats&all&problems',
      `#${hostile}`,
      '?%E0%A4%A',
    ]
    for (const address of addresses) {
      await page.goto(`${server.url}/${address}`)
      await page.getByText(/^(Live|This workspace does not exist\.)$/).waitFor()
      await expectTexts(page, address)
    }
  })
})
