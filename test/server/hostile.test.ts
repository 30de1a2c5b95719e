/** Clients that send what they should not, or all at once: the server answers as well as it can, and stays. */
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { ApiRequest } from '../../src/platform/api/messages.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import {
  createHttpServer,
  createNodeAdapter,
  createPathRouter,
  HTTP_BOUNDS,
  type Listener,
} from '../../src/server/http.ts'
import { listen } from '../../src/server/listen.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { connectRaw, type RawConnection } from '../support/network.ts'

const LIMIT = 1000
let server: PlatformServer
let line: RawConnection
let chatId: string

beforeEach(async () => {
  server = await startSimulator({ port: 0, knobs: { 'limits.body': LIMIT } })
  chatId = (await server.chat()).id
  line = await connectRaw(server.port)
})
afterEach(async () => {
  line.destroy()
  expect((await fetch(server.url)).status, 'the server is alive').toBe(200)
  await server.close()
})

const body = () => JSON.stringify({ bot_id: server.botId, chat_id: chatId })
const head = (extra: string, path = '/api/v2/handover/start') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.apiKey}\r\nContent-Type: application/json\r\n${extra}\r\n\r\n`
const post = (path?: string, text = body(), more = '') =>
  `${head(`Content-Length: ${Buffer.byteLength(text)}${more}`, path)}${text}`
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const LAST = 'Connection: close\r\n'
const STARTED = /^HTTP\/1\.1 200 [\s\S]*TAKEOVER STARTED/
const calls = () => server.journal.query({ kind: 'api' })

test('a body over the limit is refused by its declared length, before it is sent', async () => {
  line.send(head(`Content-Length: ${LIMIT + 1}`))
  expect(await line.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /)
})

test('a body without a length is refused at the limit, and the connection stays open', async () => {
  const chunk = `${(500).toString(16)}\r\n${'x'.repeat(500)}\r\n`
  line.send(head('Transfer-Encoding: chunked') + chunk.repeat(3))
  expect(await line.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /)
  line.send(`${chunk.repeat(2000)}0\r\n\r\n${post()}`)
  expect(await line.until(/TAKEOVER STARTED/)).toContain('HTTP/1.1 200 ')
  expect(calls()).toMatchObject([{ status: 413, request: { bytes: 0 } }, { status: 200 }])
})

test.each<[string, () => string[]]>([
  ['exactly the maximum size', () => [post(undefined, body().padEnd(LIMIT, ' '))]],
  [
    'chunks of one byte',
    () => [head('Transfer-Encoding: chunked'), ...[...body()].map(char => `1\r\n${char}\r\n`), '0\r\n\r\n'],
  ],
  ['an absolute-form target, which is routed by its path', () => [post('http://sim/api/v2/handover/start')]],
  [
    'a wish for another protocol',
    () => [post(undefined, body(), '\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA')],
  ],
])('a request is read with %s', async (_, parts) => {
  for (const part of parts()) line.send(part)
  expect(await line.until(/TAKEOVER STARTED/)).toMatch(STARTED)
  line.send(`GET http://127.0.0.1/_sim/readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n${LAST}\r\n`)
  expect(await line.ended()).toContain('"status":"ready"')
})

test('an aborted upload is not journaled as a call', async () => {
  line.send(`${head('Content-Length: 100')}{"bot_id":`)
  line.destroy()
  await fetch(`${server.url}/api/v1/chats/none`)
  expect(calls()).toMatchObject([{ path: '/api/v1/chats/none' }])
})

describe('Expect: 100-continue', () => {
  test.each([
    ['the platform', '/api/v2/handover/start', () => body(), /TAKEOVER STARTED/],
    ['the control API, which has a greater limit', '/_sim/chats', () => '{}'.padEnd(LIMIT * 2), /"chat_id"/],
  ] as const)('is answered with 100 Continue by %s', async (_, path, text, answer) => {
    line.send(head(`Content-Length: ${text().length}\r\nExpect: 100-continue`, path))
    expect(await line.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/)
    line.send(text())
    expect(await line.until(answer)).toMatch(/HTTP\/1\.1 20[01] /)
  })

  test('is refused for a body over the limit', async () => {
    line.send(head(`Content-Length: ${LIMIT * 100}\r\nExpect: 100-continue`))
    expect(await line.ended()).toMatch(/^HTTP\/1\.1 413 (?![\s\S]*100 Continue)/)
  })
})

