/** The contract of every door: what an intermediary may rely on, however it calls the platform. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTERS } from '../support/adapters.ts'
import { pathFor } from '../support/api.ts'
import { AGENT, lastMessage, takenOver } from '../support/chats.ts'
import type { Adapter } from '../support/msw-adapter.ts'
import { CONFIRMATIONS, HANDOVER_IDS, HISTORY, post, stateOf, validBody } from '../support/raw-requests.ts'
import { setUp } from '../support/test-simulator.ts'

const ORIGIN = 'http://localhost:3000'
const FILE = { name: 'bilde æøå.png', type: 'image/png', bytes: Uint8Array.from({ length: 3000 }, (_, at) => at % 256) }

const setUpDoor = async (door: Adapter, options: Parameters<Adapter['create']>[0] = {}) => {
  const setup = await setUp(door, options)
  return { ...setup, chat: await setup.sim.chat({ history: HISTORY }) }
}

describe.each(ADAPTERS.map(door => [door.name, door] as const))('%s', (_, door) => {
  if (door.open !== undefined) beforeAll(door.open)
  if (door.close !== undefined) afterAll(door.close)

  it.each(HANDOVER_IDS)('accepts %s', async id => {
    const { sim, api, chat } = await setUpDoor(door)
    const { status, body } = await api.call(id, validBody(id, sim.botId, chat.id))
    expect([status, 'event' in body ? body.event : undefined]).toEqual([200, CONFIRMATIONS[id]])
    expect(sim.journal.query({ kind: 'api' })).toMatchObject([{ endpoint: id, status: 200, auth: 'valid' }])
  })

  it('accepts the transcript of a chat, and HEAD without the body', async () => {
    const { sim, api, send, chat } = await setUpDoor(door)
    const { status, body, headers } = await api.chat(chat.id)
    expect([status, body.chat.messages.map(({ message }) => message)]).toEqual([200, HISTORY.map(({ user }) => user)])
    const authorization = `Bearer ${sim.botApiKey}`
    const head = await send(`/api/v1/chats/${chat.id}`, { method: 'HEAD', headers: { authorization } })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('x-handover-sim-unspecified')).toBe(headers.get('x-handover-sim-unspecified'))
  })

  it.each(['/api/v2/takeover/start', '/api/v2/handover/start/', '/api/v2/handover/start?trace=1&x=/y'])(
    'accepts the path %s',
    async path => {
      const { api, chat } = await setUpDoor(door)
      expect((await api.start({ chat_id: chat.id }, { path })).body.event).toBe('TAKEOVER STARTED')
      expect(chat.status).toBe('agent')
    },
  )

  it.each([
    ['a wrong key', 401, 'unauthorized', {}, { key: 'wrong' }],
    ['no key', 401, 'unauthorized', {}, { key: null }],
    ['a key without the scope', 403, 'missing_scope', {}, { key: 'sim-bot-key' }],
    ['a bad parameter', 400, 'invalid_parameter', { sender: 'Kari' }, {}],
    ['an unknown chat', 404, 'chat_not_found', { chat_id: 'nowhere' }, {}],
    ['an unknown path', 404, 'path_not_found', {}, { path: '/api/v2/handover/nowhere?a=b' }],
    ['a large body', 413, 'payload_too_large', { sender: { name: 'x'.repeat(3000) } }, {}],
    ['another content type', 415, 'unsupported_media_type', {}, { headers: { 'content-type': 'text/plain' } }],
  ] as const)('refuses %s with %i, without an effect', async (_, status, code, body, options) => {
    const setup = await setUpDoor(door, { knobs: { 'limits.body': 2000, 'api.contentType': '415' } })
    const before = stateOf(setup, setup.chat)
    const refused = await setup.api.start({ chat_id: setup.chat.id, ...body }, options)
    expect([refused.status, refused.body.error?.code]).toEqual([status, code])
    expect(refused.headers.get('x-handover-sim-unspecified')).toContain('errors.body')
    expect(stateOf(setup, setup.chat)).toEqual(before)
  })

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('refuses %s with 405 and Allow', async method => {
    const { send } = await setUpDoor(door)
    const answer = await send(pathFor('start'), { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  it('refuses a body that is not JSON, and answers the next call', async () => {
    const setup = await setUpDoor(door)
    expect((await post(setup, 'start', Uint8Array.from([0x22, 0xc0, 0x22]))).body.error?.code).toBe('invalid_json')
    expect((await setup.api.start({ chat_id: setup.chat.id })).status).toBe(200)
  })

  it('answers a page of this machine with CORS headers, and its preflight', async () => {
    const { api, send, chat } = await setUpDoor(door)
    const { headers } = await api.chat(chat.id, { headers: { origin: ORIGIN } })
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([ORIGIN, 'Origin'])
    const asked = { origin: ORIGIN, 'access-control-request-method': 'POST' }
    const preflight = await send(pathFor('start'), { method: 'OPTIONS', headers: asked })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN])
    const foreign = await send(`/api/v1/chats/${chat.id}`, { headers: { origin: 'https://evil.example' } })
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  it('serves the bytes of an attachment', async () => {
    const setup = await setUpDoor(door)
    const chat = await takenOver(setup, { supports_attachment: true })
    await chat.says('see', { attach: [FILE] })
    const [file] = setup.hook.payloadsOf('MESSAGE FROM USER')[0]!.attachments!
    const answer = await setup.send(file!.url.slice(setup.sim.baseUrl.length))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(FILE.bytes)
  })

  it('transfers half a megabyte in both directions unchanged', async () => {
    const { api, chat } = await setUpDoor(door)
    const message = 'ø👍'.repeat(90_000)
    expect((await api.message({ chat_id: chat.id, message, sender: AGENT })).status).toBe(200)
    expect(lastMessage(chat).text).toBe(message)
    expect((await api.chat(chat.id)).body.chat.messages.at(-1)?.message).toBe(message)
  })

  it('applies faults to responses: a status, half a body, a slow body', async () => {
    const { sim, send, chat } = await setUpDoor(door)
    const read = () => send(`/api/v1/chats/${chat.id}`, { headers: { authorization: `Bearer ${sim.botApiKey}` } })
    const whole = await (await read()).text()
    sim.faults.add({ on: 'api', respond: { status: 503, headers: { 'retry-after': '1' } }, times: 1 })
    const refused = await read()
    expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([503, '1', ''])
    sim.faults.add({ on: 'api', malformed: true, times: 1 })
    expect(whole.startsWith(await (await read()).text())).toBe(true)
    sim.faults.add({ on: 'api', slow_body: '5ms', times: 1 })
    expect(await (await read()).text()).toBe(whole)
    expect(sim.faults.list().map(({ hits }) => hits)).toEqual([1, 1, 1])
  })

  it.each([
    [{ reset: true }, 'bot'],
    [{ drop: 'before' }, 'bot'],
    [{ drop: 'after' }, 'agent'],
  ] as const)('rejects a lost response: %j', async (fault, status) => {
    const { sim, api, chat } = await setUpDoor(door)
    sim.faults.add({ ...fault, on: { api: 'start' }, times: 1 })
    await expect(api.start({ chat_id: chat.id })).rejects.toThrow()
    expect(chat.status).toBe(status)
    expect((await api.start({ chat_id: chat.id })).status).toBe(200)
  })

  it('rejects a request that its caller aborts, and answers the next one', async () => {
    const started = Promise.withResolvers<void>()
    const summarize = () => {
      started.resolve()
      return new Promise<string>(() => {})
    }
    const { sim, api, send, chat } = await setUpDoor(door, { summarize })
    const controller = new AbortController()
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })
    const answer = send(pathFor('summarize'), { method: 'POST', headers, body, signal: controller.signal })
    await started.promise
    controller.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    expect((await api.chat(chat.id)).status).toBe(200)
  })
})
