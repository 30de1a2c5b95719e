/** Availability: where it starts, its queues, its time, and what closing does. */
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { assumedBy, call, post, texts, world } from './support.ts'

const set = (sim: PlatformSimulator, body: object, key?: string) =>
  call(sim, '/api/v2/handover/availability', { body, ...(key ? { key } : {}) })

test('availability.initial: handover is open before the first update, or closed', async () => {
  const { sim, events } = world()
  const pressed = async () => (await (await sim.chat()).press('handover')).deliveryId !== null
  expect(await pressed()).toBe(true)
  await sim.configure({ 'availability.initial': 'CLOSED' })
  expect(await pressed()).toBe(false)
  await set(sim, { availability: 'OPEN' })
  expect(await pressed()).toBe(true)
  expect(events()).toEqual(['REQUESTING TAKEOVER', 'REQUESTING TAKEOVER'])
})

test('availability.initial: has no effect after an update', async () => {
  const { sim } = world()
  await set(sim, { availability: 'OPEN' })
  await sim.configure({ 'availability.initial': 'CLOSED' })
  expect((await (await sim.chat()).press('handover')).deliveryId).not.toBeNull()
})

test('availability.otherQueues: refuses other queues, or stores them beside the default one', async () => {
  const { sim } = world()
  const vip = { availability: 'CLOSED', queue: 'VIP' }
  const refused = await set(sim, vip)
  expect([refused.status, refused.json.error.field]).toEqual([400, 'queue'])
  expect(assumedBy(refused)).toContain('availability.otherQueues')
  await sim.configure({ 'availability.otherQueues': 'accept' })
  expect((await set(sim, vip)).json).toMatchObject({ queue: 'VIP', availability: 'CLOSED' })
  expect((await (await sim.chat()).press('handover')).deliveryId).not.toBeNull()
})

test('availability.missingQueue, availability.missingReason: a missing queue means DEFAULT, and a reason is optional', async () => {
  const { sim } = world()
  const reply = await set(sim, { availability: 'CLOSED' })
  expect(reply.json).toMatchObject({ event: 'HANDOVER AVAILABILITY UPDATED', queue: 'DEFAULT' })
  expect(assumedBy(reply)).toEqual([
    'availability.missingQueue',
    'availability.missingReason',
    'keys.more',
    'time.format',
  ])
})

test('time.format: writes ISO 8601 with microseconds and Z, epoch seconds, or an offset', async () => {
  const { sim } = world()
  const time = async () => (await set(sim, { availability: 'OPEN' })).json.updated_at
  expect(await time()).toMatch(/^2024-01-01T09:00:00\.\d{6}Z$/)
  await sim.configure({ 'time.format': 'epoch' })
  expect(await time()).toBe(String(Date.UTC(2024, 0, 1, 9) / 1000))
  await sim.configure({ 'time.format': 'offset' })
  expect(await time()).toMatch(/^2024-01-01T09:00:00\.\d{6}\+00:00$/)
})

test('availability.closedBlocksStart: start works while closed, or is refused', async () => {
  const { sim } = world()
  await set(sim, { availability: 'CLOSED' })
  const allowed = await post(sim, 'start', await sim.chat())
  expect(allowed.json.event).toBe('TAKEOVER STARTED')
  expect(assumedBy(allowed)).toContain('availability.closedBlocksStart')
  await sim.configure({ 'availability.closedBlocksStart': 'on' })
  const chat = await sim.chat()
  expect((await post(sim, 'start', chat)).status).toBe(409)
  expect(chat.status).toBe('bot')
})

test('availability.closedBlocksStart: pending and taken over chats continue while closed', async () => {
  const { sim, events } = world()
  const [pending, taken] = [await sim.chat(), await sim.chat()]
  await pending.press('handover')
  await post(sim, 'start', taken)
  await set(sim, { availability: 'CLOSED' })
  await taken.says('Still there?')
  expect([pending.status, taken.status]).toEqual(['pending', 'agent'])
  expect(events()).toEqual(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])
})

test('request.repeat: sends the closed text and no event while closed, and an event each time while open', async () => {
  const { sim, events } = world()
  const chat = await sim.chat()
  await set(sim, { availability: 'CLOSED' })
  await chat.press('handover')
  expect(texts(chat)).toEqual(['Our team is not available right now. Please try again later.'])
  await set(sim, { availability: 'OPEN' })
  await chat.press('handover')
  await chat.press('handover')
  await post(sim, 'start', chat)
  await chat.press('handover')
  expect(events()).toEqual(Array(3).fill('REQUESTING TAKEOVER'))
})
