import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { createControlClient } from '../../support/control-client.ts'
import { connectRaw, startWebhook } from '../../support/network.ts'

const call = (server: PlatformServer, id: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/v2/handover/${id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ bot_id: server.botId, ...body }),
  })

describe('wait', () => {
  test('answers with an existing entry, and with a later one', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const ada = await server.chat()
    await call(server, 'start', { chat_id: ada.id })
    const there = await ask('GET', `/wait?call=start&chat_id=${ada.id}`)
    expect(there).toMatchObject({ status: 200, body: { kind: 'api', endpoint: 'start', status: 200 } })

    const later = ask('GET', `/wait?call=start&after=${there.body.seq}`)
    await call(server, 'start', { chat_id: ada.id })
    expect((await later).body.seq).toBeGreaterThan(there.body.seq)
  })

  test.each([
    ['event=REQUESTING%20TAKEOVER', { kind: 'event', event: 'REQUESTING TAKEOVER' }],
    ['kind=delivery&event=REQUESTING%20TAKEOVER', { kind: 'delivery', outcome: 'skipped' }],
    ['note=chat_created', { kind: 'note', note: 'chat_created' }],
    ['kind=user', { kind: 'user', action: 'press' }],
    ['call=end&status=404', { endpoint: 'end', status: 404 }],
  ])('by %s', async (query, expected) => {
    await using server = await startSimulator({ port: 0 })
    const ada = await server.chat()
    await ada.press('handover')
    await call(server, 'end', { chat_id: 'other' })
    expect((await createControlClient(server)('GET', `/wait?${query}`)).body).toMatchObject(expected)
  })

  test('limits the nearest entries, and suggests the note that was meant', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const ada = await server.chat()
    for (let count = 0; count < 9; count++) await call(server, 'end', { chat_id: ada.id })
    const { body } = await ask('GET', `/wait?call=start&chat_id=${ada.id}&timeout=1ms`)
    expect([body.nearest.same_chat.length, body.nearest.last.length]).toEqual([3, 5])
    const other = await ask('GET', '/wait?note=chat_creatd&timeout=1ms')
    expect(other.body.error.message).toContain('did you mean chat_created?')
  })

  test('answers 408 with the nearest entries', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const [ada, ben] = [await server.chat(), await server.chat()]
    await call(server, 'start', { chat_id: ada.id })
    const { seq } = (await ask('GET', '/wait?call=start')).body
    await call(server, 'start', { chat_id: ben.id })
    await call(server, 'message', { chat_id: ada.id, message: 'Hi' })

    const answer = await ask('GET', `/wait?call=start&chat_id=${ada.id}&after=${seq}&timeout=20ms`)
    expect(answer.status).toBe(408)
    const { error, nearest } = answer.body
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('call "start"') })
    expect(error.message).toContain(`It matched earlier, with seq ${seq}`)
    expect(nearest.earlier).toMatchObject([{ seq }])
    expect(nearest.other_chat).toMatchObject([{ endpoint: 'start', chat_id: ben.id }])
    expect(nearest.same_chat).toMatchObject([{ endpoint: 'message', chat_id: ada.id }])
    expect(nearest.last.at(-1)).toMatchObject({ seq: server.journal.nextSeq - 1 })
  })

  test('ends when the simulator is reset', async () => {
    await using server = await startSimulator({ port: 0 })
    // Two requests on one line are taken up in their order.
    const line = await connectRaw(server.port)
    line.send('GET /_sim/wait?call=start&timeout=1m HTTP/1.1\r\nHost: localhost\r\n\r\n')
    line.send('POST /_sim/reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    expect(await line.ended()).toMatch(/^HTTP\/1\.1 409 [\s\S]*"code":"reset"[\s\S]*HTTP\/1\.1 200 /)
  })
})

describe('journal', () => {
  test('filters by kind, chat and seq, and limits the number of entries', async () => {
    await using server = await startSimulator({ port: 0 })
    const ask = createControlClient(server)
    const [ada, ben] = [await server.chat(), await server.chat()]
    await ada.says('Hi')
    await ben.says('Hi')
    const all = (await ask('GET', '/journal')).body
    expect(all).toMatchObject({ first_seq: 1, next_seq: server.journal.nextSeq })
    expect(all.entries.length).toBe(server.journal.nextSeq - 1)
    const { entries } = (await ask('GET', `/journal?kind=user&chat_id=${ben.id}`)).body
    expect(entries).toMatchObject([{ kind: 'user', chat_id: ben.id }])
    expect((await ask('GET', '/journal?after=1&limit=2')).body.entries).toMatchObject([{ seq: 2 }, { seq: 3 }])
  })

  test('shows neither keys nor signatures in any export', async () => {
    await using webhook = await startWebhook()
    await using server = await startSimulator({ port: 0, webhook: { url: webhook.url } })
    const ask = createControlClient(server)
    const ada = await server.chat()
    await ada.press('handover')
    await call(server, 'start', { chat_id: ada.id })
    await call(server, 'start', { chat_id: ada.id }, { authorization: 'wrong-key-here' })
    const [delivery] = server.deliveries
    const signature = delivery!.request.headers['Kindly-HMAC']!
    expect(signature.length).toBeGreaterThan(20)

    const exports = await Promise.all([
      ask('GET', '/journal'),
      ask('GET', '/deliveries'),
      ask('GET', '/wait?kind=delivery'),
      ask('GET', '/wait?call=start&status=418&timeout=1ms'),
    ])
    const text = JSON.stringify(exports.map(({ body }) => body))
    for (const secret of [server.apiKey, signature, 'wrong-key-here']) expect(text).not.toContain(secret)
    expect(text).toContain('"authorization":"Bearer ***"')
    expect(text).toContain('"Kindly-HMAC":"***"')
    expect(exports[1]!.body.deliveries).toMatchObject([{ delivery_id: delivery!.delivery_id, outcome: 'delivered' }])
  })
})
