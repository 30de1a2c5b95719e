/** Which web pages may call the API and read its answers. */
import { expect, it } from 'vitest'
import { HANDOVER_IDS, stateOf } from '../support/raw-requests.ts'
import { type SimulatorSetup, setUpChat } from '../support/test-simulator.ts'

const OWN_KEYS = { 'keys.handover': 'own-handover-key', 'keys.bot': 'own-bot-key' }

const corsOf = ({ headers }: { readonly headers: Headers }) =>
  [...headers.keys()].filter(name => name.startsWith('access-control')).sort()

const preflight = ({ send }: SimulatorSetup, origin: string) =>
  send('/api/v2/handover/start', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })

it.each([
  'http://localhost:3000',
  'https://localhost',
  'http://127.0.0.1:5173',
  'http://127.8.9.10',
  'http://[::1]:8080',
  'http://desk.localhost:8080',
])('E9.1 a page of %s reads a transcript', async origin => {
  const setup = await setUpChat()
  const { status, headers } = await setup.api.chat(setup.chat.id, { headers: { origin } })
  expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([200, origin, 'Origin'])
  expect(headers.get('access-control-expose-headers')).toContain('x-handover-sim-unspecified')
  expect((await preflight(setup, origin)).headers.get('access-control-allow-origin')).toBe(origin)
})

it('E9.1 a client without Origin gets no CORS header, and caches know that the answer depends on it', async () => {
  const { api, chat } = await setUpChat()
  const answer = await api.chat(chat.id)
  expect([answer.status, corsOf(answer), answer.headers.get('vary')]).toEqual([200, [], 'Origin'])
  expect(answer.headers.get('x-handover-sim-unspecified')).not.toContain('api.cors')
})

it.each([
  'https://evil.example',
  'null',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example:4747',
  'http://evil.example#.localhost',
  'http://192.0.2.1',
  'file://',
  'ftp://localhost',
  'chrome-extension://abcdefgh',
  'http://localhost, https://evil.example',
  'localhost',
  '',
])('a page of %j cannot use the published default keys', async origin => {
  const setup = await setUpChat()
  const { sim, api, send, chat } = setup
  sim.faults.add({ on: { api: 'start' }, respond: { status: 503 }, times: 1 })
  const before = stateOf(setup, chat)
  const headers = { origin, authorization: `Bearer ${sim.apiKey}`, 'content-type': 'text/plain' }
  for (const id of HANDOVER_IDS) {
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: 'x', availability: 'CLOSED' })
    const answer = await send(`/api/v2/handover/${id}`, { method: 'POST', headers, body })
    const isInternal = answer.headers.get('x-handover-sim-internal-error')
    expect([answer.status, isInternal, corsOf(answer)]).toEqual([403, '1', []])
    const hint = expect.stringMatching(/keys\.handover.*api\.cors/)
    const handover_sim = expect.objectContaining({ code: 'foreign_origin', hint })
    expect(await answer.json()).toEqual({ handover_sim })
  }
  const read = await send(`/api/v1/chats/${chat.id}`, { headers: { origin, authorization: `Bearer ${sim.botApiKey}` } })
  for (const answer of [read, await preflight(setup, origin)])
    expect([answer.status, corsOf(answer)]).toEqual([403, []])
  expect(stateOf(setup, chat)).toEqual(before)
  expect(sim.journal.query({ kind: 'api' }).map(({ status }) => status)).toEqual(Array(9).fill(403))
  expect((await api.start({ chat_id: chat.id })).status).toBe(503)
})

it('a browser that hides the origin of a page of another site sends nothing either, but shows its files', async () => {
  const { sim, send, chat } = await setUpChat()
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'sec-fetch-site': 'cross-site' }
  const post = await send('/api/v2/handover/availability', { method: 'POST', headers, body: '{}' })
  expect([post.status, await post.text()]).toEqual([403, expect.stringContaining('another site')])
  await chat.says('', { attach: [{ name: 'a.png', type: 'image/png', size_kb: 1 }] })
  const [link] = chat.transcript.flatMap(({ attachments }) => attachments ?? [])
  const image = await send(link!.url.slice(sim.baseUrl.length), { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(image.status).toBe(200)
})

const EVIL = 'https://evil.example'

it('with keys of your own, calls of other pages are answered, and browsers do not let them read the answer', async () => {
  const setup = await setUpChat({ knobs: OWN_KEYS })
  const read = await setup.api.chat(setup.chat.id, { headers: { origin: EVIL } })
  expect([read.status, corsOf(read)]).toEqual([200, []])
  const asked = await preflight(setup, EVIL)
  expect([asked.status, corsOf(asked)]).toEqual([204, []])
})

it.each([
  ['only one of the default keys is replaced', { 'keys.handover': 'own-key' }, {}, 403],
  ['only the other one is replaced', { 'keys.bot': 'own-key' }, {}, 403],
  ['replaced default keys still work for a while', { 'keys.graceful': '1h' }, OWN_KEYS, 200],
] as const)('refuses other pages while %s', async (_, knobs, replaced, later) => {
  const { sim, send, chat } = await setUpChat({ knobs })
  await sim.configure(replaced)
  const headers = { origin: EVIL, authorization: `Bearer ${sim.botApiKey}` }
  const status = async () => (await send(`/api/v1/chats/${chat.id}`, { headers })).status
  expect(await status()).toBe(403)
  await sim.clock.advance('1h')
  expect(await status()).toBe(later)
})
