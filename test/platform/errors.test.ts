import { expect, it } from 'vitest'
import { inProcess, setUp, setUpChat, setUpHandover } from '../support/test-simulator.ts'

it.each([
  ['a wrong key', { key: 'wrong' }, {}],
  ['a key without the scope', { key: 'sim-bot-key' }, {}],
  ['an unknown chat', {}, { chat_id: 'nowhere' }],
  ['an unknown bot', {}, { bot_id: 1 }],
  ['a bad parameter', {}, { sender: 'Kari' }],
])('ER1 %s: no response event, nothing happens', async (_, options, wrong) => {
  const { api, chat } = await setUpHandover()
  const before = chat.view()
  for (const id of ['start', 'end', 'message'] as const) {
    const refused = await api.call(id, { chat_id: chat.id, message: 'hi', ...wrong }, options)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.body).not.toHaveProperty('event')
  }
  expect(chat.view()).toEqual(before)
})

it('ER2 reading a chat: 200 is success, every failure another status', async () => {
  const { sim, api, chat } = await setUpChat()
  const statuses = [
    (await api.chat(chat.id)).status,
    (await api.chat(chat.id, { key: 'wrong' })).status,
    (await api.chat(chat.id, { key: sim.apiKey })).status,
    (await api.chat('nowhere')).status,
  ]
  expect(statuses).toEqual([200, 401, 403, 404])
})

it.each([
  ['json', /^application\/json/, /^\{"error":\{"code":"unauthorized"/],
  ['html', /^text\/html/, /<h1>401<\/h1>/],
  ['text', /^text\/plain/, /^unauthorized$/],
  ['empty', /^$/, /^$/],
] as const)('ER4 errors.body=%s: an intermediary cannot rely on the form of an error', async (form, type, body) => {
  const { send, chat } = await setUpChat({ knobs: { 'errors.body': form } })
  const answer = await send(`/api/v1/chats/${chat.id}`)
  expect(answer.status).toBe(401)
  expect(answer.headers.get('content-type') ?? '').toMatch(type)
  expect(await answer.text()).toMatch(body)
})

it('ER4 errors.validation=422 changes the status of a bad parameter', async () => {
  const { api, chat } = await setUpChat({ knobs: { 'errors.validation': '422' } })
  expect((await api.start({ chat_id: chat.id, supports_attachment: 'yes' })).status).toBe(422)
})

it('ER4 limits.rate answers 429 with Retry-After until the window is over', async () => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'limits.rate': '2/10s' } })
  const call = () => api.typingStop({ chat_id: chat.id })
  expect([(await call()).status, (await call()).status]).toEqual([200, 200])
  await sim.clock.advance('4s')
  const refused = await call()
  expect([refused.status, refused.body.error?.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited',
    '6',
  ])
  await sim.clock.advance('6s')
  expect((await call()).status).toBe(200)
})

it('ER4 a reset sets the counted calls to zero', async () => {
  const { sim, api } = await setUp(inProcess, { knobs: { 'limits.rate': '1/10s' } })
  const call = async () => (await api.typingStop({ chat_id: (await sim.chat()).id })).status
  expect([await call(), await call()]).toEqual([200, 429])
  sim.reset()
  expect(await call()).toBe(200)
})

it('ER4 an unknown path names the one that was meant, or else the endpoints there are', async () => {
  const { api } = await setUp()
  const messageAt = async (path: string) => {
    const { status, body } = await api.start({ chat_id: 'x' }, { path })
    expect(status).toBe(404)
    return body.error?.message
  }
  expect(await messageAt('/handover/start')).toBe(
    'No endpoint at /handover/start; did you mean /api/v2/handover/start?',
  )
  expect(await messageAt('/readyz')).toBe('No endpoint at /readyz; did you mean /_sim/readyz?')
  expect(await messageAt('/some/other/thing')).toContain('POST /api/v2/handover/start')
})
