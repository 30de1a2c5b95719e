/** Which values of Host, Origin and token open the control API, the page, and API keys that others know. */
import { describe, expect, test } from 'vitest'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { sendRaw } from '../attack/attacked-server.ts'
import { startTestServer } from '../support/test-server.ts'

type Headers = Readonly<Record<string, string>>
const EVIL = 'https://evil.example'

const start = async (options: PlatformServerOptions = {}) => (await startTestServer(options)).server

/** Sends headers that `fetch` would change. */
const send = ({ port }: PlatformServer, path: string, headers: Headers, method = 'GET') =>
  sendRaw(port, { method, path, headers: { host: 'localhost', ...headers }, body: new Uint8Array() })

describe('the control API', () => {
  test.each<[Headers, string | undefined]>([
    [{ host: '127.0.0.1:4747' }, undefined],
    [{ host: 'LOCALHOST:4747' }, undefined],
    [{ host: '[::1]:4747' }, undefined],
    [{ host: 'evil.example:4747' }, 'foreign_host'],
    [{ host: '127.0.0.1.evil.example' }, 'foreign_host'],
    [{ host: 'localhost:4747', origin: 'http://localhost:4747', 'sec-fetch-site': 'same-origin' }, undefined],
    [{ host: 'localhost:4747', origin: 'http://localhost:4747' }, undefined],
    [{ host: 'localhost:4747', origin: 'http://localhost:3000' }, 'foreign_origin'],
    [{ origin: EVIL }, 'foreign_origin'],
    [{ origin: '' }, 'foreign_origin'],
    [{ origin: 'null', 'sec-fetch-site': 'none' }, 'foreign_origin'],
    [{ 'sec-fetch-site': 'cross-site' }, 'foreign_origin'],
    [{ 'sec-fetch-site': 'same-origin' }, undefined],
    [{ 'sec-fetch-site': 'none' }, undefined],
  ])('with %j: %s', async (headers, code) => {
    const { status, body, headers: answered } = await send(await start(), '/_sim/state', headers)
    expect([status, JSON.parse(body).error?.code]).toEqual([code === undefined ? 200 : 403, code])
    expect(answered).not.toHaveProperty('access-control-allow-origin')
  })

  test.each<[Headers]>([
    [{ host: 'work-4747.app.github.dev' }],
    [{ host: 'work-4747.app.github.dev:443', origin: 'https://work-4747.app.github.dev' }],
    [{ origin: 'https://work-4747.app.github.dev' }],
  ])('says how to use it through a forwarded port, with %j', async headers => {
    const wayOut = 'start with --base-url https://work-4747.app.github.dev --token TOKEN.'
    expect(JSON.parse((await send(await start(), '/_sim/state', headers)).body).error.message).toContain(wayOut)
    const [baseUrl, controlToken] = ['https://work-4747.app.github.dev', 'open-sesame']
    const open = { ...headers, authorization: 'Bearer open-sesame' }
    expect((await send(await start({ baseUrl, controlToken }), '/_sim/state', open)).status).toBe(200)
  })

  test.each<[PlatformServerOptions, string]>([
    [{}, 'localhost'],
    [{ host: '0.0.0.0' }, 'sim:4747'],
  ])('needs a token that is configured, with %j', async (options, host) => {
    const server = await start({ ...options, controlToken: 'open-sesame' })
    const status = async (path: string, headers: Headers) => (await send(server, path, { host, ...headers })).status
    const right = { 'x-handover-sim-token': 'open-sesame' }
    for (const headers of [right, { authorization: 'bearer open-sesame' }])
      expect([headers, await status('/_sim/state', headers)]).toEqual([headers, 200])
    const wrong = [{ authorization: 'Bearer wrong' }, { authorization: 'open-sesame' }, { 'x-handover-sim-token': '' }]
    for (const headers of [{}, ...wrong]) expect([headers, await status('/_sim/keys', headers)]).toEqual([headers, 401])
    expect(await status('/_sim/keys', { ...right, origin: EVIL, 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect([await status('/_sim/readyz', {}), await status('/_sim/nothing', {})]).toEqual([200, 401])
  })

  test('needs a generated token where the server listens on more than loopback', async () => {
    const [server, other, local] = [await start({ host: '0.0.0.0' }), await start({ host: '0.0.0.0' }), await start()]
    expect(server.controlToken).toMatch(/^[\w-]{32}$/)
    expect(server.controlToken).not.toBe(other.controlToken)
    expect(local.controlToken).toBeNull()
    const authorization = `Bearer ${server.controlToken}`
    const statuses = [send(server, '/_sim/state', {}), send(server, '/_sim/state', { authorization })]
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 200])
  })
})

describe('the page', () => {
  const HTML = { accept: 'text/html' }

  test('has the token in the fragment of its address', async () => {
    const server = await start({ controlToken: 'a&b=c#d' })
    expect(server.inspectorUrl).toBe(`${server.url}/#token=a%26b%3Dc%23d`)
  })

  test('is not for a foreign host name, nor are its files', async () => {
    const server = await start()
    const file = /\/_sim\/page\/[^"]+/.exec((await send(server, '/', HTML)).body)![0]
    const status = async (path: string, host: string) => (await send(server, path, { ...HTML, host })).status
    for (const path of ['/', file]) {
      expect(await status(path, 'localhost:80')).toBe(200)
      expect(await status(path, `evil.example:${server.port}`)).toBe(403)
    }
    expect((await send(await start({ host: '0.0.0.0' }), '/', { ...HTML, host: 'sim.test' })).status).toBe(200)
  })

  test('and the control API work with a token behind a proxy with a prefix', async () => {
    const server = await start({ baseUrl: 'https://x.example/sim', controlToken: 'mine' })
    const through = { ...HTML, host: 'x.example' }
    expect(await send(server, '/sim', through)).toMatchObject({ status: 308, headers: { location: '/sim/' } })
    const { status, body } = await send(server, '/sim/', through)
    expect(status).toBe(200)
    const file = /\/_sim\/page\/[^"]+/.exec(body)![0]
    expect((await send(server, `/sim${file}`, through)).status).toBe(200)
    const own = { 'x-handover-sim-token': 'mine', origin: 'https://x.example', 'sec-fetch-site': 'same-origin' }
    const reset = async (path: string, headers: Headers) => (await send(server, path, headers, 'POST')).status
    expect(await reset('/sim/_sim/reset', { ...own, host: 'x.example' })).toBe(200)
    expect(await reset('/_sim/reset', own)).toBe(200)
    expect(await reset('/_sim/reset', { ...own, origin: EVIL })).toBe(403)
    expect(await reset('/_sim/reset', { ...own, host: 'evil.example' })).toBe(403)
  })

  test.each(['/sim/', '/_sim/keys'])('without a token, the host of the base URL does not open %s', async path => {
    const server = await start({ baseUrl: 'https://x.example/sim' })
    const { status, body } = await send(server, path, { ...HTML, host: 'x.example' })
    expect([status, body]).toEqual([
      403,
      expect.stringMatching(/x\.example.*start with --base-url https:\/\/x\.example --token TOKEN/s),
    ])
  })
})

describe('API keys that others know: a page can point a name of its own at this machine', () => {
  const BASE_URL = { baseUrl: 'https://bot.example.test/base' }
  const CORS = { knobs: { 'api.cors': ['http://handover-sim:4747'] } }
  const OWN_KEYS = { knobs: { 'keys.handover': 'own-handover-key', 'keys.bot': 'own-bot-key' } }

  /** Reads a chat of the server or of one of its workspaces. */
  async function read(server: PlatformServer, host: string, sim: Pick<PlatformServer, 'chat' | 'botApiKey'> = server) {
    const headers = { host, authorization: `Bearer ${sim.botApiKey}` }
    return (await send(server, `/api/v1/chats/${(await sim.chat()).id}`, headers)).status
  }

  test.each<[PlatformServerOptions, answered: string, refused: string]>([
    [
      {},
      'localhost LOCALHOST:4747 sim.localhost 127.0.0.1:1 127.3.2.1 [::1]:4747 192.0.2.7:80 [fe80::1]',
      'evil.example handover-sim 127.0.0.1.evil.example evil.example/.localhost localhost@evil.example',
    ],
    [BASE_URL, 'bot.example.test BOT.example.test:4747 localhost', 'evil.example x.bot.example.test'],
    [
      { host: '0.0.0.0' },
      'handover-sim:4747 host.docker.internal host.docker.internal:4747 sim_1 10.0.0.3',
      'evil.example:4747 internal.evil.example xinternal. localhost.evil.example',
    ],
    [CORS, 'handover-sim handover-sim:8080 HANDOVER-SIM', 'evil.example handover-sim.evil.example'],
    [{ knobs: { 'api.cors': '*' } }, 'evil.example handover-sim', ''],
    [OWN_KEYS, 'evil.example handover-sim', ''],
  ])('with %j, %s are answered, and %s refused', async (options, answered, refused) => {
    const server = await start(options)
    for (const host of answered.split(' ')) expect([host, await read(server, host)]).toEqual([host, 200])
    // The server stores the latest accepted host, which must not open others.
    for (const host of refused.split(' ').filter(Boolean))
      expect([host, await read(server, '127.0.0.1'), await read(server, host)]).toEqual([host, 200, 403])
  })

  test('are not checked in the process', async () => {
    const server = await start(BASE_URL)
    const headers = { authorization: `Bearer ${server.botApiKey}` }
    const { status } = await server.fetch(`https://evil.example/api/v1/chats/${(await server.chat()).id}`, { headers })
    expect(status).toBe(200)
  })

  test('the refusal of a container says which settings let it in', async () => {
    const server = await start()
    const headers = { host: 'handover-sim:4747', authorization: `Bearer ${server.apiKey}` }
    const answer = await send(server, '/api/v2/handover/availability', headers, 'POST')
    expect([answer.status, answer.headers['x-handover-sim-internal-error']]).toEqual([403, '1'])
    const { handover_sim } = JSON.parse(answer.body)
    expect(handover_sim).toMatchObject({ code: 'foreign_host', message: expect.stringContaining('handover-sim:4747') })
    expect(handover_sim.hint).toMatch(/(?=.*keys\.handover)(?=.*keys\.bot).*api\.cors=http:\/\/handover-sim:4747/s)
    expect(server.journal.query({ kind: 'api' })).toMatchObject([
      { endpoint: 'availability', status: 403, auth: 'not_checked', response: { handover_sim } },
    ])
  })

  test('those of a workspace follow from its name, so they are for known callers too, unless they are its own', async () => {
    const server = await start(OWN_KEYS)
    const derived = await server.workspace()
    const own = await server.workspace({ knobs: { 'keys.handover': 'ws-handover-key', 'keys.bot': 'ws-bot-key' } })
    const statuses = [read(server, 'evil.example', derived), read(server, 'localhost', derived)]
    expect(await Promise.all(statuses)).toEqual([403, 200])
    expect(await read(server, 'evil.example', own)).toBe(200)
    expect(await read(server, 'evil.example')).toBe(200)
  })
})
