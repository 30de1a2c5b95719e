import { expect, it } from 'vitest'
import { setUpChat } from '../support/test-simulator.ts'

it('A1 A2 A3 E0.3 E9.2 each key opens its endpoints, and a key without the scope gets 403 with a hint', async () => {
  const { sim, api, chat } = await setUpChat()
  expect((await api.start({ chat_id: chat.id }, { key: sim.apiKey })).status).toBe(200)
  expect((await api.availability({ availability: 'OPEN' }, { key: sim.apiKey })).status).toBe(200)
  expect((await api.chat(chat.id, { key: sim.botApiKey })).status).toBe(200)
  const [end, read] = [
    await api.end({ chat_id: chat.id }, { key: sim.botApiKey }),
    await api.chat(chat.id, { key: sim.apiKey }),
  ]
  for (const { status, body } of [end, read])
    expect([status, body.error?.code, body.error?.field]).toEqual([403, 'missing_scope', 'Authorization'])
  expect(read.body.error?.message).toContain("'Read chats'")
  expect(chat.status).toBe('agent')
})

it.each(['wrong', null])('A1 A5 ER2 every endpoint answers 401 without an event for the key %j', async key => {
  const { api, chat } = await setUpChat({
    chat: { history: [{ user: 'long enough for a summary' }, { user: 'of this chat' }] },
  })
  const before = chat.view()
  const body = { chat_id: chat.id, message: 'hi', availability: 'CLOSED' }
  for (const id of [
    'transcript',
    'summarize',
    'availability',
    'start',
    'end',
    'message',
    'typing_start',
    'typing_stop',
  ] as const) {
    const refused = await api.call(id, body, { key })
    expect([refused.status, refused.body]).toEqual([401, expect.not.objectContaining({ event: expect.anything() })])
  }
  expect((await api.chat(chat.id, { key })).status).toBe(401)
  expect(chat.view()).toEqual(before)
})

it.each([
  [404, undefined],
  [400, '400'],
  [403, '403'],
] as const)('A5 a chat of another bot answers %i', async (status, knob) => {
  const knobs = { 'keys.more': 'second-key:2002', ...(knob ? { 'errors.idMismatch': knob } : {}) }
  const { api, chat } = await setUpChat({ knobs })
  for (const { status: answered, body } of [
    await api.start({ chat_id: chat.id }, { key: 'second-key' }),
    await api.start({ chat_id: chat.id, bot_id: 2002 }),
    await api.chat(chat.id, { key: 'second-key' }),
  ])
    expect([answered, body.error?.code]).toEqual([status, 'id_mismatch'])
  expect(chat.status).toBe('bot')
})

it.each([
  ['is refused at once', {}, 401],
  ['works for the time of keys.graceful', { 'keys.graceful': '1h' }, 200],
] as const)('A1 a replaced key %s, the new one opens', async (_, knobs, status) => {
  const { sim, api, chat } = await setUpChat({ knobs })
  const old = sim.apiKey
  await sim.configure({ 'keys.handover': 'new-key' })
  expect((await api.start({ chat_id: chat.id }, { key: 'new-key' })).status).toBe(200)
  await sim.clock.advance('59m')
  expect((await api.end({ chat_id: chat.id }, { key: old })).status).toBe(status)
  await sim.clock.advance('1m')
  expect((await api.end({ chat_id: chat.id }, { key: old })).status).toBe(401)
})

it('A2 A3 keys.shared lets either key open everything', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'keys.shared': 'on' } })
  expect((await api.chat(chat.id, { key: sim.apiKey })).status).toBe(200)
  expect((await api.start({ chat_id: chat.id }, { key: sim.botApiKey })).status).toBe(200)
})
