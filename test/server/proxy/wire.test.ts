/** Checks that no byte changes on its way through a proxy, and what happens when one side fails. */

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../../../src/base/runtime/random.ts'
import { connectRaw } from '../../support/network.ts'
import { bodyOf, call, deadUrl, deliver, PATH, serverWith, startProxy } from './setup.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const BIG = randomBytes(3 * 1_048_576)

/** A server of raw bytes: answers requests whose text matches `until` with `answer`; a function is called for each, and ends the connection. */
async function rawServer(until: RegExp, answer: string | (() => string)) {
  let received = ''
  const server = createSocketServer(socket => {
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (text: string) => {
      received += text
      if (!until.test(received)) return
      if (typeof answer === 'string') socket.write(answer, 'latin1')
      else socket.end(answer(), 'latin1')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received }
}

const portOf = (url: string) => Number(new URL(url).port)

describe('bytes', () => {
  const ANSWER =
    'HTTP/1.1 207 Quite Fine|X-First: 1|content-TYPE: a/b|Set-Cookie: a=1|X-Latin: caf\xe9|Set-Cookie: b=2'.split('|')
  const END = ['', '{ "ok"  : \t true}']
  const LENGTH = 'Content-Length: 17'
  const head = (path: string, host: string) => [
    ...[`POST ${path} HTTP/1.1`, 'X-Zebra: 1', `Host: ${host}`],
    ...['x-ODD-case: Yes', 'X-Twice: a', 'Accept: */*', 'X-Twice: b'],
  ]
  const BODY = '{ "b":1,  "a" : "\\u00e6\\/" }\n'

  it.each([
    ['a call', '/api/v2/handover/start?x=%7E&y=a+b', '/api/v2/handover/start?x=%7E&y=a+b'],
    ['a delivery', `${PATH}?t=1`, '/hook?secret=s&t=1'],
  ])(
    'of %s and its answer stay; only the headers of a connection are removed, and Host is that of the server',
    async (_, path, expected) => {
      const hop = ['Connection: keep-alive, X-Hop', 'X-Hop: 1']
      const other = await rawServer(/\}\n$/, [...ANSWER, ...hop, LENGTH, ...END].join('\r\n'))
      const proxy = await startProxy(other.url, `${other.url}/hook?secret=s`)
      const client = await connectRaw(portOf(proxy.url))
      const own = ['Connection: keep-alive, x-private', 'X-Private: 1', 'Keep-Alive: timeout=9', 'TE: trailers']
      const sent = (path: string, host: string, ...more: string[]) =>
        [...head(path, host), ...more, '', BODY].join('\r\n')
      const length = `Content-Length: ${BODY.length}`
      client.send(sent(path, new URL(proxy.url).host, ...own, 'Expect: 100-continue', length))
      const answer = await client.until(/true\}$/)
      expect(other.received()).toBe(sent(expected, new URL(other.url).host, length, 'Connection: close'))
      const [lines] = /HTTP\/1.1 207[\s\S]*/.exec(answer)!
      const added = [LENGTH, 'Connection: keep-alive', 'Keep-Alive: timeout=75']
      expect(lines.split('\r\n')).toEqual([...ANSWER, ...added, ...END])
      client.destroy()
    },
  )

  it('of a compressed answer stay, and the journal has the text', async () => {
    const compressed = gzipSync('{"event":"TAKEOVER STARTED","chat_id":"c-1","chatmessage_id":"m"}')
    const platform = await serverWith((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressed)
    })
    const proxy = await startProxy(platform.url, await deadUrl())
    const sent = httpRequest(`${proxy.url}/api/v2/handover/start`, { method: 'POST' }).end('{}')
    const [answer] = await once(sent, 'response')
    expect(await bodyOf(answer)).toEqual(compressed)
    expect(await proxy.waitFor('api')).toMatchObject([{ response: { event: 'TAKEOVER STARTED' } }])
  })

  it('of a body above the bound pass whole, and the journal has their number', async () => {
    const platform = await serverWith(async (request, response) => {
      const body = await bodyOf(request)
      response.end(Buffer.concat([body, Buffer.from(sha256(body))]))
    })
    const proxy = await startProxy(platform.url, platform.url)
    const answer = await fetch(`${proxy.url}/api/v2/handover/message/`, { method: 'POST', body: BIG })
    const expected = Buffer.concat([BIG, Buffer.from(sha256(BIG))])
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(expected))
    const [entry] = await proxy.waitFor('api')
    const whole = { bytes: BIG.length, sha256: sha256(BIG) }
    expect(entry?.request).toMatchObject({ body: null, bytes: BIG.length, truncated_from: whole })
    expect(entry?.response_truncated_from).toEqual({ bytes: expected.length, sha256: sha256(expected) })
    await (await deliver(proxy.deliveryUrl, BIG)).arrayBuffer()
    const [delivery] = await proxy.waitFor('delivery')
    expect(delivery?.request).toMatchObject({ body: '', truncated_from: { bytes: BIG.length } })
    expect(delivery?.response).toMatchObject({ truncated: true, truncated_from: { bytes: expected.length } })
  })

  it('pass as they come, in both directions', async () => {
    // Each side sends its next piece when it has read the one before of the other side.
    const platform = await serverWith((request, response) => {
      response.writeHead(200)
      request.on('data', (chunk: Buffer) => void response.write(`<${chunk}>`))
      request.on('end', () => response.end())
    })
    const proxy = await startProxy(platform.url, platform.url)
    const sent = httpRequest(`${proxy.url}/api/v2/handover/message/`, { method: 'POST' })
    sent.write('1')
    const [answer] = await once(sent, 'response')
    let received = ''
    for await (const chunk of answer) {
      received += chunk
      const next = received.match(/<\d>/g)?.length ?? 0
      if (next < 4) sent.write(`${next + 1}`)
      else sent.end()
    }
    expect(received).toBe('<1><2><3><4>')
  })
})

