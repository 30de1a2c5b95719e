import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { pathFor } from '../support/api.ts'
import { HANDOVER_IDS, stateOf } from '../support/raw-requests.ts'
import { inProcess, setUp, setUpChat } from '../support/test-simulator.ts'

const NOT_POST = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']
const NOT_GET = ['POST', 'PUT', 'PATCH', 'DELETE']

it.each(HANDOVER_IDS)('E0.1 ER1 %s takes POST: any other method gets 405 with Allow', async id => {
  const harness = await setUpChat()
  const { chat } = harness
  const before = stateOf(harness, chat)
  const headers = { authorization: `Bearer ${harness.sim.apiKey}` }
  for (const method of NOT_POST) {
    const answer = await harness.send(pathFor(id), { method, headers })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS'])
    const text = await answer.text()
    if (method === 'HEAD') expect(text).toBe('')
    else expect(JSON.parse(text)).toMatchObject({ error: { code: 'method_not_allowed' } })
  }
  expect(stateOf(harness, chat)).toEqual(before)
})

it('E9.1 the chat transcript takes GET: writing methods get 405 with Allow', async () => {
  const { sim, send, chat } = await setUpChat()
  const headers = { authorization: `Bearer ${sim.botApiKey}` }
  for (const method of NOT_GET) {
    const answer = await send(`/api/v1/chats/${chat.id}`, { method, headers })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, OPTIONS'])
  }
})

it('E9.1 HEAD answers like GET without the body, on success and on failure', async () => {
  const { sim, send, chat } = await setUpChat()
  for (const [key, status] of [
    [sim.botApiKey, 200],
    ['wrong', 401],
  ] as const) {
    const headers = { authorization: `Bearer ${key}` }
    const [get, head] = [
      await send(`/api/v1/chats/${chat.id}`, { headers }),
      await send(`/api/v1/chats/${chat.id}`, { headers, method: 'HEAD' }),
    ]
    expect([get.status, head.status, await head.text()]).toEqual([status, status, ''])
    for (const name of ['content-type', 'x-handover-sim-unspecified', 'access-control-allow-origin']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
    }
  }
})

it.each(Object.values(ENDPOINTS))(
  'E0.1 a browser may ask first: OPTIONS $path answers without a key',
  async endpoint => {
    const { sim, send, chat } = await setUpChat()
    const headers = { origin: 'http://localhost:3000', 'access-control-request-method': endpoint.method }
    const answer = await send(endpoint.path.replace('{chatId}', chat.id), { method: 'OPTIONS', headers })
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://localhost:3000')
    expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toContain(endpoint.method)
    const allowed = answer.headers.get('access-control-allow-headers') ?? ''
    for (const name of ['authorization', 'content-type']) expect(allowed).toContain(name)
    expect(sim.journal.query({ kind: 'api' })).toEqual([])
  },
)

it('ER1 ER4 a page on this machine can read every answer: success, refusals, unknown paths, files', async () => {
  const { api, send, chat } = await setUpChat()
  const headers = { origin: 'http://localhost:3000' }
  const answers = [
    (await api.chat(chat.id, { headers })).headers,
    (await api.start({ chat_id: chat.id }, { headers })).headers,
    (await api.start({ chat_id: chat.id }, { headers, key: 'wrong' })).headers,
    (await api.start({ chat_id: 'nowhere' }, { headers })).headers,
    (await api.start({ chat_id: chat.id }, { headers, path: '/api/v2/nowhere' })).headers,
    (await send('/api/v2/handover/start', { headers })).headers,
    (await send('/files/x/y', { headers })).headers,
  ]
  for (const headers of answers) {
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000')
    expect(headers.get('access-control-expose-headers')).toContain('x-handover-sim-unspecified')
  }
})

it.each(['empty', 'html', 'text'] as const)('ER4 the same holds for errors.body=%s', async form => {
  const { api } = await setUp(inProcess, { knobs: { 'errors.body': form } })
  const origin = 'http://localhost:3000'
  const { status, headers } = await api.start({ chat_id: 'x' }, { key: null, headers: { origin } })
  expect([status, headers.get('access-control-allow-origin')]).toEqual([401, origin])
})
