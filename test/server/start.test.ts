import { describe, expect, test } from 'vitest'
import { isLoopback, urlOf } from '../../src/base/text/hosts.ts'
import { ListenError, PortInUseError, startSimulator } from '../../src/index.ts'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { findPortHolder } from '../../src/server/listen.ts'
import { startTestServer } from '../support/test-server.ts'

test('reports the actual port, with which links begin, and is a simulator with live getters', async () => {
  const { server } = await startTestServer()
  expect(server.port).toBeGreaterThan(0)
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  expect([server.baseUrl, server.clock.mode]).toEqual([server.url, 'real'])
  await server.configure({ 'keys.handover': 'another-key' })
  expect(server.apiKey).toBe('another-key')
  const ada = await server.chat()
  await ada.press('handover')
  const [event] = server.journal.query({ kind: 'event' })
  expect(event).toMatchObject({ payload: { chat: { _links: { self: `${server.url}/api/v1/chats/${ada.id}` } } } })
})

test('accepts requests with and without the path of the base URL, as in the process', async () => {
  const { server } = await startTestServer({ baseUrl: 'https://proxy.example.test/bot/', clock: 'virtual' })
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  const path = `/api/v1/chats/${(await server.chat()).id}`
  const headers = { authorization: `Bearer ${server.botApiKey}` }
  const urls = [`${server.url}/bot${path}`, `${server.url}${path}`]
  const answers = await Promise.all(urls.map(async url => (await fetch(url, { headers })).json()))
  const inProcess = await (await server.fetch(`${server.url}${path}`, { headers })).json()
  expect(answers).toEqual([inProcess, inProcess])
  expect((await fetch(`${server.url}/bot/_sim/readyz`)).status).toBe(200)
})

test('the front page names the addresses of both APIs; other paths belong to the platform', async () => {
  const { server } = await startTestServer()
  const answer = await fetch(server.url)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const text = await answer.text()
  for (const part of ['handover-sim', `${server.url}/_sim`, '/api/v2/handover/']) expect(text).toContain(part)
  expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(`${server.url}/favicon.ico`)).status).toBe(204)
  expect(server.journal.query()).toEqual([])
  const other = await fetch(`${server.url}/_simulator`)
  expect([other.status, await other.json()]).toMatchObject([404, { error: { code: 'path_not_found', field: null } }])
})

describe('a port that cannot be opened', () => {
  test('is named in the error, with the process that holds it if known', async () => {
    const { port, close } = (await startTestServer()).server
    const refused = await startSimulator({ port }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(PortInUseError)
    const message = expect.stringMatching(/^Failed to listen on 127\.0\.0\.1:\d+: the port is in use/)
    expect(refused).toMatchObject({ name: 'PortInUseError', port, host: '127.0.0.1', message })
    const name = expect.stringMatching(/^node/)
    if (process.platform === 'linux') expect(await findPortHolder(port)).toEqual({ pid: process.pid, name })
    await close()
    expect(await findPortHolder(port)).toBeNull()
  })

  test('of an address that this machine does not have rejects with ListenError', async () => {
    const refused = startSimulator({ port: 0, host: '192.0.2.1' })
    await expect(refused).rejects.toThrow(ListenError)
    await expect(refused).rejects.toThrow('this machine has no such address')
  })

  test.each([-1, 65_536, 1.5, Number.NaN])('%s is no port', async port => {
    await expect(startSimulator({ port })).rejects.toThrow(InvalidOptionError)
  })
})

test('a URL is one that a client can use, and loopback is told from other addresses', () => {
  const loopback = ['127.0.0.1', 'localhost', '::1', '127.1.2.3', '0.0.0.0', '127.0.0.1.evil.example', '10.0.0.1']
  expect(loopback.filter(isLoopback)).toEqual(loopback.slice(0, 4))
  expect(urlOf('::1', 80)).toBe('http://[::1]:80')
  expect(urlOf('0.0.0.0', 80)).toBe('http://127.0.0.1:80')
  expect(urlOf('sim.internal', 80)).toBe('http://sim.internal:80')
})

describe('close', () => {
  test('frees the port while idle, streaming and waiting clients are connected', async () => {
    const { server } = await startTestServer()
    await fetch(`${server.url}/api/v1/chats/none`)
    const events = await fetch(`${server.url}/_sim/events`)
    const waiting = fetch(`${server.url}/_sim/wait?call=start&timeout=10m`)
    await fetch(`${server.url}/_sim/readyz`)
    await Promise.all([server.close(), server.close()])
    expect((await waiting).status).toBe(503)
    await events.text()
    await expect(fetch(server.url)).rejects.toThrow()
    await using again = await startSimulator({ port: server.port })
    expect(again.port).toBe(server.port)
  })

  test('does not wait for a client that never finishes its upload', async () => {
    const { server, control } = await startTestServer()
    const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new TextEncoder().encode('{'))
    const init = { method: 'POST', body: new ReadableStream({ start }), duplex: 'half' } as RequestInit
    const broken = fetch(`${server.url}/api/v2/handover/start`, init).catch(() => 'broken')
    await control('GET', '/livez')
    await server.close()
    expect(await broken).toBe('broken')
  })
})
