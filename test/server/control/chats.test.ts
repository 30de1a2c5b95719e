import { describe, expect, test } from 'vitest'
import { startWebhook } from '../../support/network.ts'
import { startTestServer } from '../../support/test-server.ts'

test('creates, lists and shows a chat as its user sees it', async () => {
  const { server, control } = await startTestServer()
  const history = [{ user: 'Hi' }, { bot: 'Hello', buttons: [{ label: 'Opening hours' }] }]
  const { status, body } = await control('POST', '/chats', { body: { language: 'nb', history } })
  expect([status, body]).toMatchObject([201, { bot_id: 1042, url: `${server.url}/_sim/chats/${body.chat_id}` }])
  expect((await control('GET', `/chats/${body.chat_id}`)).body).toMatchObject({
    ...{ chat_id: body.chat_id, language: 'nb', source: 'web', status: 'bot', typing: false },
    messages: [
      { from: 'user', text: 'Hi' },
      { from: 'bot', text: 'Hello', buttons: [{ label: 'Opening hours' }] },
    ],
  })
  const plain = (await control('POST', '/chats')).body
  expect((await control('GET', `/chats/${plain.chat_id}`)).body).toMatchObject({ language: 'en', source: 'web' })
  const { chats } = (await control('GET', '/chats')).body
  expect(new Set(chats.map(({ chat_id }: typeof body) => chat_id))).toEqual(new Set([body.chat_id, plain.chat_id]))
})

async function startWithChat(options: Parameters<typeof startTestServer>[0] = {}) {
  const started = await startTestServer(options)
  const chat = await started.server.chat()
  const press = (query = '') =>
    started.control('POST', `/chats/${chat.id}/press${query}`, { body: { button: 'handover' } })
  const says = (body: object, query = '') => started.control('POST', `/chats/${chat.id}/messages${query}`, { body })
  return { ...started, chat, press, says }
}

test('closes and deletes a chat as its user, who comes back by writing', async () => {
  const { control, chat, says } = await startWithChat()
  const act = (name: string, query = '') => control('POST', `/chats/${chat.id}/${name}${query}`)
  const shown = async () => (await control('GET', `/chats/${chat.id}`)).body
  await says({ text: 'My secret' })
  expect(await act('close', '?wait=ack')).toMatchObject({
    status: 200,
    body: { message_id: null, delivery_id: null, ack: null },
  })
  expect(await shown()).toMatchObject({ active: false, messages: [{ text: 'My secret' }, { from: 'bot' }] })
  await says({ text: 'I am back' })
  expect((await shown()).active).toBe(true)
  expect((await act('delete')).body).toEqual({ message_id: null, delivery_id: null })
  expect(await shown()).toMatchObject({ active: false, messages: [] })
  expect((await control('POST', '/chats/nobody/close')).status).toBe(404)
})

