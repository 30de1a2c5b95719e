import { expect, it } from 'vitest'
import { pathFor } from '../support/api.ts'
import { CONFIRMATIONS, HANDOVER_IDS, HISTORY, validBody } from '../support/raw-requests.ts'
import { setUpChat } from '../support/test-simulator.ts'

const MARKER = 'x-handover-sim-unspecified'
const swapSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`)
const assumesSlash = ({ headers }: { headers: Headers }) =>
  (headers.get(MARKER) ?? '').split(', ').includes('api.trailingSlash')

it.each(HANDOVER_IDS)('V1 V2 V3 W5 W7 E0.4 E6.1 %s confirms under both names', async id => {
  const answers = []
  for (const alias of ['handover', 'takeover'] as const) {
    const { sim, api, chat } = await setUpChat({ chat: { history: HISTORY } })
    const sent = validBody(id, sim.botId, chat.id)
    const { status, body, headers } = await api.call(id, sent, { path: pathFor(id, alias) })
    expect([status, (body as { event?: string }).event, assumesSlash({ headers })]).toEqual([
      200,
      CONFIRMATIONS[id],
      false,
    ])
    expect(sim.journal.query({ kind: 'api' })).toMatchObject([{ endpoint: id, alias }])
    answers.push({ body, view: chat.view() })
    const other = await api.call(id, sent, { path: swapSlash(pathFor(id, alias)) })
    expect([other.status, assumesSlash(other)]).toEqual([200, true])
  }
  expect(answers[1]).toEqual(answers[0])
})

it('E9.1 the chat transcript answers with a trailing slash too, and marks it', async () => {
  const { api, chat } = await setUpChat()
  const path = `/api/v1/chats/${chat.id}`
  const [plain, slashed] = [await api.chat(chat.id, { path }), await api.chat(chat.id, { path: `${path}/` })]
  expect([slashed.status, slashed.body]).toEqual([200, plain.body])
  expect([assumesSlash(plain), assumesSlash(slashed)]).toEqual([false, true])
})

it.each(HANDOVER_IDS)('E6.1 %s with another slash: api.trailingSlash=strict, redirect', async id => {
  const { sim, api, chat } = await setUpChat({ knobs: { 'api.trailingSlash': 'strict' }, chat: { history: HISTORY } })
  const body = validBody(id, sim.botId, chat.id)
  const path = swapSlash(pathFor(id))
  const strict = await api.call(id, body, { path })
  expect([strict.status, strict.headers.get(MARKER)]).toEqual([404, 'api.trailingSlash, errors.body'])
  await sim.configure({ 'api.trailingSlash': 'redirect' })
  const moved = await api.call(id, body, { path: `${path}?page=2` })
  expect([moved.status, moved.headers.get(MARKER)]).toEqual([308, 'api.trailingSlash'])
  for (const base of ['https://bot.example.test', 'https://proxy.example.test/below/here']) {
    expect(new URL(moved.headers.get('location')!, base + path).href).toBe(`${base}${pathFor(id)}?page=2`)
  }
  expect((await api.call(id, body)).status).toBe(200)
})

it.each([
  ...['/api/v2/handover', '/api/v2/handover/', '/api/v2/handover/start//', '/api/v2//handover/start'],
  ...['/api/v2/Handover/start', '/API/v2/handover/start', '/api/v2/handover/typing-start'],
  ...['/api/v2/handover/start/x', '/api/v2/overtake/start', '/api/v1/chats', '/api/v1/chats/', '/api/v1/chats/a/b'],
  ...['/v2/handover/start', '/files', '/files/', '/files/x/y/z', '/%2e%2e/api'],
])('E0.1 V1 %s is no path: 404', async path => {
  const { api, chat } = await setUpChat()
  const { status, body } = await api.start({ chat_id: chat.id }, { path })
  expect([404, 405]).toContain(status)
  expect(body).not.toHaveProperty('event')
  expect(chat.status).toBe('bot')
})

it.each(['%', '%zz', '%ff', '%00', '..%2f..', 'a%20b', '__proto__', 'constructor', 'x'.repeat(3000)])(
  'E9.1 ER2 the chat id %s is unknown: 404, never a fault',
  async raw => {
    const { api } = await setUpChat()
    const { status, body } = await api.chat('x', { path: `/api/v1/chats/${raw}` })
    expect([status, body.error?.code, body.error?.field]).toEqual([404, 'chat_not_found', 'chatId'])
  },
)
