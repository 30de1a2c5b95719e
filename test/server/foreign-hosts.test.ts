/** Which values of the Host header may use API keys that others know: a page can point a name of its own at this machine. */
import { describe, expect, test } from 'vitest'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { sendRaw } from '../attack/attacked-server.ts'
import { startTestServer } from '../support/test-server.ts'

const NOTHING = new Uint8Array()

async function statusFor(server: PlatformServer, host: string, key = server.botApiKey, path?: string): Promise<number> {
  const chat = path ?? `/api/v1/chats/${(await server.chat()).id}`
  const headers = { host, authorization: `Bearer ${key}` }
  return (await sendRaw(server.port, { method: 'GET', path: chat, headers, body: NOTHING })).status
}

const BASE_URL = { baseUrl: 'https://bot.example.test/base' }
const CORS = { knobs: { 'api.cors': ['http://handover-sim:4747'] } }
const OWN_KEYS = { knobs: { 'keys.handover': 'own-handover-key', 'keys.bot': 'own-bot-key' } }

describe('hosts', () => {
  test.each<[PlatformServerOptions, string]>([
    [{}, 'localhost LOCALHOST:4747 sim.localhost 127.0.0.1:1 127.3.2.1 [::1]:4747 192.0.2.7:80 [fe80::1]'],
    [BASE_URL, 'bot.example.test BOT.example.test:4747 localhost'],
    [{ host: '0.0.0.0' }, 'handover-sim:4747 host.docker.internal host.docker.internal:4747 sim_1 10.0.0.3'],
    [CORS, 'handover-sim handover-sim:8080 HANDOVER-SIM'],
    [{ knobs: { 'api.cors': '*' } }, 'evil.example handover-sim'],
    [OWN_KEYS, 'evil.example handover-sim'],
  ])('with %j, %s are answered', async (options, hosts) => {
    const { server } = await startTestServer(options)
    for (const host of hosts.split(' ')) expect([host, await statusFor(server, host)]).toEqual([host, 200])
  })

  test.each<[PlatformServerOptions, string]>([
    [{}, 'evil.example evil.example:4747 handover-sim host.docker.internal:4747 127.0.0.1.evil.example'],
    [{}, 'localhost.evil.example evil.example/.localhost bot.example.test localhost@evil.example'],
    [BASE_URL, 'evil.example x.bot.example.test'],
    [{ host: '0.0.0.0' }, 'evil.example:4747 internal.evil.example xinternal.'],
    [CORS, 'evil.example handover-sim.evil.example'],
  ])('with %j, %s are refused', async (options, hosts) => {
    const { server } = await startTestServer(options)
    for (const host of hosts.split(' ')) {
      // The check stores the latest accepted host, which must not open others.
      expect(await statusFor(server, `127.0.0.1:${server.port}`)).toBe(200)
      expect([host, await statusFor(server, host)]).toEqual([host, 403])
    }
  })

  test('are not checked in the process', async () => {
    const { server } = await startTestServer(BASE_URL)
    const headers = { authorization: `Bearer ${server.botApiKey}` }
    const { status } = await server.fetch(`https://evil.example/api/v1/chats/${(await server.chat()).id}`, { headers })
    expect(status).toBe(200)
  })
})

test('the refusal of a container says which settings let it in', async () => {
  const { server } = await startTestServer()
  const body = new TextEncoder().encode('{"availability":"CLOSED"}')
  const headers = { host: 'handover-sim:4747', authorization: `Bearer ${server.apiKey}` }
  const path = '/api/v2/handover/availability'
  const answer = await sendRaw(server.port, { method: 'POST', path, headers, body })
  expect([answer.status, answer.headers['x-handover-sim-internal-error']]).toEqual([403, '1'])
  const { handover_sim } = JSON.parse(answer.body)
  expect(handover_sim).toMatchObject({ code: 'foreign_host', message: expect.stringContaining('handover-sim:4747') })
  expect(handover_sim.hint).toMatch(/(?=.*keys\.handover)(?=.*keys\.bot).*--set api\.cors=http:\/\/handover-sim:4747/s)
  const entries = server.journal.query({ kind: 'api' })
  expect(entries).toMatchObject([
    { endpoint: 'availability', status: 403, auth: 'not_checked', response: { handover_sim } },
  ])
})

test('the keys of a workspace follow from its name, so they are for known callers too, unless they are its own', async () => {
  const { server } = await startTestServer(OWN_KEYS)
  const derived = await server.workspace()
  const own = await server.workspace({ knobs: { 'keys.handover': 'ws-handover-key', 'keys.bot': 'ws-bot-key' } })
  const read = async (sim: typeof own, host: string) =>
    statusFor(server, host, sim.botApiKey, `/api/v1/chats/${(await sim.chat()).id}`)
  expect([await read(derived, 'evil.example'), await read(derived, 'localhost')]).toEqual([403, 200])
  expect([await read(own, 'evil.example'), await read(own, 'localhost')]).toEqual([200, 200])
  expect(await statusFor(server, 'evil.example')).toBe(200)
})
