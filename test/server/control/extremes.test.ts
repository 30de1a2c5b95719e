/** Tests requests at the borders: names of prototypes, unusable hosts, times beyond all clocks, deep bodies. */

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import type { Snapshot } from '../../../src/platform/simulator/snapshot/schema.ts'
import type { PlatformServer } from '../../../src/server/start.ts'
import { type ControlClient, createControlClient } from '../../support/control-client.ts'
import { connectRaw } from '../../support/network.ts'
import { createReceiver } from '../../support/receiver.ts'

let server: PlatformServer
let control: ControlClient

beforeEach(async () => {
  const webhook = { url: 'http://hook.example.test/', fetch: createReceiver().fetch }
  server = await startSimulator({ port: 0, clock: 'virtual', webhook })
  control = createControlClient(server)
  onTestFinished(() => server.close())
})

const fieldsOf = (body: { error: { issues: { field: string }[] } }) => [
  ...new Set(body.error.issues.map(({ field }) => field)),
]
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

/** Sends lines to the server and returns all it answers until it closes the connection. */
async function raw(...lines: string[]): Promise<string> {
  const connection = await connectRaw(server.port)
  connection.send(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  return connection.ended()
}

test.each(['__proto__', 'constructor', 'toString'])('a query parameter named %s is unknown', async name => {
  expect(await control('GET', `/wait?kind=note&${name}=1`)).toMatchObject({ status: 422 })
  expect(await control('GET', `/state?${name}=1`)).toMatchObject({ status: 422 })
})

test.each(['1270.1', '[::1', 'a b', 'localhost:99999999'])('the host %s is refused with 400', async host => {
  expect(await raw('GET /_sim/state HTTP/1.1', `Host: ${host}`)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_host"/)
})

test.each([
  ['GET /_sim/state HTTP/1.1', 'Host: 127.0.0.1', 'host: 127.0.0.1'],
  ['GET /api/v1/chats/x HTTP/1.1', 'Host: sim', 'Authorization: Bearer a', 'AUTHORIZATION: Bearer b'],
])('%s with a header that comes twice is refused with 400', async (...lines) => {
  expect(await raw(...lines)).toMatch(/^HTTP\/1\.1 400 [\s\S]*more than once/)
  expect(server.journal.query({ kind: 'api' })).toEqual([])
})

test('a clock does not advance beyond its end', async () => {
  const { status, body } = await control('POST', '/clock/advance', { body: { by: '2400000000h' } })
  expect([status, fieldsOf(body)]).toEqual([422, ['by']])
  expect(await control('POST', '/clock/advance', { body: { by: '2000000h' } })).toMatchObject({ status: 200 })
  expect(await control('POST', '/clock/advance', { body: { by: '2000000h' } })).toMatchObject({ status: 422 })
  expect(await control('GET', '/state')).toMatchObject({ body: { clock: { now: '2252-02-28T17:00:00.000000Z' } } })
})

test('a deadline beyond the end of the clock is stored and restored', async () => {
  const chat = await server.chat()
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ bot_id: server.botId, chat_id: chat.id, timeout: Number.MAX_SAFE_INTEGER })
  await fetch(`${server.url}/api/v2/handover/typing_start`, { method: 'POST', headers, body })
  const snapshot = (await control('GET', '/snapshot')).body
  expect(snapshot.deadlines).toMatchObject([{ atMs: Date.UTC(2255, 0, 1) }])
  expect(await control('PUT', '/snapshot', { body: snapshot })).toMatchObject({ status: 200 })
})

test('a body may nest 64 levels deep', async () => {
  const context = { deep: nested(62) }
  expect(await control('POST', '/chats', { body: { context } })).toMatchObject({ status: 201 })
  for (const levels of [63, 5000]) {
    const refused = await control('POST', '/chats', {
      text: `{"context":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}`,
    })
    expect([refused.status, fieldsOf(refused.body)]).toEqual([422, ['body']])
  }
  const exported = await control('GET', '/snapshot?journal=true')
  expect(await control('PUT', '/snapshot', { body: exported.body })).toMatchObject({ status: 200 })
})

test('a delivery that was tampered with and cut short can be sent again, as it was and signed anew', async () => {
  const chat = await server.chat()
  const body = { event: 'REQUESTING TAKEOVER', chat_id: chat.id, sign: 'tampered', truncate: true }
  const { delivery_id } = (await control('POST', '/trigger', { body })).body
  for (const resign of [false, true])
    expect(await control('POST', `/deliveries/${delivery_id}/resend?resign=${resign}`, { body: {} })).toMatchObject({
      status: 200,
    })
})

test('a request with the header Set-Cookie is journaled so that the journal can be restored', async () => {
  await raw('GET /api/v1/chats/x HTTP/1.1', 'Host: sim', 'Set-Cookie: a=1', 'Set-Cookie: b=2')
  const { body } = await control('GET', '/snapshot?journal=true')
  expect(body.journal.entries[0].request.headers['set-cookie']).toBe('***')
  expect(await control('PUT', '/snapshot', { body })).toMatchObject({ status: 200 })
})

describe('a snapshot', () => {
  const timesOf: readonly [string, (snapshot: Snapshot, value: never) => void][] = [
    ['clock.now_ms', ({ clock }, value) => Object.assign(clock, { now_ms: value })],
    ['clock.start_ms', ({ clock }, value) => Object.assign(clock, { start_ms: value })],
    ['chats[0].created', ({ chats }, value) => Object.assign(chats[0]!, { created: value })],
    ['chats[0].updated', ({ chats }, value) => Object.assign(chats[0]!, { updated: value })],
    ['continuation.stamp', ({ continuation }, value) => Object.assign(continuation, { stamp: value })],
    ['continuation.journalStamp', ({ continuation }, value) => Object.assign(continuation, { journalStamp: value })],
    ['deadlines[0].at_ms', ({ deadlines }, value) => Object.assign(deadlines[0]!, { at_ms: value })],
    ['journal.entries[0].time', ({ journal }, value) => Object.assign(journal.entries![0]!, { time: value })],
  ]

  test.each(timesOf)('with an absurd %s is refused with this field', async (field, set) => {
    await control('PATCH', '/config', { body: { 'chat.idleTimeout': '1h' } })
    await server.chat()
    const { body } = await control('GET', '/snapshot?journal=true')
    for (const value of [9e21, 9e18, -1, 0.5, 'NaN', null]) {
      const copy = structuredClone(body)
      set(copy, value as never)
      const refused = await control('PUT', '/snapshot', { body: copy })
      expect([refused.status, fieldsOf(refused.body)], String(value)).toEqual([422, [field]])
    }
    expect(await control('GET', '/state')).toMatchObject({ status: 200, body: { chats: [{}] } })
  })

  test('with a fault name that no header can carry is refused', async () => {
    await control('POST', '/faults', { body: { on: { api: 'any' }, slow_body: '1ms' } })
    const { body } = await control('GET', '/snapshot')
    for (const name of ['a\r\nb', 'å', 'x'.repeat(61)]) {
      body.faults[0].name = name
      const refused = await control('PUT', '/snapshot', { body })
      expect([refused.status, fieldsOf(refused.body)]).toEqual([422, ['faults[0].name']])
    }
  })
})
