/** Intercepts clients that open connections by themselves: agents of undici, own connections of `node:http`, HTTP/2. */

import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https, { request as requestHttps } from 'node:https'
import { createRequire } from 'node:module'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import got from 'got'
import * as undici7 from 'undici'
import * as undici6 from 'undici6'
import * as undici8 from 'undici8'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Interception, intercept } from '../../src/testing/interceptors/interceptors.ts'
import { callsOf, startElsewhere } from './elsewhere.ts'

const functions = () => [net.connect, net.Socket.prototype.connect, tls.connect, http.Agent.prototype]
const untouched = functions()
const started: Interception[] = []
afterEach(() => {
  for (const one of started.splice(0)) one.stop()
  expect(functions()).toEqual(untouched)
})

function intercepted(baseUrl: string): PlatformSimulator {
  const sim = createSimulator({ baseUrl })
  started.push(intercept(sim))
  return sim
}

const VERSIONS = ([undici6, undici7, undici8] as unknown as (typeof undici7)[]).map(
  (undici, index) => [index + 6, undici] as const,
)

describe.each(VERSIONS)('undici %i', (_, { Agent, Client, Pool, fetch, request }) => {
  const ways: Record<string, (origin: string, path: string) => Promise<{ statusCode: number } | { status: number }>> = {
    request: (origin, path) => request(origin + path),
    fetch: (origin, path) => fetch(origin + path),
    'an Agent of request': (origin, path) => request(origin + path, { dispatcher: new Agent() }),
    'an Agent of fetch': (origin, path) => fetch(origin + path, { dispatcher: new Agent() }),
    'a Pool': (origin, path) => new Pool(origin).request({ method: 'GET', path }),
    'a Client': (origin, path) => new Client(origin).request({ method: 'GET', path }),
    'an Agent with HTTP/2': (origin, path) => request(origin + path, { dispatcher: new Agent({ allowH2: true }) }),
  }

  it.each(Object.entries(ways))('%s reaches the simulator', async (_, send) => {
    for (const origin of ['https://bot.example.test', 'http://bot.example.test:8080']) {
      const sim = intercepted(origin)
      const answer = await send(origin, '/api/v1/chats/none')
      expect('status' in answer ? answer.status : answer.statusCode).toBe(401)
      expect(callsOf(sim)).toBe(1)
    }
  })

  it('fails as over a network when the response is lost, and when the interception ends', async () => {
    const sim = intercepted('https://bot.example.test')
    const url = `https://bot.example.test/api/v1/chats/${(await sim.chat()).id}`
    const dispatcher = new Agent()
    const read = () => request(url, { headers: { authorization: `Bearer ${sim.botApiKey}` }, dispatcher })
    for (const fault of [{ reset: true }, { drop: 'before' }] as const) {
      sim.faults.add({ ...fault, on: 'api', times: 1 })
      await expect(read()).rejects.toThrow(/ECONNRESET|other side closed|socket hang up/)
    }
    for (const _ of [1, 2]) await (await read()).body.dump()
    for (const one of started.splice(0)) one.stop()
    await expect(read()).rejects.toThrow()
    expect(callsOf(sim)).toBe(4)
  })
})

/** Functions that a CommonJS module took out of `node:https` and `node:tls` when it was loaded. */
const { get: requiredGet } = createRequire(import.meta.url)('node:https') as typeof https
const { connect: requiredConnect } = createRequire(import.meta.url)('node:tls') as typeof tls

const statusOf = (send: (done: (response: http.IncomingMessage) => void) => http.ClientRequest) =>
  new Promise<number | undefined>((resolve, reject) => {
    send(response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })

describe('node:http', () => {
  const url = 'https://bot.example.test/api/v1/chats/none'
  const address = { host: 'bot.example.test', port: 443, servername: 'bot.example.test' }

  it.each([
    ['imported by name', (done: never) => requestHttps(url, done)],
    ['required by name', (done: never) => requiredGet(url, done)],
    ['as a class', (done: never) => new http.ClientRequest(new URL(url.replace('https', 'http')), done)],
    [
      'with a connection of its own',
      (done: never) => https.request(url, { createConnection: () => tls.connect(address) }, done),
    ],
    [
      'with one that escapes',
      (done: never) => https.request(url, { createConnection: () => requiredConnect(address) }, done),
    ],
  ] as const)('reaches the simulator %s', async (_, send) => {
    const sims = [intercepted('https://bot.example.test'), intercepted('http://bot.example.test')]
    expect(await statusOf(send as never)).toBe(401)
    expect(sims.map(callsOf).reduce((a, b) => a + b)).toBe(1)
  })
})

describe('HTTP/2', () => {
  it('got reaches the simulator with http2: true', async () => {
    const sim = intercepted('https://bot.example.test')
    const options = { http2: true, throwHttpErrors: false, retry: { limit: 0 } }
    expect((await got('https://bot.example.test/api/v1/chats/none', options)).statusCode).toBe(401)
    expect(callsOf(sim)).toBe(1)
  })

  it('a session of node:http2 to a simulator fails with what to do', async () => {
    const sim = intercepted('https://bot.example.test')
    const session = http2.connect('https://bot.example.test')
    const failed = new Promise<Error>(resolve => session.on('error', resolve))
    session.request({ ':path': '/' }).on('error', () => {})
    expect((await failed).message).toBe(
      'handover-sim/interceptors does not answer HTTP/2 sessions (bot.example.test:443). Use HTTP/1.1, or startSimulator().',
    )
    expect(callsOf(sim)).toBe(0)
  })

  it('a session of node:http2 to another address works as without an interception', async () => {
    const sim = intercepted('https://bot.example.test')
    const pem = (name: string) => readFileSync(`test/docs/how-to/certificates/${name}.pem`, 'utf8')
    const server = http2.createSecureServer({ key: pem('key'), cert: pem('self-signed') })
    server.on('request', (_, response) => response.end('hei'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    onTestFinished(() => session.destroy())
    const answer = await new Promise<string>((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request({ ':path': '/' })
      text(stream).then(resolve, reject)
      stream.end()
    })
    expect(answer).toBe('hei')
    expect(callsOf(sim)).toBe(0)
  })
})

describe('a kept connection', () => {
  it('serves all simulators of an origin, and passes other paths on', async () => {
    const base = await startElsewhere((request, response) => {
      response.setHeader('x-own', '1')
      request.pipe(response)
    })
    const sims = [intercepted(`${base}/a`), intercepted(`${base}/b`)]
    const dispatcher = new undici7.Agent({ connections: 1 })
    onTestFinished(() => dispatcher.close())
    const ask = async (path: string) => {
      const answer = await undici7.request(base + path, { method: 'POST', body: 'hei', dispatcher })
      return [answer.statusCode, answer.headers['x-own'] && (await answer.body.text())]
    }
    const answers = []
    for (const path of ['/a/x', '/b/x', '/c/x']) answers.push(await ask(path))
    expect(answers).toEqual([
      [404, undefined],
      [404, undefined],
      [200, 'hei'],
    ])
    expect(sims.map(callsOf)).toEqual([1, 1])
  })

  it('reports the failure of a path that it passes on', async () => {
    intercepted('https://bot.example.test/a')
    const dispatcher = new undici7.Agent()
    await expect(undici7.request('https://bot.example.test/b', { dispatcher })).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/)
  })
})
