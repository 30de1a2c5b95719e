import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'

test('creates, lists and shows a chat as its user sees it', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const history = [{ user: 'Hi' }, { bot: 'Hello', buttons: [{ label: 'Opening hours' }] }]
  const { status, body } = await ask('POST', '/chats', { body: { language: 'nb', history } })
  expect(status).toBe(201)
  expect(body).toMatchObject({ bot_id: 1042, url: `${server.url}/_sim/chats/${body.chat_id}` })

  const shown = await ask('GET', `/chats/${body.chat_id}`)
  expect(shown.body).toMatchObject({
    chat_id: body.chat_id,
    language: 'nb',
    source: 'web',
    status: 'bot',
    typing: false,
  })
  expect(shown.body.messages).toMatchObject([
    { from: 'user', text: 'Hi' },
    { from: 'bot', text: 'Hello', buttons: [{ label: 'Opening hours' }] },
  ])
  const listed = await ask('GET', '/chats')
  expect(listed.body.chats.map((chat: { chat_id: string }) => chat.chat_id)).toEqual([body.chat_id])
})

test('creates a chat without any field, and without a body', async () => {
  await using server = await startSimulator({ port: 0 })
  const { status, body } = await createControlClient(server)('POST', '/chats')
  expect(status).toBe(201)
  expect((await createControlClient(server)('GET', `/chats/${body.chat_id}`)).body).toMatchObject({
    language: 'en',
    source: 'web',
  })
})

test('every route of a chat answers 404 for an unknown chat', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  for (const [method, path, body] of [
    ['GET', '/chats/none', undefined],
    ['POST', '/chats/none/messages', { text: 'Hi' }],
    ['POST', '/chats/none/press?wait=ack', { button: 'handover' }],
  ] as const) {
    const reply = await ask(method, path, body ? { body } : {})
    expect([reply.status, reply.body.error.code], path).toEqual([404, 'chat_not_found'])
  }
})

async function withChat(options: Parameters<typeof startSimulator>[0] = {}) {
  const server = await startSimulator({ port: 0, ...options })
  const ask = createControlClient(server)
  const { body } = await ask('POST', '/chats')
  return { server, ask, id: body.chat_id as string }
}

describe('wait=ack', () => {
  test('returns the response of the webhook', async () => {
    await using webhook = await startWebhook((_, response) => response.writeHead(503).end('busy'))
    const { server, ask, id } = await withChat({ webhook: { url: webhook.url } })
    await using _ = server
    const { body } = await ask('POST', `/chats/${id}/press?wait=ack`, { body: { button: 'handover' } })
    expect(body).toMatchObject({ delivery_id: expect.any(String), ack: { status: 503, error: expect.any(String) } })
    expect(String(body.ack.duration_ms)).toMatch(/^\d+(\.\d{1,3})?$/)
    expect(JSON.parse(webhook.bodies[0]!)).toMatchObject({ event: 'REQUESTING TAKEOVER', chat: { id } })
  })

  test('returns null at once when no event is due', async () => {
    const { server, ask, id } = await withChat()
    await using _ = server
    const { body } = await ask('POST', `/chats/${id}/messages?wait=ack`, { body: { text: 'Hi' } })
    expect(body).toEqual({ message_id: expect.any(String), delivery_id: null, ack: null })
  })

  test('reports that there is no webhook', async () => {
    const { server, ask, id } = await withChat()
    await using _ = server
    const { body } = await ask('POST', `/chats/${id}/press?wait=ack`, { body: { button: 'handover' } })
    expect(body.ack).toMatchObject({ status: null, error: 'no webhook URL is set' })
  })

  test('responds without waiting for the webhook when it is not given', async () => {
    const reached = Promise.withResolvers<() => void>()
    await using webhook = await startWebhook((_, response) => reached.resolve(() => response.end()))
    const { server, ask, id } = await withChat({ webhook: { url: webhook.url } })
    await using _ = server
    const { body } = await ask('POST', `/chats/${id}/press`, { body: { button: 'handover' } })
    expect(body).toEqual({ message_id: expect.any(String), delivery_id: expect.any(String) })
    expect(server.deliveries).toEqual([])
    const settled = ask('POST', '/settle')
    const release = await reached.promise
    release()
    await settled
    expect(server.deliveries).toMatchObject([{ outcome: 'delivered', status: 200 }])
  })

  test('ends when the simulator is reset', async () => {
    const reached = Promise.withResolvers<void>()
    await using webhook = await startWebhook(() => reached.resolve())
    const { server, ask, id } = await withChat({ webhook: { url: webhook.url } })
    await using _ = server
    const pressed = ask('POST', `/chats/${id}/press?wait=ack`, { body: { button: 'handover' } })
    await reached.promise
    await ask('POST', '/reset')
    expect(await pressed).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
  })
})

