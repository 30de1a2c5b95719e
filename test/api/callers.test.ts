/** Which web pages may call the API and read its answers. */
import { expect, it } from 'vitest'
import { HANDOVER_IDS, stateOf } from '../support/raw-requests.ts'
import { inProcess, type SimulatorSetup, setUp, setUpChat } from '../support/test-simulator.ts'

const OWN_KEYS = { knobs: { 'keys.handover': 'own-handover-key', 'keys.bot': 'own-bot-key' } }
const FOREIGN = [
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
]

const corsOf = ({ headers }: { readonly headers: Headers }) =>
  [...headers.keys()].filter(name => name.startsWith('access-control')).sort()

async function preflight({ send }: SimulatorSetup, origin: string) {
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  return send('/api/v2/handover/start', { method: 'OPTIONS', headers })
}

async function statusForEvil({ sim, send }: SimulatorSetup): Promise<number> {
  const headers = { origin: 'https://evil.example', authorization: `Bearer ${sim.botApiKey}` }
  return (await send(`/api/v1/chats/${(await sim.chat()).id}`, { headers })).status
}

it.each([
  'http://localhost:3000',
  'https://localhost',
  'http://127.0.0.1:5173',
  'http://127.8.9.10',
  'http://[::1]:8080',
  'http://desk.localhost:8080',
])('E9.1 a page of %s reads a transcript', async origin => {
  const harness = await setUpChat()
  const { chat } = harness
  const { status, headers } = await harness.api.chat(chat.id, { headers: { origin } })
  expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([200, origin, 'Origin'])
  expect(headers.get('access-control-expose-headers')).toContain('x-handover-sim-unspecified')
  expect((await preflight(harness, origin)).headers.get('access-control-allow-origin')).toBe(origin)
})

it('E9.1 a client without Origin gets no CORS header, and caches know that the answer depends on it', async () => {
  const { sim, api } = await setUp()
  const answer = await api.chat((await sim.chat()).id)
  expect([answer.status, corsOf(answer), answer.headers.get('vary')]).toEqual([200, [], 'Origin'])
  expect(answer.headers.get('x-handover-sim-unspecified')).not.toContain('api.cors')
})

it.each(FOREIGN)('a page of %j cannot use the published default keys', async origin => {
  const harness = await setUp()
  const { sim, api, send } = harness
  const chat = await sim.chat()
  sim.faults.add({ on: { api: 'start' }, respond: { status: 503 }, times: 1 })
  const before = stateOf(harness, chat)
  for (const id of HANDOVER_IDS) {
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, message: 'x', availability: 'CLOSED' })
    const answer = await send(`/api/v2/handover/${id}`, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${sim.apiKey}`, 'content-type': 'text/plain' },
      body,
    })
    expect([answer.status, answer.headers.get('x-handover-sim-internal-error'), corsOf(answer)]).toEqual([403, '1', []])
    const { handover_sim, ...rest } = (await answer.json()) as Record<string, Record<string, string>>
    expect([handover_sim!.code, rest]).toEqual(['foreign_origin', {}])
    expect(handover_sim!.hint).toMatch(/keys\.handover.*api\.cors/)
  }
  const read = await send(`/api/v1/chats/${chat.id}`, {
    headers: { origin, authorization: `Bearer ${sim.botApiKey}` },
  })
  expect([read.status, corsOf(read)]).toEqual([403, []])
  const asked = await preflight(harness, origin)
  expect([asked.status, corsOf(asked)]).toEqual([403, []])
  expect(stateOf(harness, chat)).toEqual(before)
  expect(sim.journal.query({ kind: 'api' }).map(({ status }) => status)).toEqual(
    [...HANDOVER_IDS, 'chat'].map(() => 403),
  )
  expect((await api.start({ chat_id: chat.id })).status).toBe(503)
})

it('a browser that hides the origin of a page of another site sends nothing either, but shows its files', async () => {
  const { sim, send } = await setUp()
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'sec-fetch-site': 'cross-site' }
  const post = await send('/api/v2/handover/availability', { method: 'POST', headers, body: '{}' })
  expect([post.status, await post.text()]).toEqual([403, expect.stringContaining('another site')])
  const chat = await sim.chat()
  await chat.says('', { attach: [{ name: 'a.png', type: 'image/png', size_kb: 1 }] })
  const [link] = chat.transcript.flatMap(({ attachments }) => attachments ?? [])
  const image = await send(link!.url.slice(sim.baseUrl.length), { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(image.status).toBe(200)
})

it('with keys of your own, calls of other pages are answered, and browsers do not let them read the answer', async () => {
  const harness = await setUpChat(OWN_KEYS)
  const { chat } = harness
  const answer = await harness.api.chat(chat.id, { headers: { origin: 'https://evil.example' } })
  expect([answer.status, corsOf(answer)]).toEqual([200, []])
  const asked = await preflight(harness, 'https://evil.example')
  expect([asked.status, corsOf(asked)]).toEqual([204, []])
})

it.each(['keys.handover', 'keys.bot'])(
  'one default key in force is enough to refuse: only %s is replaced',
  async own => {
    const harness = await setUp(inProcess, { knobs: { [own]: 'own-key' } })
    expect(await statusForEvil(harness)).toBe(403)
  },
)

it('a default key that was replaced and still works for a while keeps other pages out until it ends', async () => {
  const harness = await setUp(inProcess, { knobs: { 'keys.graceful': '1h' } })
  await harness.sim.configure(OWN_KEYS.knobs)
  expect(await statusForEvil(harness)).toBe(403)
  await harness.sim.clock.advance('1h')
  expect(await statusForEvil(harness)).toBe(200)
})
