/** Intercepts clients that open connections by themselves: agents of undici, own connections of `node:http`, HTTP/2. */

import { once } from 'node:events'
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
import { type Interception, intercept } from '../../src/testing/interceptors/interceptors.ts'
import { callsOf, startElsewhere } from './elsewhere.ts'

const functions = () => [net.connect, net.Socket.prototype.connect, tls.connect, http.Agent.prototype]
const untouched = functions()
const started: Interception[] = []
const stopAll = () => {
  for (const one of started.splice(0)) one.stop()
  expect(functions()).toEqual(untouched)
}
afterEach(stopAll)

function intercepted(baseUrl = 'https://bot.example.test') {
  const sim = createSimulator({ baseUrl })
  started.push(intercept(sim))
  return sim
}

describe.each([
  [6, undici6 as unknown as typeof undici7],
  [7, undici7],
  [8, undici8 as unknown as typeof undici7],
])('undici %i', (_, { Agent, Client, Pool, fetch, request }) => {
  type Answered = { readonly statusCode: number } | { readonly status: number }
  it.each<[string, (origin: string, path: string) => Promise<Answered>]>([
    ['request', (origin, path) => request(origin + path)],
    ['fetch', (origin, path) => fetch(origin + path)],
    ['an Agent of request', (origin, path) => request(origin + path, { dispatcher: new Agent() })],
    ['an Agent of fetch', (origin, path) => fetch(origin + path, { dispatcher: new Agent() })],
    ['a Pool', (origin, path) => new Pool(origin).request({ method: 'GET', path })],
    ['a Client', (origin, path) => new Client(origin).request({ method: 'GET', path })],
    ['HTTP/2', (origin, path) => request(origin + path, { dispatcher: new Agent({ allowH2: true }) })],
  ])('%s reaches the simulator', async (_, send) => {
    for (const origin of ['https://bot.example.test', 'http://bot.example.test:8080']) {
      const sim = intercepted(origin)
      const answer = await send(origin, '/api/v1/chats/none')
      expect('status' in answer ? answer.status : answer.statusCode).toBe(401)
      expect(callsOf(sim)).toBe(1)
    }
  })

  it('fails as over a network when the response is lost, and when the interception ends', async () => {
    const sim = intercepted()
    const url = `https://bot.example.test/api/v1/chats/${(await sim.chat()).id}`
    const dispatcher = new Agent()
    const read = () => request(url, { headers: { authorization: `Bearer ${sim.botApiKey}` }, dispatcher })
    for (const fault of [{ reset: true }, { drop: 'before' }] as const) {
      sim.faults.add({ ...fault, on: 'api', times: 1 })
      await expect(read()).rejects.toThrow(/ECONNRESET|other side closed|socket hang up/)
    }
    for (const _ of [1, 2]) await (await read()).body.dump()
    stopAll()
    await expect(read()).rejects.toThrow()
    expect(callsOf(sim)).toBe(4)
  })
})

/** Functions that a CommonJS module took out of `node:https` and `node:tls` when it was loaded. */
const { get: requiredGet } = createRequire(import.meta.url)('node:https') as typeof https
const { connect: requiredConnect } = createRequire(import.meta.url)('node:tls') as typeof tls

describe('node:http', () => {
  const url = 'https://bot.example.test/api/v1/chats/none'
  const address = { host: 'bot.example.test', port: 443, servername: 'bot.example.test' }
  const own = { createConnection: () => tls.connect(address) }
  const escaped = { createConnection: () => requiredConnect(address) }

  it.each([
    ['imported by name', () => requestHttps(url)],
    ['required by name', () => requiredGet(url)],
    ['as a class', () => new http.ClientRequest(new URL(url.replace('https', 'http')))],
    ['with a connection of its own', () => https.request(url, own)],
    ['with one that escapes', () => https.request(url, escaped)],
  ])('reaches the simulator %s', async (_, send) => {
    const sims = [intercepted(), intercepted('http://bot.example.test')]
    const [response] = await once(send().end(), 'response')
    expect(response.resume().statusCode).toBe(401)
    expect(sims.map(callsOf).reduce((a, b) => a + b)).toBe(1)
  })
})

describe('HTTP/2', () => {
  it('got reaches the simulator with http2: true', async () => {
    const sim = intercepted()
    const options = { http2: true, throwHttpErrors: false, retry: { limit: 0 } }
    expect((await got('https://bot.example.test/api/v1/chats/none', options)).statusCode).toBe(401)
    expect(callsOf(sim)).toBe(1)
  })

  it('a session of node:http2 to a simulator fails with what to do', async () => {
    const sim = intercepted()
    const session = http2.connect('https://bot.example.test')
    session.request({ ':path': '/' }).on('error', () => {})
    const [{ message }] = await once(session, 'error')
    expect(message).toMatch(/does not answer HTTP\/2 sessions \(bot\.example\.test:443\)\. Use HTTP\/1\.1, or/)
    expect(callsOf(sim)).toBe(0)
  })

  it('a session of node:http2 to another address works as without an interception', async () => {
    intercepted()
    const pem = (name: string) => readFileSync(`test/docs/how-to/certificates/${name}.pem`, 'utf8')
    const server = http2.createSecureServer({ key: pem('key'), cert: pem('self-signed') })
    server.on('request', (_, response) => response.end('hei'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    onTestFinished(() => session.destroy())
    expect(await text(session.request({ ':path': '/' }).end())).toBe('hei')
  })
})

describe('a kept connection', () => {
  it('serves all simulators of an origin, and passes other paths on', async () => {
    const base = await startElsewhere()
    const sims = [intercepted(`${base}/a`), intercepted(`${base}/b`)]
    const dispatcher = new undici7.Agent({ connections: 1 })
    onTestFinished(() => dispatcher.close())
    const texts: string[] = []
    for (const path of ['/a/x', '/b/x', '/c/x']) {
      const { body } = await undici7.request(base + path, { method: 'POST', body: 'hei', dispatcher })
      texts.push(await body.text())
    }
    expect(texts).toEqual([expect.stringContaining('"error"'), expect.stringContaining('"error"'), 'POST /c/x'])
    expect(sims.map(callsOf)).toEqual([1, 1])
  })

  it('reports the failure of a path that it passes on', async () => {
    intercepted('https://bot.example.test/a')
    const dispatcher = new undici7.Agent()
    await expect(undici7.request('https://bot.example.test/b', { dispatcher })).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/)
  })
})
