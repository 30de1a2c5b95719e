import { expect, it } from 'vitest'
import { AGENT, takenOver } from '../support/chats.ts'
import { setUp, setUpHandover } from '../support/test-simulator.ts'

it('E7.1 E7.2 E7.3 typing_start shows the indicator', async () => {
  const { api, chat } = await setUpHandover()
  expect(chat.typing).toBe(false)
  const { status, body } = await api.typingStart({ chat_id: chat.id })
  expect([status, body]).toEqual([200, {}])
  expect(chat.typing).toBe(true)
})

it('E8.1 E8.2 E8.3 typing_stop hides the indicator', async () => {
  const { api, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id })
  const { status, body } = await api.typingStop({ chat_id: chat.id })
  expect([status, body, chat.typing]).toEqual([200, {}, false])
})

it('E7.4 L5 with a timeout the indicator disappears after exactly that many milliseconds', async () => {
  const { sim, api, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 5000 })
  await sim.clock.advance('4999ms')
  expect(chat.typing).toBe(true)
  await sim.clock.advance('1ms')
  expect(chat.typing).toBe(false)
})

it('E7.5 without a timeout the indicator stays until typing_stop', async () => {
  const { sim, api, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id })
  await sim.clock.advance('1000h')
  expect(chat.typing).toBe(true)
  await api.typingStop({ chat_id: chat.id })
  expect(chat.typing).toBe(false)
})

it('E7.4 E7.5 a second typing_start replaces or removes the timer', async () => {
  const { sim, api, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 1000 })
  await api.typingStart({ chat_id: chat.id, timeout: 3000 })
  await sim.clock.advance('2s')
  expect(chat.typing).toBe(true)
  const again = await api.typingStart({ chat_id: chat.id })
  expect(again.headers.get('x-handover-sim-unspecified')).toBe('typing.again, typing.response')
  await sim.clock.advance('1h')
  expect(chat.typing).toBe(true)
})

it('E8.3 typing_stop cancels the timer', async () => {
  const { sim, api, hook, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 1000 })
  await api.typingStop({ chat_id: chat.id })
  await api.typingStart({ chat_id: chat.id })
  await sim.clock.advance('1h')
  expect(chat.typing).toBe(true)
  expect(hook.events()).toEqual(['AGENT TYPING START', 'AGENT TYPING STOP', 'AGENT TYPING START'])
})

it('EV7 EV8 EV9 start, stop and the timeout each send an event with only chat_id', async () => {
  const { sim, api, hook, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 1000 })
  await sim.clock.advance('1s')
  await api.typingStart({ chat_id: chat.id })
  await api.typingStop({ chat_id: chat.id })
  await sim.settled()
  const start = { event: 'AGENT TYPING START', chat_id: chat.id }
  const stop = { event: 'AGENT TYPING STOP', chat_id: chat.id }
  expect(hook.received.map(({ payload }) => payload)).toEqual([start, stop, start, stop])
})

it('EV9 any answer to a typing event counts as received', async () => {
  const harness = await setUp()
  harness.hook.answerWith(500)
  const chat = await takenOver(harness)
  await harness.api.typingStart({ chat_id: chat.id })
  await harness.sim.settled()
  expect(harness.sim.deliveries.map(one => one.outcome)).toEqual(['delivered'])
})

it('E7.5 end hides the indicator without an event, a message does not hide it', async () => {
  const { sim, api, hook, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 60_000 })
  await api.message({ chat_id: chat.id, message: 'hi', sender: AGENT })
  expect(chat.typing).toBe(true)
  await api.end({ chat_id: chat.id })
  expect(chat.typing).toBe(false)
  await sim.clock.advance('1h')
  expect(hook.events()).toEqual(['AGENT TYPING START'])
})

it('E7.5 typing.clearOn=[message] hides it at a message instead', async () => {
  const { api, chat } = await setUpHandover({ knobs: { 'typing.clearOn': ['message'] } })
  await api.typingStart({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'hi', sender: AGENT })
  expect(chat.typing).toBe(false)
})

it('EV9 E7.3 typing.webhook=off sends no event, typing.response=event answers with one', async () => {
  const { sim, api, hook, chat } = await setUpHandover({
    knobs: { 'typing.webhook': 'off', 'typing.response': 'event' },
  })
  const started = await api.typingStart({ chat_id: chat.id })
  const stopped = await api.typingStop({ chat_id: chat.id })
  expect([started.body, stopped.body]).toEqual([
    { event: 'AGENT TYPING START', chat_id: chat.id },
    { event: 'AGENT TYPING STOP', chat_id: chat.id },
  ])
  await sim.settled()
  expect(hook.events()).toEqual([])
})

it('E7.4 indicators of different chats are independent', async () => {
  const harness = await setUp()
  const [first, second] = [await takenOver(harness), await takenOver(harness)]
  await harness.api.typingStart({ chat_id: first.id, timeout: 2000 })
  await harness.api.typingStart({ chat_id: second.id, timeout: 1000 })
  await harness.sim.clock.advance('1s')
  expect([first.typing, second.typing]).toEqual([true, false])
  await harness.sim.clock.advance('1s')
  expect([first.typing, second.typing]).toEqual([false, false])
})
