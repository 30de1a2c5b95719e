import { expect, it } from 'vitest'
import type { EndpointId } from '../../src/platform/contract/endpoint-routes.ts'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { AGENT } from '../support/chats.ts'
import { inProcess, setUp, setUpChat } from '../support/test-simulator.ts'

const HANDOVER = Object.keys(ENDPOINTS).filter(id => id !== 'chat') as EndpointId[]
const EVENTS: Partial<Record<EndpointId, string>> = {
  transcript: 'TRANSCRIPT',
  summarize: 'SUMMARIZED',
  availability: 'HANDOVER AVAILABILITY UPDATED',
  start: 'TAKEOVER STARTED',
  end: 'TAKEOVER ENDED',
  message: 'MESSAGE SENT TO USER',
}
const HISTORY = [{ user: 'My parcel has not arrived yet.' }, { user: 'Order 100-48213.' }]

const bodyFor = (id: EndpointId, chat_id: string) =>
  id === 'availability'
    ? { availability: 'OPEN', queue: 'DEFAULT', reason: 'OTHER' }
    : { chat_id, ...(id === 'message' ? { message: 'hi', sender: AGENT } : {}) }

it.each(HANDOVER)('V1 V2 W7 E0.4 %s has the same function under both names', async id => {
  const answers = []
  for (const alias of ['handover', 'takeover'] as const) {
    const { api, chat } = await setUpChat({ chat: { history: HISTORY } })
    const { status, body } = await api.call(id, bodyFor(id, chat.id), { alias })
    answers.push({ status, body, view: chat.view() })
  }
  expect(answers[0]?.status).toBe(200)
  expect(answers[1]).toEqual(answers[0])
})

it('V2 one conversation may mix both names', async () => {
  const { api, chat } = await setUpChat()
  await api.start({ chat_id: chat.id }, { alias: 'takeover' })
  expect(chat.status).toBe('agent')
  await api.end({ chat_id: chat.id }, { alias: 'handover' })
  expect(chat.status).toBe('bot')
})

it('V3 W5 W7 EV10 EV11 EV12 EV13 EV14 EV15 each reply confirms with its event, under its older name', async () => {
  const { api, chat } = await setUpChat({ chat: { history: HISTORY } })
  for (const [id, event] of Object.entries(EVENTS) as [EndpointId, string][]) {
    const { body } = await api.call(id, bodyFor(id, chat.id))
    expect((body as { event?: string }).event).toBe(event)
  }
})

it.each(['/api/v1/handover/start', '/api/v3/handover/start', '/api/v2/chats/x', '/api/v2/handovers/start'])(
  'V1 V4 %s is not a path: 404, marked as our own choice',
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

it('E0.1 paths are appended to the base URL, also when it has a path', async () => {
  const { sim } = await setUp(inProcess, { baseUrl: 'https://sim.example.test/deep/er/' })
  const chat = await sim.chat()
  const headers = { authorization: `Bearer ${sim.botApiKey}` }
  const answer = await sim.fetch(new Request(`https://sim.example.test/deep/er/api/v1/chats/${chat.id}`, { headers }))
  expect(answer.status).toBe(200)
})

it('E0.2 answers are JSON in UTF-8', async () => {
  const { api, chat } = await setUpChat({ chat: { history: [{ user: 'blåbærsyltetøy 🫐' }] } })
  const { headers, body } = await api.chat(chat.id)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(body.chat.messages[0]?.message).toBe('blåbærsyltetøy 🫐')
})
