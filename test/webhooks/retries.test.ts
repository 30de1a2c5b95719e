/** Retries failed deliveries: their times, their bytes, and the events that wait for them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { post, takenOver, world } from '../support/test-simulator.ts'
import { receiver, simFor } from './receiver.ts'

const RETRY = { 'webhook.retry': ['1s', '5s'], 'webhook.idHeader': 'x-delivery' } as const
const START = Date.UTC(2024, 0, 1, 9)
const at = (entry: { time: string }) => Math.round(Date.parse(entry.time) - START)
const tries = (sim: PlatformSimulator) => sim.deliveries.map(one => [one.attempt, at(one), one.retry_in_ms ?? null])

test('all attempts have the same bytes, signature and delivery id', async () => {
  const { url, got } = await receiver((_got, response) => response.writeHead(503).end())
  const sim = simFor(url, { knobs: { ...RETRY, 'webhook.json': 'pretty' } })
  const chat = await takenOver(sim)
  const { deliveryId } = await chat.says('Emoji 🫐 and \u2028')
  await sim.configure({ 'webhook.json': 'compact' })
  await sim.clock.advance('24h')
  expect(tries(sim)).toEqual([
    [1, 0, 1000],
    [2, 1000, 5000],
    [3, 6000, null],
  ])
  expect(new Set(got.map(one => one.bytes.toString('hex'))).size).toBe(1)
  expect(new Set(got.map(one => one.headers['kindly-hmac'])).size).toBe(1)
  expect(got.map(one => one.headers['x-delivery'])).toEqual([deliveryId, deliveryId, deliveryId])
  expect(new Set(sim.deliveries.map(one => one.delivery_id))).toEqual(new Set([deliveryId]))
})

test('later events of the chat wait for the retries, other chats do not', async () => {
  const { sim, inbox } = world(
    { knobs: RETRY },
    ({ json }) => new Response(null, { status: json.message === 'A1' ? 500 : 200 }),
  )
  const [a, b] = [await takenOver(sim), await takenOver(sim)]
  await a.says('A1')
  const [a2, a3] = [a.says('A2'), a.says('A3')]
  await b.says('B1')
  await sim.clock.advance('5999ms')
  expect(inbox.map(one => one.json.message)).toEqual(['A1', 'B1', 'A1'])
  await sim.clock.advance('1ms')
  await Promise.all([a2, a3])
  expect(inbox.map(one => one.json.message)).toEqual(['A1', 'B1', 'A1', 'A1', 'A2', 'A3'])
})

test('typing events are not retried after any answer', async () => {
  const { url, got } = await receiver((_got, response) => response.writeHead(500).end())
  const sim = simFor(url, { knobs: RETRY })
  await post(sim, 'typing_start', await takenOver(sim))
  await sim.clock.advance('1h')
  expect(got).toHaveLength(1)
})

test('a timeout is retried like any failure', async () => {
  const { url, got } = await receiver((_got, response, index) => index > 0 && response.end())
  const sim = simFor(url, { knobs: { ...RETRY, 'webhook.timeout': '1s' } })
  const chat = await takenOver(sim)
  await chat.says('Hello')
  await sim.configure({ 'webhook.timeout': '10s' })
  await sim.clock.advance('1s')
  expect(got).toHaveLength(2)
  expect(sim.deliveries.map(one => one.outcome)).toEqual(['failed', 'delivered'])
})

test('retries are signed with a changed key', async () => {
  const { url, got } = await receiver((_got, response) => response.writeHead(500).end())
  const sim = simFor(url, { knobs: RETRY })
  const chat = await takenOver(sim)
  await chat.says('Hello')
  await sim.configure({ 'keys.handover': 'rotated' })
  await sim.clock.advance('1s')
  expect(got[1]!.bytes).toEqual(got[0]!.bytes)
  expect(got[1]!.headers['kindly-hmac']).not.toBe(got[0]!.headers['kindly-hmac'])
})

test('any list of delays: retries follow at these times', async () => {
  const delays = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(delays, async list => {
      const { sim } = world(
        { knobs: { 'webhook.retry': list.map(ms => `${ms}ms` as const) } },
        () => new Response(null, { status: 500 }),
      )
      const chat = await takenOver(sim)
      await chat.says('Hello')
      await sim.clock.advance('1h')
      let due = 0
      const times = [0, ...list.map(ms => (due += ms))]
      expect(sim.deliveries.map(at)).toEqual(times)
    }),
    { numRuns: 25 },
  )
})