describe('wait=ack', () => {
  test('returns the answer of the webhook, null when no event is due, or why there is none', async () => {
    await using webhook = await startWebhook((_, response) => response.writeHead(503).end('busy'))
    const { server, chat, press, says } = await startWithChat({ webhook: { url: webhook.url } })
    const message = await says({ text: 'Hi' }, '?wait=ack')
    expect(message.body).toEqual({ message_id: expect.any(String), delivery_id: null, ack: null })
    const { body } = await press('?wait=ack')
    expect(body).toMatchObject({ delivery_id: expect.any(String), ack: { status: 503, error: expect.any(String) } })
    expect(String(body.ack.duration_ms)).toMatch(/^\d+(\.\d{1,3})?$/)
    expect(JSON.parse(webhook.bodies[0]!)).toMatchObject({ event: 'REQUESTING TAKEOVER', chat: { id: chat.id } })
    await server.configure({ 'webhook.url': null })
    expect((await press('?wait=ack')).body.ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
  })

  test('is needed to wait for the webhook; settle waits too', async () => {
    const reached = Promise.withResolvers<() => void>()
    await using webhook = await startWebhook((_, response) => reached.resolve(() => response.end()))
    const { server, control, press } = await startWithChat({ webhook: { url: webhook.url } })
    expect((await press()).body).toEqual({ message_id: expect.any(String), delivery_id: expect.any(String) })
    expect(server.deliveries).toEqual([])
    const settled = control('POST', '/settle')
    await reached.promise.then(release => release())
    expect((await settled).body).toEqual({ settled: true, next_seq: server.journal.nextSeq })
    expect(server.deliveries).toMatchObject([{ outcome: 'delivered', status: 200 }])
  })
})

describe('attachments', () => {
  const startTaken = async (url: string) => {
    const started = await startWithChat({ webhook: { url } })
    await started.call('start', { chat_id: started.chat.id, supports_attachment: true })
    return started
  }
  const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

  test('are described, or given as base64', async () => {
    await using webhook = await startWebhook()
    const { says } = await startTaken(webhook.url)
    const base64 = Buffer.from('hello').toString('base64')
    const described = { name: 'a.pdf', type: 'application/pdf', size_kb: 3 }
    const attachments = [described, { name: 'b.txt', type: 'text/plain', base64 }]
    expect((await says({ text: 'Here', attachments }, '?wait=ack')).body.ack).toMatchObject({ status: 200 })
    const [first, second] = JSON.parse(webhook.bodies.at(-1)!).attachments
    expect([first, second]).toMatchObject([described, { name: 'b.txt', size_kb: 1 }])
    expect((await download(first.url)).length).toBe(3 * 1024)
    expect((await download(second.url)).toString()).toBe('hello')
  })

  test('are uploaded as a form without a change of their bytes, nor of line breaks in its text', async () => {
    await using webhook = await startWebhook()
    const { control, chat } = await startTaken(webhook.url)
    const bytes = Uint8Array.from({ length: 3000 }, (_, index) => index % 256)
    const form = new FormData()
    form.set('text', 'Two\nfiles')
    form.append('files', new File([bytes], 'bilde ø.png', { type: 'image/png' }))
    form.append('files', new File(['x'], 'raw'))
    expect((await control('POST', `/chats/${chat.id}/messages?wait=ack`, { form })).status).toBe(200)
    const { message, attachments } = JSON.parse(webhook.bodies.at(-1)!)
    expect(message).toBe('Two\nfiles')
    expect(attachments).toMatchObject([
      { name: 'bilde ø.png', type: 'image/png', size_kb: 3 },
      { name: 'raw', type: 'application/octet-stream' },
    ])
    expect((await download(attachments[0].url)).equals(bytes)).toBe(true)
  })

  test.each([
    ...[
      '../x',
      '../../etc/passwd',
      'a/b',
      'a\\b',
      'C:\\x',
      'CON',
      'nul.txt',
      '%2e%2e',
      '%2e%2e/x',
      '.env',
      '...',
      'trail. ',
    ],
    ...['📎 æøå 日本.png', `quo"te's`, 'new\r\nSet-Cookie: a=b', 'nul\0.txt', 'a?b#c;d=e.txt', 'a%zz', '\u202egnp.exe'],
    ...[' ', '__proto__', 'x'.repeat(4_000)],
  ])('are called %j by whatever sends them', async name => {
    await using webhook = await startWebhook()
    const { chat, control, call, server } = await startWithChat({ webhook: { url: webhook.url } })
    await call('start', { bot_id: 1042, chat_id: chat.id, supports_attachment: true })
    const bytes = new TextEncoder().encode(`bytes of ${name.slice(0, 20)}`)
    const path = `/chats/${chat.id}/messages?wait=ack`
    const base64 = Buffer.from(bytes).toString('base64')
    await control('POST', path, { body: { attachments: [{ name, type: 'image/png', base64 }] } })
    const form = new FormData()
    form.append('files', new File([bytes], name, { type: 'image/png' }))
    await control('POST', path, { form })
    await chat.says('', { attach: [{ name, type: 'image/png', bytes }] })
    const files = webhook.bodies.flatMap(body => JSON.parse(body).attachments ?? [])
    expect(files).toMatchObject(Array(3).fill({ name, type: 'image/png', size_kb: 1 }))
    for (const { url } of files) {
      expect(await (await fetch(url)).bytes()).toEqual(bytes)
      expect((await fetch(`${server.url}/_sim/files/${url.split('/').at(-2)}`)).status).toBe(200)
    }
  })

  test.each([
    [{ name: '..', size_kb: 1 }, 'the name ".." means a folder'],
    [{ name: 'x'.repeat(5_000), size_kb: 1 }, 'may take 4096 bytes in its link'],
    [{ size_kb: '1,5' }, 'size_kb must be kilobytes from 0, such as 12, 12.5 or "12.5", got the string "1,5"'],
    [{ size_kb: null }, 'size_kb must be kilobytes from 0'],
  ])('are refused with the reason: %j', async (fields, reason) => {
    const { chat, control } = await startWithChat()
    const file = { name: 'a.png', type: 'image/png', ...fields }
    const answer = await control('POST', `/chats/${chat.id}/messages`, { body: { attachments: [file] } })
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      422,
      expect.stringContaining(JSON.stringify(reason).slice(1, -1)),
    ])
  })

  test('are downloaded without an entry in the journal, and never as a page', async () => {
    const { server, chat } = await startWithChat()
    const bytes = new TextEncoder().encode('<script>')
    const made = { name: 'b.png', type: 'image/png', size_kb: 3 }
    await chat.says('Here', { attach: [{ name: 'a.html', type: 'text/html', bytes }, made] })
    const ids = chat.transcript.flatMap(({ attachments }) => attachments.map(({ url }) => url.split('/').at(-2)))
    const before = server.journal.nextSeq
    const answer = await fetch(`${server.url}/_sim/files/${ids[0]}`)
    expect(await answer.bytes()).toEqual(bytes)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
    const head = await fetch(`${server.url}/_sim/files/${ids[1]}`, { method: 'HEAD' })
    expect([head.headers.get('content-length'), (await head.bytes()).length]).toEqual(['3072', 0])
    expect(server.journal.nextSeq).toBe(before)
  })
})
