/** Sets and clears faults over the control API, and sends manual events with faults. */

import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { startWebhook } from '../support/network.ts'
import { receiver } from '../webhooks/receiver.ts'

async function setUp(options: PlatformServerOptions = {}) {
  const hook = await receiver()
  const server = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  onTestFinished(() => server.close())
  const texts = () => hook.got.map(({ bytes }) => bytes.toString())
  const attempts = () =>
    server.deliveries.map(one => `${one.attempt}${one.resent ? ' resent' : ''}${one.duplicate ? ' duplicate' : ''}`)
  return { hook, texts, server, attempts, ask: createControlClient(server) }
}

test('sets, lists, applies and clears a fault', async () => {
  const { server, ask } = await setUp()
  const fault = { on: { api: 'start' }, respond: { status: 503, headers: { 'Retry-After': '1' } }, times: 2 }
  const set = await ask('POST', '/faults', { body: { name: 'flaky', ...fault } })
  const named = { name: 'flaky', ...fault, hits: 0, of: 2, used_up: false, holding: 0 }
  expect([set.status, set.body]).toEqual([201, named])
  expect((await ask('POST', '/faults', { body: { on: 'webhook', delay: '2s' } })).body.name).toBe('fault-1')
  expect((await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST' })).status).toBe(503)
  expect((await ask('GET', '/faults')).body.faults).toMatchObject([
    { ...named, hits: 1 },
    { name: 'fault-1', of: null },
  ])
  const hit = { fault: 'flaky', effect: { respond: { status: 503 } }, hit: 1, of: 2, endpoint: 'start' }
  expect((await ask('GET', '/wait?kind=fault')).body).toMatchObject(hit)
  expect((await ask('DELETE', '/faults/flaky')).body.cleared).toMatchObject([{ name: 'flaky', hits: 1 }])
  const { status, body } = await ask('DELETE', '/faults/a')
  expect([status, body.error]).toMatchObject([404, { code: 'fault_not_found', issues: [{ allowed: ['fault-1'] }] }])
  expect((await ask('DELETE', '/faults')).body.cleared).toMatchObject([{ name: 'fault-1' }])
  expect((await ask('GET', '/faults')).body).toEqual({ faults: [] })
})

test('the note has what is needed to set the same fault again', async () => {
  const { ask } = await setUp()
  const respond = { status: 503, headers: { 'retry-after': '1' }, body: { error: 'busy' } }
  await ask('POST', '/faults', { body: { name: 'busy', on: { api: 'start' }, respond, skip: 1, every: 2, times: 3 } })
  const [set] = (await ask('GET', '/journal?kind=note')).body.entries
  const { fault: name, on, skip, every, of: times } = set
  await ask('DELETE', '/faults')
  await ask('POST', '/faults', { body: { name, on, ...set.effect, respond: set.respond, skip, every, times } })
  const again = (await ask('GET', '/faults')).body.faults
  expect(again).toMatchObject([{ name: 'busy', respond, skip: 1, every: 2, of: 3 }])
})

test('a reset clears all faults, and faults do not apply to the control API', async () => {
  const { server, ask } = await setUp()
  await ask('POST', '/faults', { body: { on: 'api', reset: true } })
  expect((await ask('GET', '/state')).status).toBe(200)
  await ask('POST', '/reset')
  expect((await ask('GET', '/faults')).body).toEqual({ faults: [] })
  expect((await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST' })).status).toBe(401)
})

test('trigger: several copies with wire faults', async () => {
  const { hook, texts, attempts, ask } = await setUp()
  const how = { duplicate: 3, gap: '5ms', drip: '20ms', http: ['header-case', 'chunked'], reset_after_answer: true }
  const { body } = await ask('POST', '/trigger', { body: { event: 'X', ...how } })
  expect(body.ack.status).toBe(200)
  expect(new Set(texts())).toEqual(new Set(['{"event":"X"}']))
  expect(hook.got[0]!.rawHeaders).toContain('KINDLY-HMAC')
  expect(attempts()).toEqual(['1', '2 duplicate', '3 duplicate'])
})

test.each([
  ['POST /clock/advance', { by: '2s' }, { status: 200, body: { ack: { status: 200 } } }],
  ['POST /reset', {}, { status: 409, body: { error: { code: 'reset' } } }],
])('trigger: a delayed event waits for the clock of the simulator; %s', async (route, body, expected) => {
  const { hook, ask } = await setUp({ clock: 'virtual' })
  const answer = ask('POST', '/trigger', { body: { event: 'X', delay: '2s' } })
  await ask('GET', '/wait?note=event_triggered')
  expect(hook.got).toHaveLength(0)
  await ask('POST', route.slice('POST '.length), { body })
  expect(await answer).toMatchObject(expected)
})

test('trigger and resend: a truncated body', async () => {
  await using hook = await startWebhook()
  const { ask } = await setUp({ webhook: { url: hook.url } })
  await ask('POST', '/trigger', { body: { event: 'X', truncate: true } })
  const whole = (await ask('POST', '/trigger', { body: { event: 'Y' } })).body.delivery_id
  await ask('POST', `/deliveries/${whole}/resend`, { body: { truncate: true } })
  expect(hook.bodies).toEqual(['{"even', '{"event":"Y"}', '{"even'])
})

test('resend: copies of the same bytes', async () => {
  const { texts, server, attempts, ask } = await setUp()
  await (await server.chat()).press('handover')
  const { delivery_id } = server.deliveries[0]!
  const { body } = await ask('POST', `/deliveries/${delivery_id}/resend?resign=true`, { body: { duplicate: 2 } })
  expect(body.ack.status).toBe(200)
  expect(new Set(texts()).size).toBe(1)
  expect(attempts()).toEqual(['1', '2 resent', '3 resent duplicate'])
})

test.each([
  ['/trigger', { event: 'X' }],
  ['/deliveries/d/resend', {}],
])('%s refuses effects that manual events cannot have', async (path, event) => {
  const { ask } = await setUp()
  const { status, body } = await ask('POST', path, { body: { ...event, gap: '1s' } })
  expect([status, body.error.message]).toEqual([422, expect.stringContaining('gap is the time between copies')])
  expect((await ask('POST', path, { body: { ...event, swap: true } })).status).toBe(422)
})

test('faults that are set do not apply to manual events', async () => {
  const { hook, server, ask } = await setUp()
  await server.chat()
  server.faults.add({ on: 'webhook', sign: 'none', duplicate: 2 })
  await ask('POST', '/trigger', { body: { event: 'REQUESTING TAKEOVER' } })
  expect(hook.got.map(({ headers }) => 'kindly-hmac' in headers)).toEqual([true])
  expect(server.faults.list()[0]!.hits).toBe(0)
})
