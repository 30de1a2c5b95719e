/** Checks the bounds of journal and transcripts in bytes, and how long bodies are stored and shown. */
import { createHash } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSimulator, startSimulator } from '../../src/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'

async function setUp(options: PlatformServerOptions = {}) {
  const received: string[] = []
  const receive = async (request: Request) => {
    received.push(await request.text())
    return new Response()
  }
  const server = await startSimulator({ port: 0, clock: 'virtual', webhook: { fetch: receive }, ...options })
  onTestFinished(() => server.close())
  return { server, ask: createControlClient(server), received }
}

const post = (server: PlatformServer, endpoint: string, body: string) =>
  fetch(`${server.url}/api/v2/handover/${endpoint}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body,
  })
const say = (server: PlatformServer, chat: ChatHandle, message: string) =>
  post(server, 'message/', JSON.stringify({ bot_id: server.botId, chat_id: chat.id, message }))

const notes = (server: PlatformServer, name: string) =>
  server.journal.query({ kind: 'note' }).filter(({ note }) => note === name)

describe('the bound of the journal', () => {
  test.each([
    [200_000, 1],
    [2_000_000, 24],
  ])('memoryLimit %i evicts the oldest entries', async (memoryLimit, kept) => {
    const { server, ask } = await setUp({ memoryLimit })
    const chat = await server.chat()
    for (let count = 0; count < 30; count++) await say(server, chat, `${count} ${'x'.repeat(80_000)}`)
    const calls = server.journal.query({ kind: 'api' })
    expect(calls.length).toBeLessThan(30)
    expect(calls.length).toBeGreaterThanOrEqual(kept)
    expect(calls.at(-1)).toMatchObject({ request: { body: { message: expect.stringMatching(/^29 x/) } } })
    const { body } = await ask('GET', '/journal')
    expect(body.first_seq).toBe(server.journal.firstSeq)
    expect(body.entries[0].seq).toBe(body.first_seq)
    expect(body.first_seq).toBeGreaterThan(1)
  })

  test('one note names the setting', async () => {
    const { server } = await setUp({ memoryLimit: '200kb' })
    const announced: unknown[] = []
    server.journal.subscribe(entry => 'note' in entry && entry.note === 'evicted' && announced.push(entry))
    const chat = await server.chat()
    for (let count = 0; count < 20; count++) await say(server, chat, 'x'.repeat(50_000))
    expect(announced).toMatchObject([{ setting: 'memoryLimit', message: expect.stringContaining('204800 bytes') }])
  })

  test('counts the values of a parsed body, which take more memory than their bytes', async () => {
    const { server } = await setUp({ memoryLimit: 1_900_000 })
    const chat = await server.chat()
    const numbers = `[${'1,'.repeat(15_000)}1]`
    const body = `{"bot_id":${server.botId},"chat_id":"${chat.id}","numbers":${numbers}}`
    for (let count = 0; count < 5; count++) await post(server, 'typing_stop', body)
    expect(server.journal.query({ kind: 'api' })).toHaveLength(1)
  })

  test('an entry larger than the bound stays alone', async () => {
    const { server } = await setUp({ memoryLimit: 65_536 })
    const chat = await server.chat()
    await say(server, chat, 'x'.repeat(300_000))
    expect(server.journal.query({ kind: 'api' })).toHaveLength(1)
    expect(server.journal.firstSeq).toBe(server.journal.nextSeq - 1)
  })
})

describe('the bound of the transcripts', () => {
  test('drops the oldest messages of all chats, with their files, and announces it once', async () => {
    const { server } = await setUp({ memoryLimit: 1_000_000 })
    const [ada, ben] = [await server.chat(), await server.chat()]
    await ada.says('with a file', { attach: [{ name: 'a.txt', type: 'text/plain', size_kb: 1 }] })
    const link = ada.transcript.flatMap(({ attachments }) => attachments ?? [])[0]!.url
    expect((await fetch(link)).status).toBe(200)
    for (let count = 0; count < 30; count++) await say(server, ben, `${count} ${'x'.repeat(50_000)}`)
    expect(ada.transcript).toEqual([])
    expect((await fetch(link)).status).toBe(404)
    expect(ben.transcript.at(-1)?.text).toMatch(/^29 x/)
    expect(ben.transcript.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(1_000_000)
    expect(ben.transcript.length).toBeGreaterThan(15)
    expect(notes(server, 'messages_evicted')).toHaveLength(1)
  })

  test('the handover transcript still ends at the request', async () => {
    const { server } = await setUp({ memoryLimit: 200_000 })
    const chat = await server.chat()
    await chat.says('first')
    await chat.press('handover')
    const before = chat.transcript.length
    for (let count = 0; count < 10; count++) await say(server, chat, 'x'.repeat(50_000))
    expect(chat.transcript.length).toBeLessThan(before + 10)
    const answer = await post(server, 'transcript', JSON.stringify({ bot_id: server.botId, chat_id: chat.id }))
    expect((await answer.json()).chat.messages).toEqual([])
  })

  test('messages of a snapshot count', async () => {
    const { server } = await setUp()
    const chat = await server.chat()
    for (let count = 0; count < 10; count++) await say(server, chat, `${count} ${'x'.repeat(50_000)}`)
    const small = createSimulator({ memoryLimit: 200_000 })
    await small.restore(server.snapshot())
    await small.findChat(chat.id)!.says('one more')
    expect(small.findChat(chat.id)!.transcript.length).toBeLessThan(6)
  })
})

describe('the bound of chats and faults', () => {
  const context = { notes: 'x'.repeat(50_000) }

  test('a chat that exceeds it is refused and names the setting; a reset makes room', async () => {
    const { server, ask } = await setUp({ memoryLimit: 200_000 })
    for (let count = 0; count < 3; count++)
      expect((await ask('POST', '/chats', { body: { context, labels: ['a'] } })).status).toBe(201)
    const { status, body } = await ask('POST', '/chats', { body: { context } })
    expect(status).toBe(422)
    expect(body.error.issues).toMatchObject([
      { field: 'memoryLimit', message: expect.stringContaining('200000 bytes') },
    ])
    await expect(server.chat({ context })).rejects.toThrow(/memoryLimit/)
    expect(server.chats()).toHaveLength(3)
    server.reset()
    expect((await ask('POST', '/chats', { body: { context } })).status).toBe(201)
  })

  test('many small chats are refused too', async () => {
    const { server } = await setUp({ memoryLimit: 65_536 })
    const made = await Promise.allSettled(Array.from({ length: 200 }, () => server.chat()))
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(50)
    expect(made.at(-1)).toMatchObject({ status: 'rejected' })
  })

  test('a fault that exceeds it is refused, and a cleared one makes room', async () => {
    const { ask } = await setUp({ memoryLimit: 200_000 })
    const fault = (name: string) => ({
      name,
      on: { api: 'message' },
      respond: { status: 500, body: 'x'.repeat(150_000) },
    })
    expect((await ask('POST', '/faults', { body: fault('first') })).status).toBe(201)
    expect(await ask('POST', '/faults', { body: fault('second') })).toMatchObject({
      status: 422,
      body: { error: { issues: [{ field: 'memoryLimit' }] } },
    })
    await ask('DELETE', '/faults/first')
    expect((await ask('POST', '/faults', { body: fault('second') })).status).toBe(201)
  })

  test('a snapshot that exceeds it is refused and changes nothing', async () => {
    const { server } = await setUp()
    for (let count = 0; count < 5; count++) await server.chat({ context })
    const { server: small, ask } = await setUp({ memoryLimit: 200_000 })
    const ada = await small.chat()
    const { status, body } = await ask('PUT', '/snapshot', { body: server.snapshot() })
    expect({ status, issues: body.error.issues }).toMatchObject({ status: 422, issues: [{ field: 'memoryLimit' }] })
    expect(small.chats().map(({ chatId }) => chatId)).toEqual([ada.id])
  })
})

describe('the bound of waiting events', () => {
  test('an event that exceeds it is not sent, and says why; the others arrive', async () => {
    const gate = Promise.withResolvers<void>()
    const received: string[] = []
    const slow = async (request: Request) => {
      received.push(await request.text())
      await gate.promise
      return new Response()
    }
    const { server } = await setUp({ memoryLimit: 100_000, webhook: { fetch: slow } })
    const chat = await server.chat()
    await chat.press('handover', { async: true })
    await post(server, 'start', JSON.stringify({ bot_id: server.botId, chat_id: chat.id }))
    const acts = Array.from({ length: 12 }, (_, count) => chat.says(`${count} ${'x'.repeat(20_000)}`, { async: true }))
    await Promise.all(acts)
    const { ack } = await chat.says('x'.repeat(20_000))
    expect(ack).toMatchObject({ status: null, error: expect.stringContaining('100000 bytes (memoryLimit)') })
    gate.resolve()
    await server.settled()
    expect(received.length).toBe(5)
    expect((await chat.says('room again')).ack).toMatchObject({ status: 200 })
  })
})

describe('a long body', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const longText = `${'å'.repeat(40_000)}${'x'.repeat(100_000)}`

  test('is shown as its beginning with length and hash, and matches as a whole inside the process', async () => {
    const { server, ask } = await setUp()
    const chat = await server.chat()
    const sent = JSON.stringify({ bot_id: server.botId, chat_id: chat.id, message: longText })
    await post(server, 'message/', sent)
    const [entry] = server.journal.query({ kind: 'api' })
    expect(entry!.request.body).toMatchObject({ message: longText })
    const shown = (await ask('GET', '/journal?kind=api')).body.entries[0]
    const bytes = Buffer.from(sent)
    expect(shown.request).toMatchObject({ bytes: bytes.length, truncated_from: { bytes: bytes.length } })
    expect(shown.request.truncated_from.sha256).toBe(sha256(sent))
    expect(bytes.subarray(0, 65_536).toString()).toContain(shown.request.body)
    expect(Buffer.byteLength(shown.request.body)).toBeGreaterThan(65_530)
    expect(shown.chat_id).toBe(chat.id)
  })

  test('expectCall matches its fields', async () => {
    const sim = createSimulator()
    const chat = await sim.chat()
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: longText })
    const init = { method: 'POST', headers: { authorization: `Bearer ${sim.apiKey}` }, body }
    await sim.fetch(`${sim.baseUrl}/api/v2/handover/message/`, init)
    const call = await chat.expectCall('message', { message: longText }, { within: '1s' })
    expect(call.body.message).toBe(longText)
    await sim.close()
  })

  test('of a delivery is shown alike, and is sent again as a whole', async () => {
    const { server, ask, received } = await setUp()
    const chat = await server.chat()
    await post(server, 'start', JSON.stringify({ bot_id: server.botId, chat_id: chat.id }))
    await chat.says(longText)
    const [delivery] = (await ask('GET', '/deliveries')).body.deliveries
    expect(delivery.request.truncated_from).toEqual({
      bytes: Buffer.byteLength(received[0]!),
      sha256: sha256(received[0]!),
    })
    expect(delivery.request.body.length).toBeLessThanOrEqual(65_536)
    await ask('POST', `/deliveries/${delivery.delivery_id}/resend`)
    expect(received[1]).toBe(received[0])
  })

  test('of an answer is shown alike', async () => {
    const { server, ask } = await setUp()
    const chat = await server.chat()
    await say(server, chat, longText)
    const url = `${server.url}/api/v1/chats/${chat.id}`
    const answer = await (await fetch(url, { headers: { authorization: `Bearer ${server.botApiKey}` } })).text()
    const shown = (await ask('GET', '/journal?kind=api')).body.entries.at(-1)
    expect(shown.response_truncated_from).toEqual({ bytes: Buffer.byteLength(answer), sha256: sha256(answer) })
    expect(answer.startsWith(shown.response)).toBe(true)
  })
})
