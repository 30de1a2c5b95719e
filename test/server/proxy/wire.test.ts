/** Checks that no byte changes on its way through a proxy, and what happens when one side fails. */

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectRaw } from '../../support/network.ts'
import { bodyOf, call, deadUrl, deliver, PATH, serverWith, startProxy } from './setup.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const BIG = randomBytes(3 * 1_048_576)

/** A server of raw bytes: answers the first request whose text matches `until` with `answer`. */
async function rawServer(until: RegExp, answer: string) {
  let received = ''
  const server = createSocketServer(socket => {
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (text: string) => {
      received += text
      if (until.test(received)) socket.write(answer, 'latin1')
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
      expect(other.received()).toBe(sent(expected, new URL(other.url).host, length, 'Connection: keep-alive'))
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
