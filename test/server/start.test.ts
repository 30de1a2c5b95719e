import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ListenError, PortInUseError, startSimulator } from '../../src/index.ts'
import { InvalidOptionError } from '../../src/platform/simulator/options.ts'
import { coreOf } from '../../src/platform/simulator/simulator.ts'
import { allowedHosts, isLoopback, urlOf } from '../../src/server/control/addresses.ts'
import { findPortHolder, listeningSockets } from '../../src/server/http.ts'
import { freePort } from '../support/port.ts'

test('reports the actual port, and is a simulator with live getters', async () => {
  await using server = await startSimulator({ port: 0 })
  expect(server.port).toBeGreaterThan(0)
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  expect(server.clock.mode).toBe('real')
  await server.configure({ 'keys.handover': 'another-key' })
  expect(server.apiKey).toBe('another-key')
  expect(coreOf(server).journal).toBe(server.journal)
})

test('links begin with the actual address unless a base URL is set', async () => {
  await using server = await startSimulator({ port: 0 })
  expect(server.baseUrl).toBe(server.url)
  const ada = await server.chat()
  await ada.press('handover')
  const [event] = server.journal.query({ kind: 'event' })
  expect(event).toMatchObject({ payload: { chat: { _links: { self: `${server.url}/api/v1/chats/${ada.id}` } } } })

  await using elsewhere = await startSimulator({ port: 0, baseUrl: 'https://bot.example.test' })
  expect(elsewhere.baseUrl).toBe('https://bot.example.test')
  expect(elsewhere.url).toBe(`http://127.0.0.1:${elsewhere.port}`)
})

test('accepts requests with and without the path of the base URL', async () => {
  await using server = await startSimulator({ port: 0, baseUrl: 'https://proxy.example.test/bot/' })
  const ada = await server.chat()
  const headers = { authorization: `Bearer ${server.botApiKey}` }
  for (const path of [`/bot/api/v1/chats/${ada.id}`, `/api/v1/chats/${ada.id}`, '/bot/_sim/readyz']) {
    expect((await fetch(server.url + path, { headers })).status, path).toBe(200)
  }
})

test('the platform over HTTP and the library give the same answer', async () => {
  await using server = await startSimulator({ port: 0, clock: 'virtual' })
  const ada = await server.chat()
  const init = { headers: { authorization: `Bearer ${server.botApiKey}` } }
  const url = `${server.url}/api/v1/chats/${ada.id}`
  const [overHttp, inProcess] = await Promise.all([fetch(url, init), server.fetch(new Request(url, init))])
  expect(await overHttp.json()).toEqual(await inProcess.json())
})

describe('the front page', () => {
  test('names the program and the addresses of both APIs', async () => {
    await using server = await startSimulator({ port: 0 })
    const answer = await fetch(server.url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const text = await answer.text()
    for (const part of ['handover-sim', `${server.url}/_sim`, '/api/v2/handover/']) expect(text).toContain(part)
    expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405)
    expect((await fetch(`${server.url}/favicon.ico`)).status).toBe(204)
    expect(server.journal.query()).toEqual([])
  })

  test('a path that only begins like /_sim belongs to the platform', async () => {
    await using server = await startSimulator({ port: 0 })
    const answer = await fetch(`${server.url}/_simulator`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'path_not_found', field: null } })
  })
})

describe('a port that cannot be opened', () => {
  test('is named in the error, with the process that holds it if known', async () => {
    const holder = createServer()
    const port = await freePort()
    await new Promise<void>(resolve => holder.listen(port, '127.0.0.1', resolve))
    const refused = await startSimulator({ port }).catch((error: unknown) => error as PortInUseError)
    expect(refused).toBeInstanceOf(PortInUseError)
    expect(refused).toMatchObject({ name: 'PortInUseError', port, host: '127.0.0.1' })
    expect((refused as PortInUseError).message).toMatch(/^Failed to listen on 127\.0\.0\.1:\d+: the port is in use/)
    const name = expect.stringMatching(/^node/)
    if (process.platform === 'linux') expect(await findPortHolder(port)).toEqual({ pid: process.pid, name })
    await new Promise(resolve => holder.close(resolve))
    expect(await findPortHolder(port)).toBeNull()
  })

  test('an address that this machine does not have rejects with ListenError', async () => {
    const refused = startSimulator({ port: 0, host: '192.0.2.1' })
    await expect(refused).rejects.toThrow(ListenError)
    await expect(refused).rejects.toThrow('this machine has no such address')
  })

  test.each([-1, 65_536, 1.5, Number.NaN])('%s is no port', async port => {
    await expect(startSimulator({ port })).rejects.toThrow(InvalidOptionError)
  })

  test('finds the sockets that listen on a port in the table of the kernel', () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:128B 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:128B 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 100 0 0 10 0
   2: 0100007F:128C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0`
    expect(listeningSockets(table, 0x128b)).toEqual(['socket:[4711]'])
    expect(listeningSockets('', 80)).toEqual([])
  })
})

describe('addresses', () => {
  test.each([
    ['127.0.0.1', true],
    ['localhost', true],
    ['::1', true],
    ['127.1.2.3', true],
    ['0.0.0.0', false],
    ['127.0.0.1.evil.example', false],
    ['10.0.0.1', false],
  ])('%s is loopback: %s', (host, expected) => expect(isLoopback(host)).toBe(expected))

  test('urlOf returns a URL that a client can use', () => {
    expect(urlOf('::1', 80)).toBe('http://[::1]:80')
    expect(urlOf('0.0.0.0', 80)).toBe('http://127.0.0.1:80')
    expect(urlOf('sim.internal', 80)).toBe('http://sim.internal:80')
    expect(allowedHosts('::')).toBeNull()
    expect(allowedHosts('10.0.0.1')).toContain('10.0.0.1')
  })
})

describe('close', () => {
  test('frees the port while idle, streaming and waiting clients are connected', async () => {
    const server = await startSimulator({ port: await freePort() })
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

  test('does not wait long for a client that never finishes its upload', async () => {
    const server = await startSimulator({ port: 0 })
    const upload = new ReadableStream({
      start: controller => controller.enqueue(new TextEncoder().encode('{"bot_id":')),
    })
    const init = { method: 'POST', body: upload, duplex: 'half' } as RequestInit
    const broken = fetch(`${server.url}/api/v2/handover/start`, init).catch(() => 'broken')
    await fetch(server.url)
    await server.close()
    expect(await broken).toBe('broken')
  })
})