test.each([
  ['no HTTP at all', 'HELLO\r\n\r\n', 400],
  ['a broken header', 'GET / HTTP/1.1\r\nHost sim\r\n\r\n', 400],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['TLS', '\u0016\u0003\u0001\u0000\u00a5', 400],
  ['headers that never end', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}`, 431],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\nHost: localhost\r\n${LAST}\r\n`, 404],
])('%s is %i', async (_, bytes, status) => {
  line.send(Buffer.from(bytes, 'latin1'))
  expect(await line.ended()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})

test('HTTP/2 without asking is refused in words, and journaled once', async () => {
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const second = await connectRaw(server.port)
  for (const connection of [line, second]) {
    connection.send(preface)
    expect(await connection.ended()).toMatch(/^HTTP\/1\.1 505 [\s\S]*Use HTTP\/1\.1\.\n$/)
  }
  expect(server.journal.query({ kind: 'note' }).filter(({ note }) => note === 'http2_refused')).toHaveLength(1)
})

test('what cannot be read leaves the answer before it whole', async () => {
  const { server: http, stop } = createHttpServer(
    (_, response) => {
      response.write('first ')
      setImmediate(() => response.end('second'))
    },
    { mayContinue: () => true },
  )
  const pipelined = await connectRaw(await listen(http, '127.0.0.1', 0))
  pipelined.send(`${get('/')}NONSENSE\r\n\r\n`)
  expect(await pipelined.ended()).not.toMatch(/first [\s\S]*HTTP\/1\.1 400/)
  await stop()
})

describe('slow clients', () => {
  test('a client that leaves an answer unread is cut off; one that waits for an answer is not', async () => {
    let answer = () => {}
    const { server: http, stop } = createHttpServer(
      (request, response) => {
        if (request.url === '/large') response.end(Buffer.alloc(64 * 1_048_576))
        else answer = () => response.end('here')
      },
      { mayContinue: () => true },
      { ...HTTP_BOUNDS, unreadMs: 50 },
    )
    const port = await listen(http, '127.0.0.1', 0)
    const waiting = await connectRaw(port)
    waiting.send(get('/late'))
    const closed = new Promise(resolve => http.once('connection', socket => socket.once('close', resolve)))
    const unread = connect(port, '127.0.0.1').on('error', () => {})
    unread.pause().write(get('/large'))
    await closed
    answer()
    expect(await waiting.until(/here/)).toMatch(/^HTTP\/1\.1 200 /)
    unread.destroy()
    waiting.destroy()
    await stop()
  })

  test('a connection whose headers do not arrive is closed', async () => {
    const bounds = { ...HTTP_BOUNDS, headersMs: 20, requestMs: 20, checkEveryMs: 5 }
    const slow = createHttpServer((_, response) => response.end(), { mayContinue: () => true }, bounds)
    const dripping = await connectRaw(await listen(slow.server, '127.0.0.1', 0))
    dripping.send('GET / HTTP/1.1\r\nHost:')
    expect(await dripping.ended()).toMatch(/^HTTP\/1\.1 408 /)
    await slow.stop()
  })
})

describe('an internal error', () => {
  const broken = () => {
    throw new Error('broken')
  }
  /** Starts a server whose API throws, answers with a header that no answer can have, or with the path. */
  const failing = async () => {
    const api = async ({ target }: ApiRequest) => {
      if (target === '/broken') broken()
      const headers: Record<string, string> = target === '/header' ? { 'x-bad': 'a\r\nb' } : {}
      return { status: 200, headers, body: target }
    }
    const adapter = createNodeAdapter(
      request => (request.target === '/thrown' ? broken() : api(request)),
      () => LIMIT,
      () => {},
    )
    const http = createServer(adapter)
    const port = await listen(http, '127.0.0.1', 0)
    onTestFinished(() => {
      http.closeAllConnections()
      http.close()
    })
    return port
  }

  test.each(['/thrown', '/broken', '/header'])('%s is 500, marked as such', async path => {
    const reply = await fetch(`http://127.0.0.1:${await failing()}${path}`, { method: 'POST', body: 'x' })
    expect([reply.status, reply.headers.get(INTERNAL_HEADER)]).toEqual([500, '1'])
    expect(await reply.json()).toMatchObject({ handover_sim: { internal_error: expect.any(String) } })
  })

  test('leaves other requests of the connection their answers', async () => {
    const pipelined = await connectRaw(await failing())
    pipelined.send(get('/first') + get('/broken') + get('/last', LAST))
    expect(await pipelined.ended()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\/first[\s\S]* 500 [\s\S]* 200 [\s\S]*\/last$/)
  })
})

test('a part whose first load failed is loaded again by the next request', async () => {
  const answering: Listener = (_, response) => response.end()
  const control = vi.fn(async () => answering).mockRejectedValueOnce(new Error('too many open files'))
  const parts = { platform: answering, indexPage: answering, page: null, control, address: { base: server.url } }
  const http = createHttpServer(createPathRouter(parts), { mayContinue: () => true })
  const url = `http://127.0.0.1:${await listen(http.server, '127.0.0.1', 0)}/_sim`
  expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([500, 200])
  await http.stop()
})

test('pipelined requests are answered in their order, each after the effects of those before', async () => {
  // The first request loads the control API.
  await fetch(`${server.url}/_sim/journal`)
  line.send(
    `HEAD /api/v1/chats/${chatId} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.botApiKey}\r\n\r\n`,
  )
  line.send(post() + get('/_sim/journal') + post('/api/v2/takeover/end') + get('/', LAST))
  const [first, started, journal, ended, front] = (await line.ended()).split(/(?=HTTP\/1\.1 )/)
  expect(first, 'HEAD has no body').toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/)
  expect(started).toContain('TAKEOVER STARTED')
  expect(journal).toContain('"endpoint":"start"')
  expect(ended).toContain('TAKEOVER ENDED')
  expect(front).toContain('handover-sim')
})
