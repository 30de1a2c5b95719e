import { describe, expect, test } from 'vitest'
import { refusedAccess } from '../../../src/server/control/app.ts'
import { startTestServer } from '../../support/test-server.ts'

type Headers = Record<string, string>
const LOCAL = { hosts: ['localhost', '127.0.0.1', '[::1]'], token: null, origin: null }
const request = (host: string, headers: Headers = {}, open = false) => ({
  host,
  open,
  header: (name: string) => headers[name],
})
const codeOf = (...args: Parameters<typeof refusedAccess>) => refusedAccess(...args)?.code ?? null

test.each<[string, Headers, string | null]>([
  ['127.0.0.1:4747', {}, null],
  ['LOCALHOST:4747', {}, null],
  ['[::1]:4747', {}, null],
  ['localhost', {}, null],
  ['evil.example:4747', {}, 'foreign_host'],
  ['127.0.0.1.evil.example', {}, 'foreign_host'],
  ['localhost:4747', { origin: 'http://localhost:4747' }, null],
  ['localhost:4747', { origin: 'http://localhost:3000' }, 'foreign_origin'],
  ['localhost:4747', { origin: 'https://evil.example' }, 'foreign_origin'],
  ['localhost:4747', { origin: '' }, 'foreign_origin'],
  ['localhost:4747', { 'sec-fetch-site': 'cross-site' }, 'foreign_origin'],
  ['localhost:4747', { 'sec-fetch-site': 'same-origin' }, null],
  ['localhost:4747', { 'sec-fetch-site': 'none' }, null],
  ['localhost:4747', { 'sec-fetch-site': 'none', origin: 'null' }, 'foreign_origin'],
  ['localhost:4747', { origin: 'http://localhost:4747', 'sec-fetch-site': 'same-origin' }, null],
])('%s with %j: %s', (host, headers, expected) => {
  expect(codeOf(LOCAL, request(host, headers))).toBe(expected)
})

describe('with a token', () => {
  test.each<[Headers, string | null]>([
    [{}, 'token_required'],
    [{ authorization: 'Bearer wrong' }, 'token_required'],
    [{ authorization: 'open-sesame' }, 'token_required'],
    [{ authorization: 'bearer open-sesame' }, null],
    [{ 'x-handover-sim-token': 'open-sesame' }, null],
    [{ 'x-handover-sim-token': '' }, 'token_required'],
  ])('%j: %s', (headers, expected) => {
    const guard = { hosts: null, token: 'open-sesame', origin: null }
    expect(codeOf(guard, request('sim:4747', headers))).toBe(expected)
    expect(codeOf(guard, request('sim:4747', {}, true))).toBeNull()
  })
})

test('a foreign page gets 403 without a CORS header', async () => {
  const { control } = await startTestServer()
  const answer = await control('POST', '/reset', { headers: { origin: 'https://evil.example' } })
  expect([answer.status, answer.body.error.code]).toEqual([403, 'foreign_origin'])
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
})

test('a server that listens on more than loopback generates a token of its own, and requires it', async () => {
  const { server, control } = await startTestServer({ host: '0.0.0.0' })
  const other = await startTestServer({ host: '0.0.0.0' })
  expect(server.controlToken).toMatch(/^[\w-]{32}$/)
  expect(server.controlToken).not.toBe(other.server.controlToken)
  const statuses = ['/state', '/readyz', '/nothing'].map(async path => (await control('GET', path)).status)
  expect(await Promise.all(statuses)).toEqual([401, 200, 401])
  const headers = { authorization: `Bearer ${server.controlToken}` }
  expect((await control('GET', '/state', { headers })).status).toBe(200)
})

test('a configured token is required on loopback too; without one, none is', async () => {
  const { control } = await startTestServer({ controlToken: 'mine' })
  expect((await control('GET', '/state')).status).toBe(401)
  const headers = { 'x-handover-sim-token': 'mine' }
  expect((await control('GET', '/keys', { headers })).status).toBe(200)
  const foreign = { ...headers, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await control('GET', '/keys', { headers: foreign })).status).toBe(403)
  expect((await startTestServer()).server.controlToken).toBeNull()
})