/** An answer of 200 with this head and body; the first line may be another. */
const answerOf = (head: string, body = '{}', line = '200 OK') => `HTTP/1.1 ${line}\r\n${head}\r\n\r\n${body}`
const TWO = 'Content-Length: 2'

/** A proxy before a server that answers as `next.answer` says, and what a request to a path gets: its status, or 0. */
async function startOdd(...flags: string[]) {
  const next = { answer: '' }
  const other = await rawServer(/\}$/, () => next.answer)
  const proxy = await startProxy(other.url, `${other.url}/hook`, ['--api-key', 'the-real-handover-key', ...flags])
  async function ask(path: string, ...headers: string[]) {
    const client = await connectRaw(portOf(proxy.url))
    const host = `Host: ${new URL(proxy.url).host}`
    client.send([`POST ${path} HTTP/1.1`, host, 'Connection: close', ...headers, TWO, '', '{}'].join('\r\n'))
    const [, status = '0'] = /^HTTP\/1.1 (\d+)/.exec(await client.ended()) ?? []
    return Number(status)
  }
  return { next, proxy, ask, received: other.received }
}

describe.each([[[]], [['--rewrite-links']]])('an odd answer, with the flags %j,', flags => {
  it('is one 502 of both sides, recorded as such, and the next exchange works', async () => {
    const { next, proxy, ask } = await startOdd(...flags)
    const odd = [
      ...[answerOf(TWO, '{}', '200 O\x01K'), answerOf(TWO, '{}', '099 Odd'), answerOf(TWO, '{}', '000 Odd')],
      ...[answerOf(TWO, '{}x'), answerOf(TWO, '{}', '204 No Content')],
      ...[answerOf('Upgrade: x\r\nConnection: Upgrade', '', '101 Other'), answerOf('X: 1', '', '101 Other')],
      ...[answerOf('Transfer-Encoding: gzip'), answerOf('Transfer-Encoding: chunked', 'zz')],
    ]
    for (next.answer of odd)
      for (const path of ['/api/v2/handover/start', PATH])
        expect([await ask(path), path, next.answer]).toEqual([502, path, next.answer])
    next.answer = answerOf(TWO)
    expect([await ask('/x'), await ask(PATH)]).toEqual([200, 200])
    expect(await proxy.notes('proxy_call_failed')).toMatchObject(odd.map(() => ({ code: 'not_http' })))
    const deliveries = await proxy.waitFor('delivery', odd.length + 1)
    expect(deliveries.filter(({ failure }) => failure?.code === 'not_http')).toHaveLength(odd.length)
  })

  it('with any bytes changed ends neither the proxy nor a later exchange', async () => {
    const { next, ask } = await startOdd(...flags)
    const random = createRandom(7, `odd answers ${flags}`)
    const hostile = [
      '\r\n',
      '\0',
      '\x01',
      '\xff',
      ' ',
      ':',
      '9',
      '0',
      'Connection: content-length\r\n',
      'HTTP/1.1 200 OK\r\n\r\n',
    ]
    const heads = [TWO, 'Transfer-Encoding: chunked', `X-A: b\r\nConnection: close\r\n${TWO}`]
    for (let round = 0; round < 150; round++) {
      let bytes = answerOf(
        heads[random.below(3)]!,
        ['{}', '2\r\n{}\r\n0\r\n\r\n'][random.below(2)],
        ['200 OK', '204 No'][random.below(2)],
      )
      for (let count = random.below(3); count >= 0; count--) {
        const at = random.below(bytes.length)
        bytes = bytes.slice(0, at) + hostile[random.below(hostile.length)] + bytes.slice(at + random.below(3))
      }
      next.answer = bytes
      await ask(round % 2 === 0 ? '/api/v2/handover/start' : PATH)
    }
    next.answer = answerOf(TWO)
    expect(await ask(PATH)).toBe(200)
  })
})

