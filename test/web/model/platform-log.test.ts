import { expect, test } from 'vitest'
import { configAt, createPlatformLog, faultsAt, queuesAt } from '../../../src/pages/web/model/platform-log.ts'
import { webhookHealthAt } from '../../../src/pages/web/model/webhook-health.ts'
import type { NamedFault } from '../../../src/platform/faults/registry.ts'
import type { Entry } from '../../../src/platform/journal/entry.ts'
import type { SimulatorState } from '../../../src/server/control/routes/workspace.ts'
import { startServer } from '../../../src/server/start.ts'
import { type ControlClient, createControlClient } from '../../support/control-client.ts'
import { startWebhook } from '../../support/network.ts'

interface Recorded {
  readonly seq: number
  readonly state: SimulatorState
  readonly faults: readonly NamedFault[]
}

async function record(ask: ControlClient): Promise<Recorded> {
  const state: SimulatorState = (await ask('GET', '/state')).body
  return { seq: state.journal.next_seq - 1, state, faults: (await ask('GET', '/faults')).body.faults }
}

async function logOf(ask: ControlClient) {
  const log = createPlatformLog()
  const { entries } = (await ask('GET', '/journal?limit=10000')).body as { entries: Entry[] }
  for (const entry of entries) log.add(entry)
  return log
}

const CHANGES: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['PATCH', '/config', { 'typing.webhook': 'off', 'webhook.retry': ['1s'] }],
  ['PUT', '/availability', { availability: 'CLOSED', reason: 'BUSINESS_HOURS' }],
  ['POST', '/faults', { name: 'slow', on: 'webhook', delay: '5s' }],
  ['POST', '/faults', { name: 'once', on: { api: ['start', 'end'] }, respond: { status: 503 }, times: 1 }],
  [
    'PATCH',
    '/config',
    { 'transcript.agentFromBot': false, business_hours: { time_zone: 'Europe/Oslo', mon: '09:00-17:00' } },
  ],
  ['PATCH', '/config', { 'typing.webhook': 'echo', 'availability.otherQueues': 'accept' }],
  ['PUT', '/availability', { availability: 'OPEN', queue: 'VIP' }],
  ['DELETE', '/faults/slow'],
  ['PUT', '/availability', { availability: 'OPEN' }],
  ['POST', '/faults', { name: 'slow', on: 'api', latency: '1ms', every: 2 }],
  ['PATCH', '/config', { 'availability.initial': 'CLOSED', 'bot.replies': [{ match: 'hi', text: 'Hello' }] }],
  ['DELETE', '/faults'],
]

test('settings, availability and faults at every earlier moment are those that the server had', async () => {
  await using server = await startServer({ port: 0 })
  const ask = createControlClient(server)
  const moments = [await record(ask)]
  for (const [method, path, body] of CHANGES) {
    const { status } = await ask(method, path, body && { body })
    expect(status, path).toBeLessThan(300)
    moments.push(await record(ask))
  }
  const log = await logOf(ask)
  const { state, faults } = moments.at(-1)!
  for (const past of moments) {
    const config = configAt(state.config, log, past.seq)
    expect(config, `after ${past.seq}`).toEqual(past.state.config)
    const names = (all: readonly { name: string }[]) => all.map(({ name }) => name)
    expect(names(faultsAt(faults, log, past.seq))).toEqual(names(past.faults))
    const queues = new Map(past.state.availability.map(one => [one.queue, [one.availability, one.reason]]))
    for (const { queue, availability, reason } of queuesAt(state.availability, log, past.seq, config))
      if (queues.has(queue)) expect([availability, reason], `${queue} after ${past.seq}`).toEqual(queues.get(queue))
  }
})

test('a fault has its hits with their entries, now and at an earlier moment', async () => {
  await using server = await startServer({ port: 0 })
  const ask = createControlClient(server)
  await ask('POST', '/faults', { body: { name: 'flaky', on: 'api', respond: { status: 503 }, times: 3 } })
  for (const _ of [1, 2]) await fetch(`${server.baseUrl}/api/v2/handover/start`, { method: 'POST', body: '{}' })
  const { faults } = await record(ask)
  const log = await logOf(ask)
  const [first, second] = log.hits.get('flaky')!
  expect(faultsAt(faults, log, null)).toMatchObject([
    {
      name: 'flaky',
      on: 'api',
      effect: { respond: { status: 503 } },
      hits: 2,
      of: 3,
      hitSeqs: [first!.seq, second!.seq],
    },
  ])
  expect(faultsAt(faults, log, first!.seq)).toMatchObject([{ hits: 1, of: 3, hitSeqs: [first!.seq] }])
})

test('a fault whose beginning is no longer in the journal was set from the start', async () => {
  await using server = await startServer({ port: 0 })
  const ask = createControlClient(server)
  await ask('POST', '/faults', { body: { name: 'old', on: 'webhook', duplicate: 2 } })
  const { faults } = await record(ask)
  expect(faultsAt(faults, createPlatformLog(), null)).toMatchObject([{ name: 'old', effect: { duplicate: 2 } }])
  await ask('DELETE', '/faults')
  const whole = await logOf(ask)
  const log = createPlatformLog()
  for (const entry of whole.changes.slice(1)) log.add(entry)
  expect(faultsAt([], log, 1)).toMatchObject([{ name: 'old', on: null }])
  expect(faultsAt([], log, null)).toEqual([])
})

test('the health of the webhook counts failures in a row of the current URL', async () => {
  await using webhook = await startWebhook()
  await using server = await startServer({ port: 0 })
  const ask = createControlClient(server)
  const { chat_id } = (await ask('POST', '/chats')).body
  const send = () => ask('POST', '/trigger', { body: { event: 'AGENT TYPING STOP', chat_id } })
  const health = async (at: number | null = null) => {
    const { state, seq } = await record(ask)
    const log = await logOf(ask)
    const url = configAt(state.config, log, at)['webhook.url']
    const found = webhookHealthAt(log, at, typeof url === 'string' ? url : null)
    return { seq, state: found.state, failures: found.failuresInARow, notSent: found.notSent, last: found.last?.status }
  }
  expect(await health()).toMatchObject({ state: 'no_url', failures: 0, notSent: 0 })
  await ask('PATCH', '/config', { body: { 'webhook.url': 'http://127.0.0.1:9/' } })
  expect(await health()).toMatchObject({ state: 'untested' })
  await send()
  await send()
  const failing = await health()
  expect(failing).toMatchObject({ state: 'failing', failures: 2, last: null })
  await ask('PATCH', '/config', { body: { 'webhook.url': webhook.url } })
  await send()
  expect(await health()).toMatchObject({ state: 'accepting', failures: 0, last: 200 })
  expect(await health(failing.seq)).toMatchObject({ state: 'failing', failures: 2 })
})
