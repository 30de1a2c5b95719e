/** Sets and clears faults over the control API, and sends manual events with faults. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { PlatformServerOptions } from '../../src/server/start.ts'
import { createControlClient } from '../support/control-client.ts'
import { startWebhook } from '../support/network.ts'
import { receiver } from '../webhooks/receiver.ts'

async function setUp(options: PlatformServerOptions = {}) {
  const hook = await receiver()
  const server = await startSimulator({ port: 0, webhook: { url: hook.url }, ...options })
  onTestFinished(() => server.close())
  return { hook, server, ask: createControlClient(server) }
}

describe('/_sim/faults', () => {
  test('sets, lists, applies and clears a fault', async () => {
    const { server, ask } = await setUp()
    const fault = { on: { api: 'start' }, respond: { status: 503, headers: { 'Retry-After': '1' } }, times: 2 }
    const set = await ask('POST', '/faults', { body: { name: 'flaky', ...fault } })
    const named = { name: 'flaky', ...fault, hits: 0, of: 2, used_up: false, holding: 0 }
    expect([set.status, set.body]).toEqual([201, named])
    expect((await ask('POST', '/faults', { body: { on: 'webhook', delay: '2s' } })).body.name).toBe('fault-1')
    expect((await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST' })).status).toBe(503)
    const { faults } = (await ask('GET', '/faults')).body
    expect(faults).toMatchObject([
      { ...named, hits: 1 },
      { name: 'fault-1', of: null },
    ])
    const { entries } = (await ask('GET', '/journal?kind=fault')).body
    expect(entries).toMatchObject([
      { fault: 'flaky', effect: { respond: { status: 503 } }, hit: 1, of: 2, endpoint: 'start' },
    ])
    expect((await ask('DELETE', '/faults/flaky')).body.cleared).toMatchObject([{ name: 'flaky', hits: 1 }])
    expect((await ask('DELETE', '/faults')).body.cleared).toMatchObject([{ name: 'fault-1' }])
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [] })
  })

  test('an unknown name is 404 with the known names', async () => {
    const { ask } = await setUp()
    expect((await ask('DELETE', '/faults/a')).body.error.message).toBe('There is no fault "a": none is set.')
    await ask('POST', '/faults', { body: { name: 'b', on: 'api', reset: true } })
    const { status, body } = await ask('DELETE', '/faults/a')
    expect([status, body.error]).toMatchObject([404, { code: 'fault_not_found', issues: [{ allowed: ['b'] }] }])
  })

  test('waits for a hit', async () => {
    const { server, ask } = await setUp()
    const chat = await server.chat()
    await ask('POST', '/faults', { body: { on: { webhook: 'REQUESTING TAKEOVER' }, duplicate: 2 } })
    const waiting = ask('GET', `/wait?kind=fault&chat_id=${chat.id}`)
    await chat.press('handover')
    expect((await waiting).body).toMatchObject({ effect: { duplicate: 2 }, event: 'REQUESTING TAKEOVER', hit: 1 })
  })

  test('the note has what is needed to set the same fault again', async () => {
    const { ask } = await setUp()
    const respond = { status: 503, headers: { 'retry-after': '1' }, body: { error: 'busy' } }
    await ask('POST', '/faults', { body: { name: 'busy', on: { api: 'start' }, respond, skip: 1, every: 2, times: 3 } })
    const [set] = (await ask('GET', '/journal?kind=note')).body.entries
    const { fault: name, on, skip, every, of: times } = set
    await ask('DELETE', '/faults')
    await ask('POST', '/faults', { body: { name, on, ...set.effect, respond: set.respond, skip, every, times } })
    expect((await ask('GET', '/faults')).body.faults).toMatchObject([
      { name: 'busy', respond, skip: 1, every: 2, of: 3 },
    ])
  })

  test('a reset clears all faults, and faults do not apply to the control API', async () => {
    const { server, ask } = await setUp()
    await ask('POST', '/faults', { body: { on: 'api', reset: true } })
    expect((await ask('GET', '/state')).status).toBe(200)
    await ask('POST', '/reset')
    expect((await ask('GET', '/faults')).body).toEqual({ faults: [] })
    expect((await fetch(`${server.url}/api/v2/handover/start`, { method: 'POST' })).status).toBe(401)
  })
})

describe('manual events', () => {
  test('trigger: several copies with wire faults', async () => {
    const { hook, server, ask } = await setUp()
    const how = { duplicate: 3, gap: '5ms', drip: '20ms', http: ['header-case', 'chunked'], reset_after_answer: true }
    const { body } = await ask('POST', '/trigger', { body: { event: 'X', ...how } })
    expect(body.ack.status).toBe(200)
    expect(new Set(hook.got.map(({ bytes }) => bytes.toString()))).toEqual(new Set(['{"event":"X"}']))
    expect(hook.got[0]!.rawHeaders).toContain('KINDLY-HMAC')
    expect(server.deliveries.map(({ attempt, duplicate, triggered }) => [attempt, duplicate, triggered])).toEqual([
      [1, undefined, true],
      [2, true, true],
      [3, true, true],
    ])
  })

  test('trigger: delayed on the clock of the simulator', async () => {
    const { hook, ask } = await setUp({ clock: 'virtual' })
    const answer = ask('POST', '/trigger', { body: { event: 'X', delay: '2s' } })
    await ask('GET', '/wait?note=event_triggered')
    expect(hook.got).toHaveLength(0)
    await ask('POST', '/clock/advance', { body: { by: '2s' } })
    expect((await answer).body.ack.status).toBe(200)
  })

  test('trigger: a reset cancels a delayed event', async () => {
    const { ask } = await setUp({ clock: 'virtual' })
    const answer = ask('POST', '/trigger', { body: { event: 'X', delay: '2s' } })
    await ask('GET', '/wait?note=event_triggered')
    await ask('POST', '/reset')
    expect(await answer).toMatchObject({ status: 409, body: { error: { code: 'reset' } } })
  })

  test('trigger and resend: a truncated body', async () => {
    await using hook = await startWebhook()
    await using server = await startSimulator({ port: 0, webhook: { url: hook.url } })
    const ask = createControlClient(server)
    await ask('POST', '/trigger', { body: { event: 'X', truncate: true } })
    const whole = (await ask('POST', '/trigger', { body: { event: 'Y' } })).body.delivery_id
    await ask('POST', `/deliveries/${whole}/resend`, { body: { truncate: true } })
    expect(hook.bodies).toEqual(['{"even', '{"event":"Y"}', '{"even'])
  })

  test('resend: copies with the same headers or new ones', async () => {
    const { hook, server, ask } = await setUp()
    await (await server.chat()).press('handover')
    const [{ delivery_id }] = server.deliveries as [(typeof server.deliveries)[0]]
    const { body } = await ask('POST', `/deliveries/${delivery_id}/resend?resign=true`, { body: { duplicate: 2 } })
    expect(body.ack.status).toBe(200)
    expect(new Set(hook.got.map(({ bytes }) => bytes.toString())).size).toBe(1)
    expect(server.deliveries.map(({ attempt, resent, duplicate }) => [attempt, resent, duplicate])).toEqual([
      [1, undefined, undefined],
      [2, true, undefined],
      [3, true, true],
    ])
  })

  test('refuses effects that manual events cannot have', async () => {
    const { ask } = await setUp()
    for (const path of ['/trigger', '/deliveries/d/resend']) {
      const event = path === '/trigger' ? { event: 'X' } : {}
      const gap = await ask('POST', path, { body: { ...event, gap: '1s' } })
      expect([gap.status, gap.body.error.message]).toEqual([
        422,
        expect.stringContaining('gap is the time between copies'),
      ])
      expect((await ask('POST', path, { body: { ...event, swap: true } })).status).toBe(422)
    }
  })

  test('faults that are set do not apply', async () => {
    const { hook, server, ask } = await setUp()
    await server.chat()
    server.faults.add({ on: 'webhook', sign: 'none', duplicate: 2 })
    await ask('POST', '/trigger', { body: { event: 'REQUESTING TAKEOVER' } })
    expect(hook.got.map(({ headers }) => 'kindly-hmac' in headers)).toEqual([true])
    expect(server.faults.list()[0]!.hits).toBe(0)
  })
})
