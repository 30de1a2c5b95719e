import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { refusedAccess } from '../../../src/server/control/app.ts'
import { createControlClient } from '../../support/control-client.ts'
import { connectRaw } from '../../support/network.ts'

const LOCAL = { hosts: ['localhost', '127.0.0.1', '[::1]'], token: null, origin: null }
const ask = (host: string, headers: Record<string, string> = {}, open = false) => ({
  host,
  open,
  header: (name: string) => headers[name],
})
const codeOf = (...args: Parameters<typeof refusedAccess>) => refusedAccess(...args)?.code ?? null

test.each([
  ['127.0.0.1:4747', {}, null],
  ['LOCALHOST:4747', {}, null],
  ['[::1]:4747', {}, null],
  ['localhost', {}, null],
  ['evil.example:4747', {}, 'foreign_host'],
  ['127.0.0.1.evil.example', {}, 'foreign_host'],
  ['localhost:4747', { origin: 'http://localhost:4747' }, null],
  ['localhost:4747', { origin: 'http://localhost:3000' }, 'foreign_origin'],
  ['localhost:4747', { origin: 'https://evil.example' }, 'foreign_origin'],
  ['localhost:4747', { origin: 'null' }, 'foreign_origin'],
  ['localhost:4747', { 'sec-fetch-site': 'cross-site' }, 'foreign_origin'],
  ['localhost:4747', { 'sec-fetch-site': 'same-origin' }, null],
  ['localhost:4747', { 'sec-fetch-site': 'none' }, null],
  ['localhost:4747', { 'sec-fetch-site': 'none', origin: 'null' }, 'foreign_origin'],
  ['localhost:4747', { origin: '' }, 'foreign_origin'],
  ['localhost:4747', { origin: 'http://localhost:4747', 'sec-fetch-site': 'same-origin' }, null],
])('%s with %j: %s', (host, headers, expected) => {
  expect(codeOf(LOCAL, ask(host, headers as Record<string, string>))).toBe(expected)
})

describe('with a token', () => {
  const guard = { hosts: null, token: 'open-sesame', origin: null }
  test.each([
    [{}, 'token_required'],
    [{ authorization: 'Bearer wrong' }, 'token_required'],
    [{ authorization: 'open-sesame' }, 'token_required'],
    [{ authorization: 'bearer open-sesame' }, null],
    [{ 'x-handover-sim-token': 'open-sesame' }, null],
    [{ 'x-handover-sim-token': '' }, 'token_required'],
  ])('%j: %s', (headers, expected) => {
    expect(codeOf(guard, ask('sim:4747', headers as Record<string, string>))).toBe(expected)
  })
  test('an open route needs no token', () => expect(codeOf(guard, ask('sim:4747', {}, true))).toBeNull())
})

test('answers 403 without a CORS header to a foreign page and a foreign host name', async () => {
  await using server = await startSimulator({ port: 0 })
  const answer = await createControlClient(server)('POST', '/reset', { headers: { origin: 'https://evil.example' } })
  expect([answer.status, answer.body.error.code]).toEqual([403, 'foreign_origin'])
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()

  const line = await connectRaw(server.port)
  line.send('GET /_sim/state HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
  expect(await line.ended()).toMatch(/^HTTP\/1\.1 403 [\s\S]*foreign_host/)
  const absolute = await connectRaw(server.port)
  absolute.send('GET http://evil.example/_sim/state HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
  expect(await absolute.ended()).toMatch(/^HTTP\/1\.1 403 /)
})

test('generates a token when the server listens on an address other than loopback', async () => {
  await using server = await startSimulator({ port: 0, host: '0.0.0.0' })
  await using other = await startSimulator({ port: 0, host: '0.0.0.0' })
  expect(server.controlToken).toMatch(/^[\w-]{32}$/)
  expect(server.controlToken).not.toBe(other.controlToken)
  const ask = createControlClient(server)
  expect((await ask('GET', '/state')).status).toBe(401)
  expect((await ask('GET', '/readyz')).status).toBe(200)
  expect((await ask('GET', '/nothing')).status).toBe(401)
  const headers = { authorization: `Bearer ${server.controlToken}` }
  expect((await ask('GET', '/state', { headers })).status).toBe(200)
})

test('requires the token that is configured, also on a loopback address', async () => {
  await using server = await startSimulator({ port: 0, controlToken: 'mine' })
  const ask = createControlClient(server)
  expect((await ask('GET', '/state')).status).toBe(401)
  expect((await ask('GET', '/state', { headers: { 'x-handover-sim-token': 'mine' } })).status).toBe(200)
  await using plain = await startSimulator({ port: 0 })
  expect(plain.controlToken).toBeNull()
})
