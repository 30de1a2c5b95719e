import { expect, it } from 'vitest'
import { setUpChat } from '../support/test-simulator.ts'

it('V2 one conversation may mix both names', async () => {
  const { api, chat } = await setUpChat()
  await api.start({ chat_id: chat.id }, { alias: 'takeover' })
  expect(chat.status).toBe('agent')
  await api.end({ chat_id: chat.id }, { alias: 'handover' })
  expect(chat.status).toBe('bot')
})

it.each(['/api/v1/handover/start', '/api/v3/handover/start', '/api/v2/chats/x'])(
  'V1 V4 %s is not a path',
  async path => {
    const { api, chat } = await setUpChat()
    const { status, headers, body } = await api.start({ chat_id: chat.id }, { path })
    expect([status, body.error?.code]).toEqual([404, 'path_not_found'])
    expect(headers.get('x-handover-sim-unspecified')).toBe('api.versions, errors.body')
  },
)

it('V4 api.versions=[v3] adds a version beside v2', async () => {
  const { api, chat } = await setUpChat({ knobs: { 'api.versions': ['v3'] } })
  expect((await api.start({ chat_id: chat.id }, { path: '/api/v3/takeover/start' })).status).toBe(200)
  expect((await api.start({ chat_id: chat.id })).status).toBe(200)
})

it('E0.1 E0.2 paths are appended to the base URL, also when it has a path; answers are JSON in UTF-8', async () => {
  const history = [{ user: 'blåbærsyltetøy 🫐' }]
  const { sim, api, chat } = await setUpChat({ baseUrl: 'https://sim.example.test/deep/er/', chat: { history } })
  expect(sim.baseUrl).toBe('https://sim.example.test/deep/er')
  const { status, headers, body } = await api.chat(chat.id)
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body.chat.messages[0]?.message).toBe('blåbærsyltetøy 🫐')
})
