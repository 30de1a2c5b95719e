import { expect, it } from 'vitest'
import { HANDOVER_IDS, HISTORY } from '../support/raw-requests.ts'
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
  const { api, chat } = await setUpChat({ chat: { history: HISTORY } })
  const before = chat.view()
  const body = { chat_id: chat.id, message: 'hi', availability: 'CLOSED' }
  for (const id of HANDOVER_IDS) {
    const refused = await api.call(id, body, { key })
    expect([refused.status, refused.body]).toEqual([401, expect.not.objectContaining({ event: expect.anything() })])
  }
  expect((await api.chat(chat.id, { key })).status).toBe(401)
  expect(chat.view()).toEqual(before)
})