test('an unknown button is refused with the visible ones', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const history = [{ bot: 'Hello', buttons: [{ label: 'Opening hours' }] }]
  const { chat_id } = (await ask('POST', '/chats', { body: { history } })).body
  const { status, body } = await ask('POST', `/chats/${chat_id}/press`, { body: { button: 'Openin hours' } })
  expect([status, body.error.code]).toEqual([422, 'unknown_button'])
  expect(body.error.message).toContain('"handover", "Opening hours"')
})

describe('attachments', () => {
  const taken = async (webhookUrl: string) => {
    const found = await withChat({ webhook: { url: webhookUrl } })
    const { server, id } = found
    const init = {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ bot_id: server.botId, chat_id: id, supports_attachment: true }),
    }
    expect((await fetch(`${server.url}/api/v2/handover/start`, init)).status).toBe(200)
    return found
  }
  const download = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

  test('are described, or given as base64', async () => {
    await using webhook = await startWebhook()
    const { server, ask, id } = await taken(webhook.url)
    await using _ = server
    const attachments = [
      { name: 'a.pdf', type: 'application/pdf', size_kb: 3 },
      { name: 'b.txt', type: 'text/plain', base64: Buffer.from('hello').toString('base64') },
    ]
    const { body } = await ask('POST', `/chats/${id}/messages?wait=ack`, { body: { text: 'Here', attachments } })
    expect(body.ack).toMatchObject({ status: 200 })
    const sent = JSON.parse(webhook.bodies.at(-1)!).attachments
    expect(sent).toMatchObject([
      { name: 'a.pdf', size_kb: 3 },
      { name: 'b.txt', size_kb: 1 },
    ])
    expect((await download(sent[0].url)).length).toBe(3 * 1024)
    expect((await download(sent[1].url)).toString()).toBe('hello')
  })

  test('are uploaded as a form without a change of their bytes', async () => {
    await using webhook = await startWebhook()
    const { server, ask, id } = await taken(webhook.url)
    await using _ = server
    const bytes = Uint8Array.from({ length: 3000 }, (_, index) => index % 256)
    const form = new FormData()
    form.set('text', 'Two files')
    form.append('files', new File([bytes], 'bilde ø.png', { type: 'image/png' }))
    form.append('files', new File(['x'], 'raw'))
    expect((await ask('POST', `/chats/${id}/messages?wait=ack`, { form })).status).toBe(200)
    const { message, attachments } = JSON.parse(webhook.bodies.at(-1)!)
    expect(message).toBe('Two files')
    expect(attachments).toMatchObject([
      { name: 'bilde ø.png', type: 'image/png', size_kb: 3 },
      { name: 'raw', type: 'application/octet-stream' },
    ])
    expect((await download(attachments[0].url)).equals(bytes)).toBe(true)
  })

  test('in a form, line breaks of the text are those that were typed', async () => {
    await using server = await startSimulator({ port: 0 })
    const chat = await server.chat()
    const form = new FormData()
    form.set('text', 'One\nTwo')
    expect((await createControlClient(server)('POST', `/chats/${chat.id}/messages`, { form })).status).toBe(200)
    expect(chat.transcript[0]?.text).toBe('One\nTwo')
  })

  test('are downloaded without an entry in the journal, and never as a page', async () => {
    await using server = await startSimulator({ port: 0 })
    const chat = await server.chat()
    const bytes = new TextEncoder().encode('<script>')
    await chat.says('Here', { attach: [{ name: 'a.html', type: 'text/html', bytes }] })
    await chat.says('And', { attach: [{ name: 'b.png', type: 'image/png', size_kb: 3 }] })
    const [first, second] = chat.transcript.flatMap(({ attachments }) =>
      attachments.map(({ url }) => url.split('/').at(-2)),
    )
    const before = server.journal.nextSeq
    const answer = await fetch(`${server.url}/_sim/files/${first}`)
    expect(await answer.bytes()).toEqual(bytes)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
    expect((await (await fetch(`${server.url}/_sim/files/${second}`)).bytes()).length).toBe(3 * 1024)
    const head = await fetch(`${server.url}/_sim/files/${second}`, { method: 'HEAD' })
    expect([head.headers.get('content-length'), (await head.bytes()).length]).toEqual(['3072', 0])
    const { status, body } = await createControlClient(server)('GET', '/files/nothing')
    expect([status, body.error.code]).toEqual([404, 'file_not_found'])
    expect(server.journal.nextSeq).toBe(before)
  })

  test('a form with other fields is refused, and the error names them', async () => {
    const { server, ask, id } = await withChat()
    await using _ = server
    const form = new FormData()
    form.set('file', new File(['x'], 'a.txt'))
    const { status, body } = await ask('POST', `/chats/${id}/messages`, { form })
    expect(status).toBe(422)
    expect(body.error.message).toContain('did you mean files?')
  })
})
