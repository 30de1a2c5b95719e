/** Applies wire faults to events, with real receivers that answer, close early or do not exist. */
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import { startWebhook } from '../support/network.ts'
import { freePort } from '../support/port.ts'
import { takenOver } from '../support/test-simulator.ts'
import { type Handler, rawServer, receiver, simFor } from '../webhooks/receiver.ts'
import { hitsOf } from './support.ts'

async function sendWith(spec: object, handler?: Handler, options: PlatformSimulatorOptions = {}) {
  const hook = await receiver(handler)
  const sim = simFor(hook.url, options)
  const chat = await takenOver(sim)
  sim.faults.add({ on: 'webhook', times: 1, ...spec } as FaultSpec)
  const { ack } = await chat.says('Grüße 😢')
  return { sim, chat, ack, hook, got: hook.got[0]!, delivery: sim.deliveries[0]! }
}

const signature = (key: string, bytes: Buffer) => createHmac('sha256', key).update(bytes).digest('base64')

test('http header-case: header names in another case', async () => {
  const { sim, got, delivery } = await sendWith({ http: 'header-case' })
  expect(got.rawHeaders).toEqual(expect.arrayContaining(['KINDLY-HMAC', 'Content-TYPE', 'User-AGENT']))
  expect(got.headers['kindly-hmac']).toBe(signature(sim.apiKey, got.bytes))
  expect(delivery.request.headers).toHaveProperty('KINDLY-HMAC')
  expect(hitsOf(sim)[0]).not.toHaveProperty('applied')
})

test('http chunked: the same bytes without Content-Length', async () => {
  const { sim, got, ack } = await sendWith({ http: 'chunked' })
  expect([got.headers['transfer-encoding'], got.headers['content-length']]).toEqual(['chunked', undefined])
  expect([got.headers['kindly-hmac'], got.json.message]).toEqual([signature(sim.apiKey, got.bytes), 'Grüße 😢'])
  expect(ack).toMatchObject({ status: 200 })
})

test('drip: the body in pieces over the time, with its length', async () => {
  let pieces = 0
  const port = await rawServer(() => pieces++)
  const sim = simFor(`http://127.0.0.1:${port}/`, { knobs: { 'webhook.timeout': '30ms' } })
  sim.faults.add({ on: 'webhook', drip: '100ms' })
  const { ack } = await (await takenOver(sim)).says('Hello')
  expect(pieces).toBeGreaterThan(3)
  expect(ack!.error).toContain('timeout: no complete answer within 30 ms')
  expect(ack!.durationMs).toBeGreaterThanOrEqual(125)
})

test('drip: an early answer ends the request', async () => {
  const port = await rawServer(socket => socket.end('HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno'))
  const sim = simFor(`http://127.0.0.1:${port}/`)
  sim.faults.add({ on: 'webhook', drip: '1h' })
  const { ack } = await (await takenOver(sim)).says('Hello')
  expect(ack).toMatchObject({ status: 413 })
})

test('reset_after_answer: the event is delivered, and the connection is reset', async () => {
  const errors: Promise<NodeJS.ErrnoException>[] = []
  const listen = (response: ServerResponse) =>
    errors.push(new Promise(resolve => response.socket!.once('error', resolve)))
  const { ack, sim, chat } = await sendWith({ reset_after_answer: true }, (_got, response) => {
    listen(response)
    response.end('ok')
  })
  expect(ack).toMatchObject({ status: 200 })
  expect((await errors[0]!).code).toBe('ECONNRESET')
  expect(sim.deliveries[0]).toMatchObject({ outcome: 'delivered', response: { body: 'ok' }, faults: ['fault-1'] })
  expect((await chat.says('Next')).ack).toMatchObject({ status: 200 })
})

test('all effects together, and a valid retry', async () => {
  await using hook = await startWebhook((_, response) => response.writeHead(hook.bodies.length > 1 ? 200 : 400).end())
  const sim = simFor(hook.url, { knobs: { 'webhook.retry': ['1s'] } })
  const chat = await takenOver(sim)
  const http = ['chunked', 'header-case'] as const
  sim.faults.add({
    on: 'webhook',
    drip: '30ms',
    http: [...http],
    reset_after_answer: true,
    truncate: true,
    sign: 'hex',
  })
  expect((await chat.says('Hello')).ack).toMatchObject({ status: 400 })
  await sim.clock.advance('1s')
  const [cut, whole] = hook.bodies as [string, string]
  expect(() => JSON.parse(cut)).toThrow()
  expect(whole.startsWith(cut) && JSON.parse(whole).message).toBe('Hello')
  expect(sim.deliveries.map(({ outcome, faults, sign }) => [outcome, faults, sign])).toEqual([
    ['failed', ['fault-1'], 'hex'],
    ['delivered', undefined, undefined],
  ])
})

test.each([
  ['refused', () => freePort(), { http: 'chunked' }, /nothing listens/],
  ['closed', () => rawServer(socket => socket.destroy()), { drip: '50ms' }, /connection (reset|closed) by/],
] as const)('a %s connection is reported as usual', async (_, open, effect, error) => {
  const sim = simFor(`http://127.0.0.1:${await open()}/`)
  sim.faults.add({ on: 'webhook', ...effect })
  expect((await (await takenOver(sim)).says('Hello')).ack!.error).toMatch(error)
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
  const sim = simFor(`http://127.0.0.1:${port}/`)
  const chat = await takenOver(sim)
  const connections = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
  const before = connections()
  sim.faults.add({ on: 'webhook', reset_after_answer: true })
  expect((await chat.says('Hello')).ack).toMatchObject({ status: 200 })
  await expect.poll(connections).toBeLessThanOrEqual(before)
})
