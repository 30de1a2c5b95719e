import { expect, it } from 'vitest'
import { setUpChat } from '../support/test-simulator.ts'

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

it('ER4 limits.rate answers 429 with Retry-After until the window is over, or the simulator is reset', async () => {
  const { sim, api } = await setUpChat({ knobs: { 'limits.rate': '2/10s' } })
  const call = async () => api.typingStop({ chat_id: (await sim.chat()).id })
  expect([(await call()).status, (await call()).status]).toEqual([200, 200])
  await sim.clock.advance('4s')
  const { status, body, headers } = await call()
  expect([status, body.error?.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '6'])
  await sim.clock.advance('6s')
  expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([200, 200, 429])
  sim.reset()
  expect((await call()).status).toBe(200)
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
