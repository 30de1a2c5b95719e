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

it('E0.1 E0.2 paths are appended to the base URL, also when it has a path; answers are JSON in UTF-8', async () => {
  const history = [{ user: 'blåbærsyltetøy 🫐' }]
  const { sim, api, chat } = await setUpChat({ baseUrl: 'https://sim.example.test/deep/er/', chat: { history } })
  expect(sim.baseUrl).toBe('https://sim.example.test/deep/er')
  const { status, headers, body } = await api.chat(chat.id)
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body.chat.messages[0]?.message).toBe('blåbærsyltetøy 🫐')
})

it.each([
  ['/handover/start', /did you mean \/api\/v2\/handover\/start\?$/],
  ['/readyz', /did you mean \/_sim\/readyz\?$/],
  ['/some/other/thing', /POST \/api\/v2\/handover\/start/],
])('ER4 the unknown path %s names the one that was meant, or else the endpoints there are', async (path, message) => {
  const { api, chat } = await setUpChat()
  const { status, body } = await api.start({ chat_id: chat.id }, { path })
  expect([status, body.error?.message]).toEqual([404, expect.stringMatching(message)])
})
