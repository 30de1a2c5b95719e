/** Checks the bounds of journal, transcripts, chats and events in bytes (memoryLimit), and how long bodies are shown. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { startTestServer } from '../support/test-server.ts'

async function setUp(options: PlatformServerOptions = {}) {
  const received: string[] = []
  const receive = async (request: Request) => {
    received.push(await request.text())
    return new Response()
  }
  const started = await startTestServer({ clock: 'virtual', webhook: { fetch: receive }, ...options })
  const chat = await started.server.chat()
  const say = (message: string) => started.call('message/', { chat_id: chat.id, message })
  const sayMany = async (count: number, length: number) => {
    for (let at = 0; at < count; at++) await say(`${at} ${'x'.repeat(length)}`)
  }
  return { ...started, received, chat, say, sayMany }
}

describe('the bound of the journal', () => {
  test.each([
    [200_000, 1],
    [2_000_000, 24],
  ])('memoryLimit %i evicts the oldest entries, and one note says so', async (memoryLimit, atLeast) => {
    const { server, control, sayMany } = await setUp({ memoryLimit })
    const notes: unknown[] = []
    server.journal.subscribe(entry => 'note' in entry && entry.note === 'evicted' && notes.push(entry))
    await sayMany(30, 80_000)
    const calls = server.journal.query({ kind: 'api' })
    expect(calls.length).toBeLessThan(30)
    expect(calls.length).toBeGreaterThanOrEqual(atLeast)
    expect(calls.at(-1)).toMatchObject({ request: { body: { message: expect.stringMatching(/^29 x/) } } })
    const { body } = await control('GET', '/journal')
    expect(body.first_seq).toBeGreaterThan(1)
    expect([body.first_seq, body.entries[0].seq]).toEqual([server.journal.firstSeq, server.journal.firstSeq])
    expect(notes).toMatchObject([{ setting: 'memoryLimit', message: expect.stringContaining(`${memoryLimit} bytes`) }])
  })

  test('is exceeded by one entry that is larger', async () => {
    const { server, say } = await setUp({ memoryLimit: '64kb' })
    await say('x'.repeat(300_000))
    expect(server.journal.query({ kind: 'api' })).toHaveLength(1)
    expect(server.journal.firstSeq).toBe(server.journal.nextSeq - 1)
  })
})

describe('the bound of the transcripts', () => {
  test('drops the oldest messages of all chats, with their files, and announces it once', async () => {
    const { server, chat, sayMany } = await setUp({ memoryLimit: 1_000_000 })
    const ada = await server.chat()
    await ada.says('with a file', { attach: [{ name: 'a.txt', type: 'text/plain', size_kb: 1 }] })
    const link = ada.transcript.flatMap(({ attachments }) => attachments ?? [])[0]!.url
    expect((await fetch(link)).status).toBe(200)
    await sayMany(30, 50_000)
    expect(ada.transcript).toEqual([])
    expect((await fetch(link)).status).toBe(404)
    expect(chat.transcript.at(-1)?.text).toMatch(/^29 x/)
    expect(chat.transcript.length).toBeGreaterThan(15)
    expect(chat.transcript.length).toBeLessThanOrEqual(20)
    const notes = server.journal.query({ kind: 'note' }).filter(({ note }) => note === 'messages_evicted')
    expect(notes).toHaveLength(1)
  })

  test('leaves the handover transcript its end at the request', async () => {
    const { chat, call, sayMany } = await setUp({ memoryLimit: 200_000 })
    await chat.says('first')
    await chat.press('handover')
    const before = chat.transcript.length
    await sayMany(10, 50_000)
    expect(chat.transcript.length).toBeLessThan(before + 10)
    const answer = await call('transcript', { chat_id: chat.id })
    expect((await answer.json()).chat.messages).toEqual([])
  })

  test('counts messages of a snapshot', async () => {
    const { server, chat, sayMany } = await setUp()
    await sayMany(10, 50_000)
    await using small = createSimulator({ memoryLimit: 200_000 })
    await small.restore(server.snapshot())
    await small.findChat(chat.id)!.says('one more')
    expect(small.findChat(chat.id)!.transcript.length).toBeLessThan(6)
  })
})

describe('the bound of chats and faults', () => {
  const context = { notes: 'x'.repeat(50_000) }
  const REFUSED = { status: 422, body: { error: { issues: [{ field: 'memoryLimit' }] } } }

  test('a chat that exceeds it is refused and names the setting; a reset makes room', async () => {
    const { server, control } = await setUp({ memoryLimit: 200_000 })
    const create = () => control('POST', '/chats', { body: { context, labels: ['a'] } })
    for (let count = 0; count < 3; count++) expect((await create()).status).toBe(201)
    expect(await create()).toMatchObject(REFUSED)
    await expect(server.chat({ context })).rejects.toThrow(/memoryLimit.*200000 bytes|200000 bytes.*memoryLimit/)
    expect(server.chats()).toHaveLength(4)
    server.reset()
    expect((await create()).status).toBe(201)
  })

  test('a fault that exceeds it is refused, and a cleared one makes room', async () => {
    const { control } = await setUp({ memoryLimit: 200_000 })
    const add = (name: string) => {
      const respond = { status: 500, body: 'x'.repeat(150_000) }
      return control('POST', '/faults', { body: { name, on: { api: 'message' }, respond } })
    }
    expect((await add('first')).status).toBe(201)
    expect(await add('second')).toMatchObject(REFUSED)
    await control('DELETE', '/faults/first')
    expect((await add('second')).status).toBe(201)
  })

  test('a snapshot that exceeds it is refused and changes nothing', async () => {
    await using large = createSimulator()
    for (let count = 0; count < 5; count++) await large.chat({ context })
    const { server, control, chat } = await setUp({ memoryLimit: 200_000 })
    expect(await control('PUT', '/snapshot', { body: large.snapshot() })).toMatchObject(REFUSED)
    expect(server.chats().map(({ chatId }) => chatId)).toEqual([chat.id])
  })
})

test('a waiting event that exceeds the bound is not sent, and says why; the others arrive', async () => {
  const gate = Promise.withResolvers<void>()
  let received = 0
  const slow = async () => {
    received++
    await gate.promise
    return new Response()
  }
  const { server, call, chat } = await setUp({ memoryLimit: 100_000, webhook: { fetch: slow } })
  await chat.press('handover', { async: true })
  await call('start', { chat_id: chat.id })
  for (let count = 0; count < 12; count++) await chat.says(`${count} ${'x'.repeat(20_000)}`, { async: true })
  const { ack } = await chat.says('x'.repeat(20_000))
  expect(ack).toMatchObject({ status: null, error: expect.stringContaining('100000 bytes (memoryLimit)') })
  gate.resolve()
  await server.settled()
  expect(received).toBe(5)
  expect((await chat.says('room again')).ack).toMatchObject({ status: 200 })
})

describe('a long body', () => {
  const longText = `${'å'.repeat(40_000)}${'x'.repeat(100_000)}`
  const wholeOf = (text: string) => ({
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  })

  test('of a call, an answer and a delivery is shown as its beginning with length and hash', async () => {
    const { server, control, call, chat, say, received } = await setUp()
    await call('start', { chat_id: chat.id })
    await say(longText)
    const url = `${server.url}/api/v1/chats/${chat.id}`
    const answer = await (await fetch(url, { headers: { authorization: `Bearer ${server.botApiKey}` } })).text()
    const [, shown, read] = (await control('GET', '/journal?kind=api')).body.entries
    const sent = JSON.stringify({ bot_id: server.botId, chat_id: chat.id, message: longText })
    const whole = wholeOf(sent)
    expect(shown).toMatchObject({ chat_id: chat.id, request: { bytes: whole.bytes, truncated_from: whole } })
    expect(sent.startsWith(shown.request.body)).toBe(true)
    expect(Buffer.byteLength(shown.request.body)).toBeGreaterThan(65_530)
    expect(read.response_truncated_from).toEqual(wholeOf(answer))
    expect(answer.startsWith(read.response)).toBe(true)

    await chat.says(longText)
    const [delivery] = (await control('GET', '/deliveries')).body.deliveries
    expect(delivery.request.truncated_from).toEqual(wholeOf(received[0]!))
    expect(delivery.request.body.length).toBeLessThanOrEqual(65_536)
    await control('POST', `/deliveries/${delivery.delivery_id}/resend`)
    expect(received[1]).toBe(received[0])
  })

  test('matches as a whole in the process', async () => {
    const { server, chat, say } = await setUp()
    await say(longText)
    const call = await chat.expectCall('message', { message: longText }, { within: '1s' })
    expect(call.body.message).toBe(longText)
    expect(server.journal.query({ kind: 'api' })[0]!.request.body).toMatchObject({ message: longText })
  })
})
