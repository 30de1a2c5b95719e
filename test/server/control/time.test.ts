import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'

test('advances a virtual clock, and refuses to advance a real one', async () => {
  await using virtual = await startSimulator({ port: 0, clock: 'virtual' })
  const { status, body } = await createControlClient(virtual)('POST', '/clock/advance', { body: { by: '10m' } })
  const now = '2024-01-01T09:10:00.000000Z'
  expect([status, body]).toEqual([200, { mode: 'virtual', paused: true, now, next_due: null }])
  expect(virtual.journal.query()).toMatchObject([{ note: 'clock_advanced', by: '10m', to: now }])

  await using real = await startSimulator({ port: 0 })
  const refused = await createControlClient(real)('POST', '/clock/advance', { body: { by: '10m' } })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'real_clock'])
})

test('the clock says when its next timer fires', async () => {
  await using virtual = await startSimulator({ port: 0, clock: 'virtual' })
  const ask = createControlClient(virtual)
  await ask('PATCH', '/config', { body: { 'chat.idleTimeout': '30m' } })
  await ask('POST', '/chats')
  const { next_due } = (await ask('GET', '/state')).body.clock
  expect(next_due).toBe('2024-01-01T09:30:00.000000Z')
  await ask('POST', '/clock/advance', { body: { by: '30m' } })
  expect((await ask('GET', '/state')).body.clock).toMatchObject({ now: next_due, next_due: null })
})

test('settle answers when nothing is in flight and no timer is due', async () => {
  await using webhook = await startWebhook()
  await using server = await startSimulator({ port: 0, clock: 'virtual', webhook: { url: webhook.url } })
  const ask = createControlClient(server)
  const { chat_id } = (await ask('POST', '/chats')).body
  await ask('POST', `/chats/${chat_id}/press`, { body: { button: 'handover' } })
  const { body } = await ask('POST', '/settle')
  expect(body).toEqual({ settled: true, next_seq: server.journal.nextSeq })
  expect(server.deliveries).toMatchObject([{ outcome: 'delivered' }])
})

test('reset removes everything, and the same actions then have the same results', async () => {
  await using server = await startSimulator({ port: 0, clock: 'virtual' })
  const ask = createControlClient(server)
  const first = (await ask('POST', '/chats')).body
  await ask('POST', `/chats/${first.chat_id}/press`, { body: { button: 'handover' } })
  expect((await ask('POST', '/reset')).body).toEqual({ reset: true })
  expect((await ask('GET', '/journal')).body).toEqual({ entries: [], first_seq: 1, next_seq: 1 })
  expect((await ask('GET', '/chats')).body).toEqual({ chats: [] })
  expect((await ask('POST', '/chats')).body).toEqual(first)
})

test('a delivery in flight during a reset is not journaled after it', async () => {
  const reached = Promise.withResolvers<() => void>()
  await using webhook = await startWebhook((_, response) => reached.resolve(() => response.end()))
  await using server = await startSimulator({
    port: 0,
    webhook: { url: webhook.url },
    knobs: { 'webhook.retry': ['1ms'] },
  })
  const ask = createControlClient(server)
  const { chat_id } = (await ask('POST', '/chats')).body
  await ask('POST', `/chats/${chat_id}/press`, { body: { button: 'handover' } })
  const answer = await reached.promise
  await ask('POST', '/reset')
  answer()
  await ask('POST', '/settle')
  expect((await ask('GET', '/journal')).body.entries).toEqual([])
  expect(webhook.bodies.length).toBe(1)
})

test('an action that is being translated during a reset is not journaled after it', async () => {
  const translated = Promise.withResolvers<string>()
  const translating = Promise.withResolvers<void>()
  const translate = () => {
    translating.resolve()
    return translated.promise
  }
  await using server = await startSimulator({ port: 0, translate })
  const ask = createControlClient(server)
  const { chat_id } = (await ask('POST', '/chats', { body: { language: 'nb' } })).body
  const start = { bot_id: server.botId, chat_id, sender: { language_codes: ['en'] } }
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST', headers, body: JSON.stringify(start) })
  const saying = ask('POST', `/chats/${chat_id}/messages`, { body: { text: 'Hei' } })
  await translating.promise
  await ask('POST', '/reset')
  translated.resolve('Hi')
  expect(await saying).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
  expect((await ask('GET', '/journal')).body.entries).toEqual([])
})

test('reports health, and serves both OpenAPI documents', async () => {
  await using server = await startSimulator({ port: 0, baseUrl: 'https://bot.example.test/here' })
  const ask = createControlClient(server)
  expect((await ask('GET', '/livez')).body).toMatchObject({ status: 'live' })
  expect((await ask('GET', '/readyz')).body).toMatchObject({ status: 'ready', version: expect.any(String) })
  expect((await ask('GET', '/openapi.json')).body.servers).toEqual([{ url: server.url }])
  const platform = (await ask('GET', '/platform-openapi.json')).body
  expect(platform.servers).toEqual([{ url: 'https://bot.example.test/here' }])
})
