/** The typing indicator. */
import { expect, test } from 'vitest'
import { assumedBy, post, sends, takenOver, world } from './support.ts'

test('typing.webhook: sends an event for both calls and the timeout, or none', async () => {
  const { sim, events } = world()
  const chat = await takenOver(sim)
  const round = async () => {
    await post(sim, 'typing_start', chat, { timeout: 500 })
    await sim.clock.advance('1s')
    await post(sim, 'typing_stop', chat)
    await sim.settled()
  }
  await round()
  const echoed = ['AGENT TYPING START', 'AGENT TYPING STOP', 'AGENT TYPING STOP']
  expect(events()).toEqual(echoed)
  await sim.configure({ 'typing.webhook': 'off' })
  await round()
  expect(events()).toEqual(echoed)
})

test('typing.response: answers an empty object, or the event', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const empty = await post(sim, 'typing_start', chat)
  expect([empty.status, empty.text]).toEqual([200, '{}'])
  expect(assumedBy(empty)).toEqual(['typing.response'])
  await sim.configure({ 'typing.response': 'event' })
  const start = await post(sim, 'typing_start', chat)
  const stop = await post(sim, 'typing_stop', chat)
  expect(start.json).toEqual({ event: 'AGENT TYPING START', chat_id: chat.id })
  expect(stop.json).toEqual({ event: 'AGENT TYPING STOP', chat_id: chat.id })
})

test('typing.clearOn: hides the indicator at end, or at a message', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  const typingAfter = async (act: () => Promise<unknown>) => {
    await post(sim, 'typing_start', chat)
    await act()
    return chat.typing
  }
  expect(await typingAfter(() => sends(sim, chat, 'Hi'))).toBe(true)
  expect(await typingAfter(() => post(sim, 'end', chat))).toBe(false)

  await sim.configure({ 'typing.clearOn': ['message'] })
  await takenOver(sim, {}, chat)
  expect(await typingAfter(() => sends(sim, chat, 'Hi'))).toBe(false)
  expect(await typingAfter(() => post(sim, 'end', chat))).toBe(true)

  await sim.configure({ 'typing.clearOn': 'off' })
  await takenOver(sim, {}, chat)
  expect(await typingAfter(() => sends(sim, chat, 'Hi'))).toBe(true)
})

test('typing.again: a second typing_start replaces the timer', async () => {
  const { sim } = world()
  const chat = await takenOver(sim)
  await post(sim, 'typing_start', chat, { timeout: 1000 })
  await sim.clock.advance('600ms')
  await post(sim, 'typing_start', chat, { timeout: 1000 })
  await sim.clock.advance('600ms')
  expect(chat.typing).toBe(true)
  await sim.clock.advance('400ms')
  expect(chat.typing).toBe(false)
})

test.each([0, -1])('typing.timeout: a timeout of %i is refused', async timeout => {
  const { sim } = world()
  const reply = await post(sim, 'typing_start', await takenOver(sim), { timeout })
  expect(assumedBy(reply)).toContain('typing.timeout')
  expect(reply.json.error).toMatchObject({ code: 'invalid_parameter', field: 'timeout' })
  expect(reply.status).toBe(400)
})

test('typing.idle: answers both calls with 200 without an agent in the chat', async () => {
  const { sim } = world()
  const chat = await sim.chat()
  for (const name of ['typing_start', 'typing_stop']) {
    const reply = await post(sim, name, chat)
    expect([reply.status, assumedBy(reply)]).toEqual([200, ['typing.idle', 'typing.response']])
  }
})
