/** Applies wire faults to events, with real receivers that answer, close early or do not exist. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { startWebhook } from '../support/network.ts'
import { freePort } from '../support/port.ts'
import { takenOver } from '../support/test-simulator.ts'
import { type Handler, rawServer, receiver, simFor } from '../webhooks/receiver.ts'
import { hitsOf } from './support.ts'

/** Sends a message with a fault to a URL or to the port of this machine. */
async function sendTo(target: string | number, effect: Partial<FaultSpec>, knobs = {}) {
  const sim = simFor(typeof target === 'number' ? `http://127.0.0.1:${target}/` : target, { knobs })
  const chat = await takenOver(sim)
  sim.faults.add({ on: 'webhook', times: 1, ...effect } as FaultSpec)
  const { ack } = await chat.says('Grüße 😢')
  return { sim, chat, ack: ack!, delivery: sim.deliveries[0]! }
}

async function sendWith(effect: Partial<FaultSpec>, handler?: Handler) {
  const { url, got } = await receiver(handler)
  return { ...(await sendTo(url, effect)), got: got[0]! }
}

const signature = (key: string, bytes: Buffer) => createHmac('sha256', key).update(bytes).digest('base64')

test('http: header names in another case, and the same bytes without Content-Length', async () => {
  const { sim, got, delivery } = await sendWith({ http: ['header-case', 'chunked'] })
  expect(got.rawHeaders).toEqual(expect.arrayContaining(['KINDLY-HMAC', 'Content-TYPE', 'User-AGENT']))
  expect([got.headers['transfer-encoding'], got.headers['content-length']]).toEqual(['chunked', undefined])
  expect([got.headers['kindly-hmac'], got.json.message]).toEqual([signature(sim.apiKey, got.bytes), 'Grüße 😢'])
  expect(delivery).toMatchObject({ status: 200, request: { headers: { 'KINDLY-HMAC': expect.anything() } } })
  expect(hitsOf(sim)[0]).not.toHaveProperty('applied')
})

test('drip: the body in pieces over the time, with its length', async () => {
  let pieces = 0
  const port = await rawServer(() => pieces++)
  const { ack } = await sendTo(port, { drip: '100ms' }, { 'webhook.timeout': '30ms' })
  expect(pieces).toBeGreaterThan(3)
  expect(ack.error).toContain('timeout: no complete answer within 30 ms')
  expect(ack.durationMs).toBeGreaterThanOrEqual(125)
})

test('drip: an early answer ends the request', async () => {
  const port = await rawServer(socket => socket.end('HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno'))
  expect((await sendTo(port, { drip: '1h' })).ack.status).toBe(413)
})

test('reset_after_answer: the event is delivered, and the connection is reset', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<NodeJS.ErrnoException>()
  const { ack, delivery, chat } = await sendWith({ reset_after_answer: true }, (_got, response) => {
    response.socket!.once('error', resolve)
    response.end('ok')
  })
  expect([ack.status, (await failed).code]).toEqual([200, 'ECONNRESET'])
  expect(delivery).toMatchObject({ outcome: 'delivered', response: { body: 'ok' }, faults: ['fault-1'] })
  expect((await chat.says('Next')).ack).toMatchObject({ status: 200 })
})

test('all effects together, and a valid retry', async () => {
  await using hook = await startWebhook((_, response) => response.writeHead(hook.bodies.length > 1 ? 200 : 400).end())
  const effects = { drip: '30ms', http: 'chunked', reset_after_answer: true, truncate: true, sign: 'hex' } as const
  const { sim, ack } = await sendTo(hook.url, effects, { 'webhook.retry': ['1s'] })
  expect(ack.status).toBe(400)
  await sim.clock.advance('1s')
  const [cut, whole] = hook.bodies as [string, string]
  expect(() => JSON.parse(cut)).toThrow()
  expect(whole.startsWith(cut) && JSON.parse(whole).message).toBe('Grüße 😢')
  const results = sim.deliveries.map(({ outcome, faults, sign }) => `${outcome} ${faults} ${sign}`)
  expect(results).toEqual(['failed fault-1 hex', 'delivered undefined undefined'])
})

test.each([
  ['refused', () => freePort(), { http: 'chunked' }, /nothing listens/],
  ['closed', () => rawServer(socket => socket.destroy()), { drip: '50ms' }, /connection (reset|closed) by/],
] as const)('a %s connection is reported as usual', async (_, open, effect, error) => {
  expect((await sendTo(await open(), effect)).ack.error).toMatch(error)
})

test('a very long answer is truncated', async () => {
  const { delivery } = await sendWith({ http: 'chunked' }, (_got, response) => response.end('x'.repeat(2_000_000)))
  expect([delivery.response!.body.length, delivery.response!.truncated]).toEqual([16_384, true])
})

test('a reset aborts the request', async () => {
  const hook = await receiver((_got, response) => void response)
  const sim = simFor(hook.url)
  const chat = await takenOver(sim)
  sim.faults.add({ on: 'webhook', http: 'chunked' })
  const said = chat.says('Hello').catch((error: Error) => error.message)
  await hook.arrived(1)
  sim.reset()
  expect(await said).toContain('reset')
  await sim.settled()
  expect(sim.journal.query()).toEqual([])
})

test('reset_after_answer: no connection stays open when the receiver closes it, as with HTTP/1.0', async () => {
  const port = await rawServer(socket => socket.end('HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'))
  const connections = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
  const before = connections()
  expect((await sendTo(port, { reset_after_answer: true })).ack.status).toBe(200)
  await expect.poll(connections).toBeLessThanOrEqual(before)
})
