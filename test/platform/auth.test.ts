import { expect, it } from 'vitest'
import { takenOver } from '../support/chats.ts'
import { setUp, setUpChat } from '../support/test-simulator.ts'

it('A1 A2 E0.3 the handover key opens the handover endpoints', async () => {
  const { sim, api, chat } = await setUpChat()
  expect((await api.start({ chat_id: chat.id }, { key: sim.apiKey })).status).toBe(200)
  expect((await api.availability({ availability: 'OPEN' }, { key: sim.apiKey })).status).toBe(200)
})

it('A3 E9.2 a bot key with Read chats opens the chat transcript, and only that', async () => {
  const { sim, api, chat } = await setUpChat()
  expect((await api.chat(chat.id, { key: sim.botApiKey })).status).toBe(200)
  const refused = await api.start({ chat_id: chat.id }, { key: sim.botApiKey })
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'missing_scope'])
  expect(chat.status).toBe('bot')
})

it('A3 E9.2 the handover key does not open it: 403 with a hint', async () => {
  const { sim, api, chat } = await setUpChat()
  const { status, body } = await api.chat(chat.id, { key: sim.apiKey })
  expect([status, body.error?.code, body.error?.field]).toEqual([403, 'missing_scope', 'Authorization'])
  expect(body.error?.message).toContain("'Read chats'")
})

it('A1 A5 ER2 every endpoint answers 401 without an event for a wrong or missing key', async () => {
  const { api, chat } = await setUpChat({
    chat: { history: [{ user: 'long enough for a summary' }, { user: 'of this chat' }] },
  })
  const before = chat.view()
  for (const key of ['wrong', null]) {
    const body = { chat_id: chat.id, message: 'hi', availability: 'OPEN' }
    for (const id of ['transcript', 'summarize', 'start', 'end', 'message', 'typing_start', 'typing_stop'] as const) {
      expect((await api.call(id, body, { key })).status).toBe(401)
    }
    expect((await api.availability({ availability: 'CLOSED' }, { key })).status).toBe(401)
    expect((await api.chat(chat.id, { key })).status).toBe(401)
  }
  expect(chat.view()).toEqual(before)
})

it.each(['start', 'end'] as const)('A5 ER1 %s returns no event without a valid key and valid ids', async endpoint => {
  const harness = await setUp()
  const chat = endpoint === 'end' ? await takenOver(harness) : await harness.sim.chat()
  const before = chat.view()
  const refused = [
    await harness.api.call(endpoint, { chat_id: chat.id }, { key: 'wrong' }),
    await harness.api.call(endpoint, { chat_id: `${chat.id}x` }),
    await harness.api.call(endpoint, { chat_id: chat.id, bot_id: harness.sim.botId + 1 }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([401, 404, 404])
  for (const { body } of refused) expect(body).not.toHaveProperty('event')
  expect(chat.view()).toEqual(before)
})

it.each([
  [404, undefined],
  [400, '400'],
  [403, '403'],
] as const)('A5 a chat of another bot answers %i', async (status, knob) => {
  const knobs = { 'keys.more': 'second-key:2002', ...(knob ? { 'errors.idMismatch': knob } : {}) }
  const { api, chat } = await setUpChat({ knobs })
  const [theirs, mixed, read] = [
    await api.start({ chat_id: chat.id }, { key: 'second-key' }),
    await api.start({ chat_id: chat.id, bot_id: 2002 }),
    await api.chat(chat.id, { key: 'second-key' }),
  ]
  for (const refused of [theirs, mixed, read]) {
    expect([refused.status, refused.body.error?.code]).toEqual([status, 'id_mismatch'])
  }
  expect(chat.status).toBe('bot')
})

it('A1 a replaced key is refused at once, the new one opens', async () => {
  const { sim, api, chat } = await setUpChat()
  const old = sim.apiKey
  await sim.configure({ 'keys.handover': 'new-key' })
  expect((await api.start({ chat_id: chat.id }, { key: old })).status).toBe(401)
  expect((await api.start({ chat_id: chat.id }, { key: 'new-key' })).status).toBe(200)
})

it('A1 keys.graceful keeps the old key for a while', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'keys.graceful': '1h' } })
  const old = sim.apiKey
  await sim.configure({ 'keys.handover': 'new-key' })
  await sim.clock.advance('59m')
  expect((await api.start({ chat_id: chat.id }, { key: old })).status).toBe(200)
  await sim.clock.advance('1m')
  expect((await api.start({ chat_id: chat.id }, { key: old })).status).toBe(401)
})

it('A2 A3 keys.shared lets either key open everything', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'keys.shared': 'on' } })
  expect((await api.chat(chat.id, { key: sim.apiKey })).status).toBe(200)
  expect((await api.start({ chat_id: chat.id }, { key: sim.botApiKey })).status).toBe(200)
})
