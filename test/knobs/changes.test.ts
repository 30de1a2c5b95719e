/** What a change of a knob does to chats, keys and deliveries that are there already. */

import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { gate, post, takenOver, world } from '../support/test-simulator.ts'

test('chat.idleTimeout: a change counts from the latest message of every chat, and off ends none', async () => {
  const { sim } = world()
  const chat = await sim.chat({ history: [{ user: 'Hi' }] })
  await sim.clock.advance('10m')
  await sim.configure({ 'chat.idleTimeout': '15m' })
  await sim.clock.advance('299s')
  expect(chat.view().active).toBe(true)
  await sim.clock.advance('1s')
  expect(chat.view().active).toBe(false)
  await chat.says('Back')
  await sim.configure({ 'chat.idleTimeout': 'off' })
  await sim.clock.advance('1h')
  expect(chat.view().active).toBe(true)
})

test.each([
  ['another change', (sim: PlatformSimulator) => sim.configure({ 'bot.delay': '1s' })],
  ['a reset', (sim: PlatformSimulator) => sim.reset()],
])('keys.graceful: %s gives an old key no more time', async (_, change) => {
  const { sim } = world({ knobs: { 'keys.graceful': '10m' } })
  await sim.clock.advance('24h')
  await sim.configure({ 'keys.handover': 'second' })
  await change(sim)
  await sim.clock.advance('10m')
  expect((await post(sim, 'typing_stop', await sim.chat(), {}, { key: 'sim-handover-key' })).status).toBe(401)
})

test('limits.rate: a reset starts a new window', async () => {
  const { sim } = world({ knobs: { 'limits.rate': '1/1m' } })
  await sim.clock.advance('10m')
  await takenOver(sim)
  sim.reset()
  expect((await post(sim, 'start', await sim.chat())).status).toBe(200)
})

test('webhook.order: shuffle follows the seed', async () => {
  const order = async (seed: number) => {
    const { sim, inbox } = world({ seed, knobs: { 'webhook.order': 'shuffle' } })
    const chat = await takenOver(sim)
    await Promise.all([...'1234567'].map(text => chat.says(text)))
    return inbox.map(({ json }) => json.message).join('')
  }
  expect(await order(1)).toBe(await order(1))
  expect(await order(2)).not.toBe(await order(1))
})

test('webhook.order: after a change to none, the next event does not wait', async () => {
  const first = gate()
  const { sim, events, arrived } = world({}, async () => first.opened.then(() => new Response('ok')))
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat)
  await arrived(1)
  await sim.configure({ 'webhook.order': 'none' })
  await post(sim, 'typing_stop', chat)
  await arrived(2)
  expect([sim.deliveries, events()]).toEqual([[], ['AGENT TYPING START', 'AGENT TYPING STOP']])
  first.open()
})