it('each request has a connection of its own, so a second answer on one is not that of the next request', async () => {
  const other = await serverWith((_, response) => response.end('{}'))
  const proxy = await startProxy(other.url, other.url)
  for (const path of ['/x', '/x', PATH, PATH]) await (await deliver(proxy.url + path, '{}')).text()
  expect(other.sockets).toHaveLength(4)
})

it('Connection cannot name the headers that say where a message ends', async () => {
  const { next, ask, received } = await startOdd()
  next.answer = answerOf(`Connection: content-length, x-private\r\nX-Private: 1\r\n${TWO}`)
  for (const path of ['/x', PATH]) expect(await ask(path, 'Connection: content-length, transfer-encoding')).toBe(200)
  expect(received().match(/content-length: \d/gi)).toEqual([TWO, TWO])
})

it('an error that nothing catches is noted without its message, and the proxy continues', async () => {
  const { next, proxy, ask } = await startOdd()
  proxy.io.throwUncaught(new TypeError('a text of a customer'))
  const message = 'an error that nothing caught (TypeError)'
  expect(await proxy.notes('internal_error')).toMatchObject([{ where: 'call', message }])
  next.answer = answerOf(TWO)
  expect(await ask('/x')).toBe(200)
})

describe('a reset', () => {
  it('of the server is a reset of the client, before and within an answer', async () => {
    const platform = await serverWith((request, response) => {
      if (request.url === '/before') return void request.socket.resetAndDestroy()
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => request.socket.resetAndDestroy())
    })
    const proxy = await startProxy(platform.url, platform.url)
    for (const path of ['/before', '/within']) {
      const code = await new Promise(resolve => {
        const client = connect(portOf(proxy.url), '127.0.0.1')
        client
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
          .on('end', () => resolve('closed'))
          .resume()
        client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      })
      expect(code, path).toBe('ECONNRESET')
    }
    const calls = await proxy.waitFor('api', 2)
    expect(calls).toMatchObject(Array(2).fill({ status: 0, response: null }))
    const failed = calls.map(({ seq }) => ({ cause: seq, code: 'connection_reset' }))
    expect(await proxy.notes('proxy_call_failed')).toMatchObject(failed)
  })

  it('of the client is a reset of the server', async () => {
    const reached = Promise.withResolvers<Socket>()
    const webhook = await serverWith(request => reached.resolve(request.socket))
    const proxy = await startProxy(webhook.url, webhook.url)
    const client = connect(portOf(proxy.url), '127.0.0.1')
    client.on('error', () => {})
    client.write(`POST ${PATH} HTTP/1.1\r\nHost: tunnel.example\r\nContent-Length: 2\r\n\r\n{}`)
    const socket = await reached.promise
    const ended = new Promise(resolve =>
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)).on('close', resolve),
    )
    client.resetAndDestroy()
    expect(await ended).toBe('ECONNRESET')
    const [delivery] = await proxy.waitFor('delivery')
    expect(delivery).toMatchObject({ outcome: 'failed', status: null, failure: { code: 'sender_closed' } })
  })
})

it('a server that is down gives 502 in a form of its own, and the next exchange works again', async () => {
  const dead = await deadUrl()
  const proxy = await startProxy(dead, `${dead}/webhook`)
  const refused = await call(proxy.url, 'start', {})
  expect([refused.status, refused.headers.get('x-handover-sim-internal-error')]).toEqual([502, '1'])
  const { handover_sim } = await refused.json()
  expect(handover_sim).toMatchObject({ code: 'no_platform', hint: expect.stringContaining('--upstream') })
  expect(handover_sim.message).toContain(`nothing listens at ${new URL(dead).host} (ECONNREFUSED)`)
  const event = 'AGENT TYPING STOP'
  const lost = await deliver(proxy.deliveryUrl, JSON.stringify({ event, chat_id: 'c-1' }))
  expect([lost.status, await lost.json()]).toMatchObject([502, { handover_sim: { code: 'no_webhook' } }])
  const delivery = { event, outcome: 'failed', failure: { code: 'connection_refused' } }
  expect(await proxy.waitFor('delivery')).toMatchObject([delivery])
  const failed = { endpoint: 'start', status: 0, auth: 'not_checked', chat_id: 'c-1' }
  expect(await proxy.waitFor('api')).toMatchObject([failed])
  expect(proxy.io.stderr.text).toMatch(/POST start\n +no answer/)
  const server = createServer((_, response) => response.end('{}'))
  onTestFinished(() => void server.close())
  await new Promise<void>(resolve => server.listen(portOf(dead), '127.0.0.1', resolve))
  expect((await call(proxy.url, 'start', {})).status).toBe(200)
})
