/** The queue of the agent's desk, from the journal of a simulator. */
import { expect, test } from 'vitest'
import { createAgentQueue } from '../../../src/pages/web/model/agent-queue.ts'
import { setUp } from '../../support/test-simulator.ts'

async function withQueue(options = {}) {
  const { sim, api } = await setUp(undefined, options)
  const { add, view } = createAgentQueue()
  sim.journal.subscribe(add)
  return { sim, api, queue: view }
}

test('lists chats that wait, longest waiting first, then those with an agent, with the last text of the user', async () => {
  const { sim, api, queue } = await withQueue()
  const [first, second, third] = [await sim.chat(), await sim.chat(), await sim.chat()]
  for (const chat of [first, second, third]) {
    await chat.says(`From ${chat.id}`)
    await chat.press('handover')
  }
  const shown = () => queue().chats.map(({ chatId, status, lastText }) => [chatId, status, lastText])
  expect(shown()).toEqual([first, second, third].map(({ id }) => [id, 'pending', `From ${id}`]))
  await api.start({ chat_id: first.id })
  await third.says('Hello?')
  expect(shown()).toEqual([
    [second.id, 'pending', `From ${second.id}`],
    [third.id, 'pending', 'Hello?'],
    [first.id, 'agent', `From ${first.id}`],
  ])
  await api.end({ chat_id: first.id })
  expect(shown().map(([id]) => id)).toEqual([second.id, third.id])
  const created = sim.journal.query().find(({ chat_id }) => chat_id === second.id)
  expect(created).toMatchObject({ note: 'chat_created', user_name: queue().chats[0]?.userName })
  expect(queue().botIdOf(second.id)).toBe(sim.botId)
  expect(queue().botIdOf('unknown')).toBeNull()
})

test('a refused start and a request while closed put no chat into the queue', async () => {
  const { sim, api, queue } = await withQueue()
  const chat = await sim.chat()
  expect((await api.start({ chat_id: chat.id }, { key: 'wrong' })).status).toBe(401)
  await api.availability({ availability: 'CLOSED' })
  await chat.press('handover')
  expect(queue().chats).toEqual([])
})

test('has the status that the platform has, whatever calls are answered and also when a chat is idle', async () => {
  const { sim, api, queue } = await withQueue({ clock: 'virtual', knobs: { 'chat.idleTimeout': '1m' } })
  const chat = await sim.chat()
  await chat.press('handover')
  const status = () => queue().chats.map(one => one.status)
  expect((await api.end({ chat_id: chat.id })).status).toBe(200)
  expect(status()).toEqual(['pending'])
  expect(chat.status).toBe('pending')
  sim.faults.add({ on: { api: 'start' }, drop: 'after', times: 1 })
  await api.start({ chat_id: chat.id }).catch(() => null)
  expect(chat.status).toBe('agent')
  expect(status()).toEqual(['agent'])
  await api.start({ chat_id: chat.id })
  expect(status()).toEqual(['agent'])
  await sim.clock.advance('2m')
  expect(sim.journal.query().at(-1)).toMatchObject({ note: 'chat_ended' })
  expect(status()).toEqual(['agent'])
  await api.end({ chat_id: chat.id })
  expect(status()).toEqual([])
})

test('ticks off the steps of a first handover in any order, and names changes of settings', async () => {
  const { sim, api, queue } = await withQueue()
  expect([...queue().done]).toEqual([])
  const chat = await sim.chat()
  await chat.press('handover')
  await chat.says('Hi')
  expect([...queue().done]).toEqual(['chat', 'request', 'write'])
  await api.start({ chat_id: chat.id })
  await api.message({ chat_id: chat.id, message: 'Hello' })
  await api.end({ chat_id: chat.id })
  expect(queue().done.size).toBe(6)
  expect(queue()).toMatchObject({ settingsSeq: 0 })
  await sim.configure({ 'typing.webhook': 'off' })
  expect(queue().settingsSeq).toBe(sim.journal.query().at(-1)?.seq)
})
