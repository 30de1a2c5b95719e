/** Applies faults to events: their time, order, number, signature and body. */
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { coreOf, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { gate, post, takenOver, type World, world } from '../support/test-simulator.ts'
import { hitsOf, writes } from './support.ts'

const MESSAGE = { webhook: 'MESSAGE FROM USER' } as const

/** The user's messages that the webhook received. */
const receivedBy = ({ inbox }: World) => inbox.map(({ json }) => json.message as string)
const dueIn = (sim: PlatformSimulator) => {
  const due = coreOf(sim).dispatcher.nextDue()
  return due === null ? null : due - sim.clock.now()
}

/** Sets faults for the messages of a user, who then writes these texts. */
async function talk(
  faults: Partial<FaultSpec> | Partial<FaultSpec>[],
  text: string,
  ...options: Parameters<typeof world>
) {
  const made = world(...options)
  const chat = await takenOver(made.sim)
  for (const fault of [faults].flat()) made.sim.faults.add({ on: MESSAGE, ...fault } as FaultSpec)
  writes(chat, ...text)
  await made.sim.settled()
  return { ...made, chat, received: () => receivedBy(made).join('') }
}

test('delay: later events pass the delayed one', async () => {
  const { sim, received } = await talk({ delay: '2s', times: 1 }, '12')
  expect([received(), dueIn(sim)]).toEqual(['2', 2000])
  await sim.clock.advance('1999ms')
  expect(received()).toBe('2')
  await sim.clock.advance('1ms')
  expect([received(), dueIn(sim)]).toEqual(['21', null])
})

test('slow: later events of the chat wait, other chats do not', async () => {
  const { sim, received } = await talk({ slow: '2s', times: 1 }, '12')
  writes(await takenOver(sim), 'other')
  await sim.settled()
  expect([received(), dueIn(sim)]).toEqual(['other', 2000])
  await sim.clock.advance('2s')
  expect(received()).toBe('other12')
})

test.each([
  [{ swap: true }, '2143', '5'],
  [{ swap: true, times: 1 }, '21345', ''],
  [{ swap: true, skip: 2, times: 1 }, '12435', ''],
  [{ hold: 2 }, '2315', '4'],
  [{ hold: 2, times: 1 }, '23145', ''],
  [{ hold: 4, times: 1 }, '23451', ''],
  [{ hold: 5, times: 1 }, '2345', '1'],
] as const)('%j: the order is %s, and %j is held', async (how, order, held) => {
  const { sim, received } = await talk(how, '12345')
  expect(received()).toBe(order)
  expect(sim.faults.list()[0]!.holding).toBe(held.length)
  sim.faults.clear()
  await sim.settled()
  expect(received()).toBe(order + held)
})

test('a released event is sent before those that wait', async () => {
  const { opened, open } = gate()
  const made = world({}, ({ json }) => (json.message === '2' ? opened.then(() => 200) : 200))
  const chat = await takenOver(made.sim)
  made.sim.faults.add({ on: MESSAGE, swap: true, times: 1 })
  writes(chat, '1', '2', '3')
  await made.arrived(1)
  open()
  await made.sim.settled()
  expect(receivedBy(made)).toEqual(['2', '1', '3'])
})

test('any event of the chat counts as passing, events of other chats do not', async () => {
  const { sim, chat, events } = await talk({ hold: 1, times: 1 }, '1')
  writes(await takenOver(sim), 'other')
  await sim.settled()
  expect(events()).toEqual(['MESSAGE FROM USER'])
  await post(sim, 'typing_start', chat)
  await sim.settled()
  expect(events()).toEqual(['MESSAGE FROM USER', 'AGENT TYPING START', 'MESSAGE FROM USER'])
})

test('clearing a fault by name sends the events it holds, oldest first', async () => {
  const faults = ['one', 'two', 'three'].map(name => ({ name, hold: 9, times: 1 }))
  const { sim, received } = await talk(faults, '123')
  expect(sim.faults.clear('two').map(({ name, holding }) => [name, holding])).toEqual([['two', 1]])
  await sim.settled()
  expect(received()).toBe('2')
  sim.faults.clear()
  await sim.settled()
  expect(received()).toBe('213')
})

test('duplicate: the same bytes, numbered and marked as copies', async () => {
  const { sim, inbox, received } = await talk({ name: 'twice', duplicate: 3, times: 1 }, '12')
  expect(received()).toBe('1112')
  const requests = inbox.map(({ headers, text }) => headers.get('kindly-hmac') + text)
  expect(new Set(requests.slice(0, 3)).size).toBe(1)
  expect(sim.deliveries.slice(0, 3)).toMatchObject([
    { attempt: 1, faults: ['twice'] },
    { attempt: 2, faults: ['twice'], duplicate: true },
    { attempt: 3, faults: ['twice'], duplicate: true },
  ])
  expect(new Set(sim.deliveries.map(({ delivery_id }) => delivery_id)).size).toBe(2)
})

test('gap: time between copies, and later events do not wait for them', async () => {
  const { sim, received } = await talk({ duplicate: 3, gap: '50ms', times: 1 }, '12')
  expect([received(), dueIn(sim)]).toEqual(['12', 50])
  await sim.clock.advance('50ms')
  expect([received(), dueIn(sim)]).toEqual(['121', 50])
  await sim.clock.advance('50ms')
  expect([received(), dueIn(sim)]).toEqual(['1211', null])
})

test('a copy that is answered first is neither the acknowledgement nor attempt 1', async () => {
  const { opened, open } = gate()
  const { sim } = world({}, (_, received) => (received.length > 1 ? 409 : opened.then(() => 200)))
  const chat = await takenOver(sim)
  sim.faults.add({ on: MESSAGE, duplicate: 2 })
  const acted = chat.says('1')
  await sim.journal.waitFor(({ kind }) => kind === 'delivery')
  open()
  expect((await acted).ack?.status).toBe(200)
  expect(sim.deliveries.map(({ attempt, status }) => `${attempt}: ${status}`)).toEqual(['2: 409', '1: 200'])
})

test('the event is retried with a valid request, and its copies are not retried', async () => {
  const knobs = { 'webhook.retry': ['1s'] } as const
  const fault = { duplicate: 2, sign: 'none', times: 1 } as const
  const { sim, inbox } = await talk(fault, '1', { knobs }, ({ headers }) => (headers.get('kindly-hmac') ? 200 : 401))
  await sim.clock.advance('1m')
  expect(inbox.map(({ headers }) => headers.has('kindly-hmac'))).toEqual([false, false, true])
  expect(sim.deliveries).toMatchObject([
    { attempt: 1, sign: 'none', faults: ['fault-1'], status: 401 },
    { attempt: 2, sign: 'none', faults: ['fault-1'], status: 401, duplicate: true },
    { attempt: 3, status: 200 },
  ])
  expect(sim.deliveries[2]).not.toHaveProperty('faults')
})

test.each(['none', 'wrong-key', 'tampered', 'truncated', 'hex'] as const)(
  'sign %s: no receiver can accept it',
  async sign => {
    const { sim, inbox } = await talk({ sign, times: 1 }, '12')
    const expected = (text: string) => createHmac('sha256', sim.apiKey).update(text).digest('base64')
    const valid = inbox.map(({ headers, text }) => headers.get('kindly-hmac') === expected(text))
    expect(valid).toEqual([false, true])
    expect(sim.deliveries.map(entry => entry.sign)).toEqual([sign, undefined])
  },
)

test('truncate: invalid JSON with the signature of the whole body', async () => {
  const { sim, chat } = await talk([], '')
  await chat.says('Grüße 😢')
  sim.faults.add({ on: MESSAGE, truncate: true })
  expect((await chat.says('Grüße 😢')).ack).toMatchObject({ status: null })
  const [whole, cut] = sim.deliveries.map(({ request }) => request)
  expect(whole!.body.startsWith(cut!.body)).toBe(true)
  expect(() => JSON.parse(cut!.body)).toThrow()
  expect(cut!.headers['Kindly-HMAC']).toBe(whole!.headers['Kindly-HMAC'])
})

test('two faults on one event, each with an entry', async () => {
  const twice = { name: 'twice', on: 'webhook', duplicate: 2 } as const
  const { sim, chat } = await talk([twice, { name: 'late', delay: '1s', times: 1 }], '1')
  await sim.clock.advance('1s')
  const { seq, delivery_id } = sim.journal.query({ kind: 'event' }).at(-1)!
  const about = { event: 'MESSAGE FROM USER', chat_id: chat.id, delivery_id, cause: seq, hit: 1 }
  expect(hitsOf(sim)).toMatchObject([
    { ...about, fault: 'twice', of: null },
    { ...about, fault: 'late', of: 1 },
  ])
  expect(sim.deliveries).toMatchObject(Array(2).fill({ delivery_id, faults: ['twice', 'late'] }))
})

test('a webhook that is a function: wire faults are left out, and the journal says so', async () => {
  const { sim, inbox } = await talk({ drip: '10s', http: ['chunked', 'header-case'], duplicate: 2 }, '1')
  expect(inbox).toHaveLength(2)
  expect(hitsOf(sim)).toMatchObject([{ hit: 1, not_applied: ['drip', 'http'] }])
})

test.each([{ delay: '1s' }, { slow: '1s' }, { swap: true }, { hold: 2 }, { duplicate: 2, gap: '1s' }] as const)(
  '%j: no event from before a reset arrives after it',
  async how => {
    const made = await talk(how, 'x')
    const { sim, inbox } = made
    inbox.length = 0
    sim.reset()
    expect([sim.faults.list(), dueIn(sim)]).toEqual([[], null])
    sim.faults.clear()
    await sim.clock.advance('1h')
    await (await takenOver(sim)).says('after')
    expect(made.received()).toBe('after')
    expect(hitsOf(sim)).toEqual([])
  },
)
