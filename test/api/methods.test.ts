import { expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/platform/contract/index.ts'
import { pathFor } from '../support/api.ts'
import { HANDOVER_IDS, stateOf } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

const ORIGIN = 'http://localhost:3000'

it.each([
  ...HANDOVER_IDS.map(id => [pathFor(id), ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'], 'POST, OPTIONS'] as const),
  ['/api/v1/chats/c1', ['POST', 'PUT', 'PATCH', 'DELETE'], 'GET, HEAD, OPTIONS'] as const,
])('E0.1 E9.1 ER1 %s: %j get 405 with Allow: %s', async (path, methods, allow) => {
  const setup = await setUpChat({ chat: { id: 'c1' } })
  const before = stateOf(setup, setup.chat)
  const headers = { authorization: `Bearer ${setup.sim.apiKey}` }
  for (const method of methods) {
    const answer = await setup.send(path, { method, headers })
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow])
    expect(await answer.text()).toMatch(method === 'HEAD' ? /^$/ : /"code":"method_not_allowed"/)
  }
  expect(stateOf(setup, setup.chat)).toEqual(before)
})

it.each(Object.values(ENDPOINTS))('E0.1 OPTIONS $path answers without a key', async endpoint => {
  const { sim, send, chat } = await setUpChat()
  const asked = { origin: ORIGIN, 'access-control-request-method': endpoint.method }
  const answer = await send(endpoint.path.replace('{chatId}', chat.id), { method: 'OPTIONS', headers: asked })
  expect([answer.status, await answer.text()]).toEqual([204, ''])
  const allowed = (name: string) => answer.headers.get(`access-control-allow-${name}`)?.split(', ')
  expect(allowed('origin')).toEqual([ORIGIN])
  expect(allowed('methods')).toContain(endpoint.method)
  expect(allowed('headers')).toEqual(expect.arrayContaining(['authorization', 'content-type']))
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
})

it.each(['json', 'empty', 'html', 'text'] as const)('ER1 ER4 a local page reads every answer: %s', async form => {
  const { api, send, chat } = await setUpChat({ knobs: { 'errors.body': form } })
  const headers = { origin: ORIGIN }
  const answers = [
    await api.chat(chat.id, { headers }),
    await api.start({ chat_id: chat.id }, { headers }),
    await api.start({ chat_id: chat.id }, { headers, key: 'wrong' }),
    await api.start({ chat_id: 'nowhere' }, { headers }),
    await api.start({ chat_id: chat.id }, { headers, path: '/api/v2/nowhere' }),
    await send('/api/v2/handover/start', { headers }),
    await send('/files/x/y', { headers }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 404, 404, 405, 404])
  for (const answer of answers) {
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-handover-sim-unspecified')
  }
})
