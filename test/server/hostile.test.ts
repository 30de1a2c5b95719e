/** Clients that do what they should not: the server answers as well as it can, and stays. */

import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import { createHttpServer, HTTP_BOUNDS, listen } from '../../src/server/http.ts'
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
const calls = () => server.journal.query({ kind: 'api' })

test('HEAD is GET without the body', async () => {
  line.send(
    `HEAD /api/v1/chats/${chatId} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.botApiKey}\r\n\r\n`,
  )
  line.send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const [first, second] = (await line.ended()).split(/(?=HTTP\/1\.1 )/)
  expect(first).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/)
  expect(second).toContain('handover-sim')
})

describe('a body over the limit', () => {
  test('is refused by its declared length, before it is sent', async () => {
    line.send(head(`Content-Length: ${LIMIT + 1}`))
    expect(await line.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is refused at the limit when no length is declared, and the connection stays open', async () => {
    const chunk = `${(500).toString(16)}\r\n${'x'.repeat(500)}\r\n`
    line.send(head('Transfer-Encoding: chunked') + chunk + chunk)
    line.send(chunk)
    expect(await line.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /)
    line.send(`${chunk.repeat(2000)}0\r\n\r\n`)
    line.send(`${head(`Content-Length: ${body().length}`)}${body()}`)
    expect(await line.until(/TAKEOVER STARTED/)).toContain('HTTP/1.1 200 ')
    expect(calls()).toMatchObject([{ status: 413, request: { bytes: 0 } }, { status: 200 }])
  })

  test('is aborted when it never ends', async () => {
    line.send(head('Transfer-Encoding: chunked'))
    const mebibyte = `100000\r\n${'x'.repeat(0x100000)}\r\n`
    for (let i = 0; i < 70; i++) line.send(mebibyte)
    expect(await line.ended()).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is read when it has exactly the maximum size', async () => {
    const padded = body().padEnd(LIMIT, ' ')
    line.send(`${head(`Content-Length: ${LIMIT}`)}${padded}`)
    expect(await line.until(/TAKEOVER STARTED/)).toMatch(/^HTTP\/1\.1 200 /)
  })
})

test('an aborted upload is not journaled as a call', async () => {
  line.send(`${head('Content-Length: 100')}{"bot_id":`)
  line.destroy()
  await fetch(`${server.url}/api/v1/chats/none`)
  expect(calls()).toMatchObject([{ path: '/api/v1/chats/none' }])
})

test('reads a chunked body, however it is divided', async () => {
  line.send(head('Transfer-Encoding: chunked'))
  for (const char of body()) line.send(`1\r\n${char}\r\n`)
  line.send('0\r\n\r\n')
  expect(await line.until(/TAKEOVER STARTED/)).toMatch(/^HTTP\/1\.1 200 /)
})

test('an absolute-form target is routed by its path', async () => {
  line.send(`${head(`Content-Length: ${body().length}`, 'http://sim/api/v2/handover/start')}${body()}`)
  expect(await line.until(/TAKEOVER STARTED/)).toMatch(/^HTTP\/1\.1 200 /)
  line.send('GET http://127.0.0.1/_sim/readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
  expect(await line.ended()).toContain('"status":"ready"')
})

test('pipelined requests are answered in their order', async () => {
  const one = `${head(`Content-Length: ${body().length}`)}${body()}`
  const end = `${head(`Content-Length: ${body().length}`, '/api/v2/takeover/end')}${body()}`
  line.send(`${one}${end}GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  expect(await line.ended()).toMatch(/TAKEOVER STARTED[\s\S]*TAKEOVER ENDED[\s\S]*handover-sim/)
})

test('a pipelined request of the control API sees the call before it', async () => {
  const start = `${head(`Content-Length: ${body().length}`)}${body()}`
  // The first request loads the control API.
  await fetch(`${server.url}/_sim/journal`)
  line.send(`${start}GET /_sim/journal HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  const [, answer] = (await line.ended()).split('TAKEOVER STARTED')
  expect(answer).toContain('"endpoint":"start"')
})

describe('Expect: 100-continue', () => {
  test('is answered with 100 Continue', async () => {
    line.send(head(`Content-Length: ${body().length}\r\nExpect: 100-continue`))
    expect(await line.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/)
    line.send(body())
    expect(await line.until(/TAKEOVER STARTED/)).toContain('HTTP/1.1 200 ')
  })
  test('is refused for a body over the limit', async () => {
    line.send(head(`Content-Length: ${LIMIT * 100}\r\nExpect: 100-continue`))
    const seen = await line.ended()
    expect(seen).toMatch(/^HTTP\/1\.1 413 /)
    expect(seen).not.toContain('100 Continue')
  })
  test('has a greater limit for the control API than for the platform', async () => {
    line.send(
      `POST /_sim/chats HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${LIMIT * 2}\r\nExpect: 100-continue\r\n\r\n`,
    )
    expect(await line.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/)
    line.send('{}'.padEnd(LIMIT * 2))
    expect(await line.until(/chat_id/)).toContain('HTTP/1.1 201 ')
  })
})

test.each([
  ['no HTTP at all', 'HELLO\r\n\r\n'],
  ['a broken header', 'GET / HTTP/1.1\r\nHost sim\r\n\r\n'],
  ['a body with two lengths', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
  [
    'a body with length and chunks',
    'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['no host', 'GET / HTTP/1.1\r\n\r\n'],
  ['TLS', '\u0016\u0003\u0001\u0000\u00a5'],
])('%s is 400', async (_, bytes) => {
  line.send(Buffer.from(bytes, 'latin1'))
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 400 /)
})

test('answers 431 for headers that never end', async () => {
  line.send(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}`)
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 431 /)
})

test('ignores a request for another protocol', async () => {
  const wish = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'
  line.send(head(`${wish}Content-Length: ${body().length}`) + body())
  expect(await line.until(/TAKEOVER STARTED/)).toMatch(/^HTTP\/1\.1 200 /)
})

test('serves other requests after OPTIONS * and CONNECT', async () => {
  line.send('OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(await line.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 404 /)
  line.send('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n')
  await line.ended()
})

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
  waiting.send('GET /late HTTP/1.1\r\nHost: x\r\n\r\n')
  const closed = new Promise(resolve => http.once('connection', socket => socket.once('close', resolve)))
  const unread = connect(port, '127.0.0.1').on('error', () => {})
  unread.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  await closed
  answer()
  expect(await waiting.until(/here/)).toMatch(/^HTTP\/1\.1 200 /)
  unread.destroy()
  waiting.destroy()
  await stop()
})

test('closes a connection whose headers arrive too slowly', async () => {
  const bounds = { ...HTTP_BOUNDS, headersMs: 20, requestMs: 20, checkEveryMs: 5 }
  const slow = createHttpServer((_, response) => response.end(), { mayContinue: () => true }, bounds)
  const port = await listen(slow.server, '127.0.0.1', 0)
  const dripping = await connectRaw(port)
  dripping.send('GET / HTTP/1.1\r\nHost:')
  expect(await dripping.ended()).toMatch(/^HTTP\/1\.1 408 /)
  await slow.stop()
})

describe('an internal error', () => {
  const faulty = async (answer: () => unknown) => {
    const { createServer } = await import('node:http')
    const { createNodeAdapter } = await import('../../src/server/http.ts')
    const http = createServer(
      createNodeAdapter(
        answer as never,
        () => LIMIT,
        () => {},
      ),
    )
    const port = await listen(http, '127.0.0.1', 0)
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })
    http.closeAllConnections()
    http.close()
    return reply
  }
  test.each([
    [
      'thrown',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'an answer that never comes',
      async () => {
        throw new Error('broken')
      },
    ],
    ['a header that cannot be', () => ({ status: 200, headers: { 'x-bad': 'a\r\nb' }, body: '' })],
    ['the same, later', async () => ({ status: 200, headers: { 'x-bad': 'a\r\nb' }, body: '' })],
  ])('%s is 500, marked as such', async (_, answer) => {
    const reply = await faulty(answer)
    expect([reply.status, reply.headers.get(INTERNAL_HEADER)]).toEqual([500, '1'])
    expect(await reply.json()).toMatchObject({ handover_sim: { internal_error: expect.any(String) } })
  })
})
