import { expect, it } from 'vitest'
import { AGENT, takenOver } from '../support/chats.ts'
import { setUpHandover } from '../support/test-simulator.ts'

it('E7.1 E7.2 E7.3 E8.1 E8.2 E8.3 typing_start shows the indicator, typing_stop hides it', async () => {
  const { api, chat } = await setUpHandover()
  expect(chat.typing).toBe(false)
  const started = await api.typingStart({ chat_id: chat.id })
  expect([started.status, started.body, chat.typing]).toEqual([200, {}, true])
  const stopped = await api.typingStop({ chat_id: chat.id })
  expect([stopped.status, stopped.body, chat.typing]).toEqual([200, {}, false])
})

it('E7.4 L5 with a timeout the indicator of this chat disappears after exactly that many milliseconds', async () => {
  const { sim, api, chat: other } = await setUpHandover()
  const chat = await takenOver({ sim, api })
  await api.typingStart({ chat_id: other.id, timeout: 6000 })
  await api.typingStart({ chat_id: chat.id, timeout: 5000 })
  await sim.clock.advance('4999ms')
  expect([chat.typing, other.typing]).toEqual([true, true])
  await sim.clock.advance('1ms')
  expect([chat.typing, other.typing]).toEqual([false, true])
  await sim.clock.advance('1s')
  expect(other.typing).toBe(false)
})

it('E7.4 E7.5 a second typing_start replaces or removes the timer; without one the indicator stays', async () => {
  const { sim, api, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 1000 })
  await api.typingStart({ chat_id: chat.id, timeout: 3000 })
  await sim.clock.advance('2s')
  expect(chat.typing).toBe(true)
  const again = await api.typingStart({ chat_id: chat.id })
  expect(again.headers.get('x-handover-sim-unspecified')).toBe('typing.again, typing.response')
  await sim.clock.advance('1000h')
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

it('EV7 EV8 EV9 start, stop and the timeout each send an event with only chat_id, delivered by any answer', async () => {
  const { sim, api, hook, chat } = await setUpHandover()
  hook.answerWith(500)
  await api.typingStart({ chat_id: chat.id, timeout: 1000 })
  await sim.clock.advance('1s')
  await api.typingStart({ chat_id: chat.id })
  await api.typingStop({ chat_id: chat.id })
  await sim.settled()
  const start = { event: 'AGENT TYPING START', chat_id: chat.id }
  const stop = { event: 'AGENT TYPING STOP', chat_id: chat.id }
  expect(hook.received.map(({ payload }) => payload)).toEqual([start, stop, start, stop])
  expect(new Set(sim.deliveries.map(one => one.outcome))).toEqual(new Set(['delivered']))
})

it('E7.5 end hides the indicator without an event, a message does not', async () => {
  const { sim, api, hook, chat } = await setUpHandover()
  await api.typingStart({ chat_id: chat.id, timeout: 60_000 })
  await api.message({ chat_id: chat.id, message: 'hi', sender: AGENT })
  expect(chat.typing).toBe(true)
  await api.end({ chat_id: chat.id })
  expect(chat.typing).toBe(false)
  await sim.clock.advance('1h')
  expect(hook.events()).toEqual(['AGENT TYPING START'])
})
