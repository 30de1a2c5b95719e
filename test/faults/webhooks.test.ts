/** Applies faults to events: their time, order, number, signature and body. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { FaultSpec } from '../../src/platform/faults/schema.ts'
import { coreOf, type PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { gate, post, takenOver, type World, world } from '../support/test-simulator.ts'
import { hitsOf, writes } from './support.ts'

const MESSAGE = { webhook: 'MESSAGE FROM USER' } as const

/** The user's messages that the webhook received. */
const said = ({ inbox }: World) => inbox.map(({ json }) => json.message as string)
const dueIn = (sim: PlatformSimulator) => {
  const due = coreOf(sim).dispatcher.nextDue()
  return due === null ? null : due - sim.clock.now()
}

async function talk(spec: FaultSpec, texts: readonly string[], options: Parameters<typeof world> = []) {
  const made = world(...options)
  const chat = await takenOver(made.sim)
  made.sim.faults.add(spec)
  writes(chat, ...texts)
  await made.sim.settled()
  return { ...made, chat, got: () => said(made) }
}

describe('time and order', () => {
  test('delay: later events pass the delayed one', async () => {
    const { sim, got } = await talk({ on: MESSAGE, delay: '2s', times: 1 }, ['1', '2'])
    expect([got(), dueIn(sim)]).toEqual([['2'], 2000])
    await sim.clock.advance('1999ms')
    expect(got()).toEqual(['2'])
    await sim.clock.advance('1ms')
    expect([got(), dueIn(sim)]).toEqual([['2', '1'], null])
  })

  test('slow: later events of the chat wait, other chats do not', async () => {
    const { sim, got } = await talk({ on: MESSAGE, slow: '2s', times: 1 }, ['1', '2'])
    writes(await takenOver(sim), 'other')
    await sim.settled()
    expect([got(), dueIn(sim)]).toEqual([['other'], 2000])
    await sim.clock.advance('2s')
    expect(got()).toEqual(['other', '1', '2'])
  })

  test.each([
    [{ swap: true }, ['2', '1', '4', '3'], ['5']],
    [{ swap: true, times: 1 }, ['2', '1', '3', '4', '5'], []],
    [{ swap: true, skip: 2, times: 1 }, ['1', '2', '4', '3', '5'], []],
    [{ hold: 2 }, ['2', '3', '1', '5'], ['4']],
    [{ hold: 2, times: 1 }, ['2', '3', '1', '4', '5'], []],
    [{ hold: 4, times: 1 }, ['2', '3', '4', '5', '1'], []],
    [{ hold: 5, times: 1 }, ['2', '3', '4', '5'], ['1']],
  ] as const)('%j', async (how, order, kept) => {
    const { sim, got } = await talk({ on: MESSAGE, ...how }, ['1', '2', '3', '4', '5'])
    expect(got()).toEqual(order)
    expect(sim.faults.list()[0]!.holding).toBe(kept.length)
    sim.faults.clear()
    await sim.settled()
    expect(got()).toEqual([...order, ...kept])
  })

  test('a released event is sent before those that wait', async () => {
    const answer = gate()
    const made = world({}, async ({ json }) => {
      if (json.message === '2') await answer.opened
      return new Response()
    })
    const chat = await takenOver(made.sim)
    made.sim.faults.add({ on: MESSAGE, swap: true, times: 1 })
    writes(chat, '1', '2', '3')
    await made.arrived(1)
    answer.open()
    await made.sim.settled()
    expect(said(made)).toEqual(['2', '1', '3'])
  })

  test('any event of the chat counts as passing, events of other chats do not', async () => {
    const made = world()
    const [chat, other] = [await takenOver(made.sim), await takenOver(made.sim)]
    made.sim.faults.add({ name: 'keep', on: MESSAGE, hold: 1, times: 1 })
    writes(chat, '1')
    writes(other, 'other')
    await made.sim.settled()
    expect(said(made)).toEqual(['other'])
    await post(made.sim, 'typing_start', chat)
    await made.sim.settled()
    expect(made.events()).toEqual(['MESSAGE FROM USER', 'AGENT TYPING START', 'MESSAGE FROM USER'])
  })

  test('clearing a fault by name sends the events it holds, oldest first', async () => {
    const made = world()
    const { sim } = made
    const chat = await takenOver(sim)
    sim.faults.add({ name: 'one', on: MESSAGE, hold: 9, times: 1 })
    sim.faults.add({ name: 'two', on: MESSAGE, hold: 9, times: 1 })
    sim.faults.add({ name: 'three', on: MESSAGE, hold: 9, times: 1 })
    writes(chat, '1', '2', '3')
    await sim.settled()
    expect(sim.faults.clear('two').map(({ name, holding }) => [name, holding])).toEqual([['two', 1]])
    await sim.settled()
    expect(said(made)).toEqual(['2'])
    sim.faults.clear()
    await sim.settled()
    expect(said(made)).toEqual(['2', '1', '3'])
  })

  test('with webhook.order none, held events are not lost', async () => {
    const made = world({ knobs: { 'webhook.order': 'none' } })
    const chat = await takenOver(made.sim)
    made.sim.faults.add({ on: MESSAGE, swap: true, times: 1 })
    made.sim.faults.add({ on: MESSAGE, slow: '1s', times: 1 })
    writes(chat, '1', '2', '3')
    await made.sim.settled()
    expect(said(made)).toEqual(['3', '1'])
    await made.sim.clock.advance('1s')
    expect(said(made)).toEqual(['3', '1', '2'])
  })
})

describe('copies', () => {
  test('duplicate: the same bytes, numbered and marked as copies', async () => {
    const { sim, inbox } = await talk({ name: 'twice', on: MESSAGE, duplicate: 3, times: 1 }, ['1', '2'])
    expect(inbox.map(({ json }) => json.message)).toEqual(['1', '1', '1', '2'])
    expect(new Set(inbox.slice(0, 3).map(({ text }) => text)).size).toBe(1)
    expect(new Set(inbox.slice(0, 3).map(({ headers }) => headers.get('kindly-hmac'))).size).toBe(1)
    const [first] = sim.deliveries
    const copies = sim.deliveries.filter(({ delivery_id }) => delivery_id === first!.delivery_id)
    expect(copies.map(({ attempt, duplicate, faults }) => [attempt, duplicate, faults])).toEqual([
      [1, undefined, ['twice']],
      [2, true, ['twice']],
      [3, true, ['twice']],
    ])
  })

  test('gap: time between copies, and later events do not wait for them', async () => {
    const { sim, got } = await talk({ on: MESSAGE, duplicate: 3, gap: '50ms', times: 1 }, ['1', '2'])
    expect([got(), dueIn(sim)]).toEqual([['1', '2'], 50])
    await sim.clock.advance('50ms')
    expect([got(), dueIn(sim)]).toEqual([['1', '2', '1'], 50])
    await sim.clock.advance('50ms')
    expect([got(), dueIn(sim)]).toEqual([['1', '2', '1', '1'], null])
  })

  test('a copy that is answered first is neither the acknowledgement nor attempt 1', async () => {
    const answer = gate()
    const { sim } = world({}, async (_, inbox) => {
      if (inbox.length > 1) return new Response(null, { status: 409 })
      await answer.opened
      return new Response()
    })
    const chat = await takenOver(sim)
    sim.faults.add({ on: MESSAGE, duplicate: 2 })
    const acted = chat.says('1')
    await sim.journal.waitFor(({ kind }) => kind === 'delivery')
    answer.open()
    expect((await acted).ack?.status).toBe(200)
    expect(sim.deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [2, 409],
      [1, 200],
    ])
  })

  test('the event is retried with a valid request, and its copies are not retried', async () => {
    const { sim, inbox } = await talk(
      { on: MESSAGE, duplicate: 2, sign: 'none', times: 1 },
      ['1'],
      [
        { knobs: { 'webhook.retry': ['1s'] } },
        ({ headers }) => new Response(null, { status: headers.get('kindly-hmac') ? 200 : 401 }),
      ],
    )
    await sim.clock.advance('1m')
    expect(inbox.map(({ headers }) => headers.has('kindly-hmac'))).toEqual([false, false, true])
    expect(
      sim.deliveries.map(({ attempt, duplicate, sign, faults, status }) => [attempt, duplicate, sign, faults, status]),
    ).toEqual([
      [1, undefined, 'none', ['fault-1'], 401],
      [2, true, 'none', ['fault-1'], 401],
      [3, undefined, undefined, undefined, 200],
    ])
  })

  test('nextDue includes retries', async () => {
    const { sim } = await talk(
      { on: MESSAGE, delay: '5s' },
      ['1'],
      [{ knobs: { 'webhook.retry': ['1s', '3s'] } }, () => new Response(null, { status: 500 })],
    )
    const due: (number | null)[] = []
    for (let left = dueIn(sim); left !== null && due.length < 9; left = dueIn(sim)) {
      due.push(left)
      await sim.clock.advance(`${left}ms`)
    }
    expect(due).toEqual([5000, 1000, 3000])
  })
})

describe('signature and body', () => {
  const valid = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64')

  test.each(['none', 'wrong-key', 'tampered', 'truncated', 'hex'] as const)(
    'sign %s: no receiver can take it',
    async sign => {
      const { sim, inbox } = await talk({ name: 'forged', on: MESSAGE, sign, times: 1 }, ['Hello', 'Hello'])
      const right = inbox.map(({ headers, text }) => headers.get('kindly-hmac') === valid(sim.apiKey, text))
      expect(right).toEqual([false, true])
      expect(sim.deliveries.map(entry => entry.sign)).toEqual([sign, undefined])
    },
  )

  test('truncate: invalid JSON with the signature of the whole body', async () => {
    const made = world({}, ({ text }) => new Response(text))
    const { sim } = made
    const chat = await takenOver(sim)
    await chat.says('Grüße 😢')
    const whole = sim.deliveries[0]!
    sim.faults.add({ on: MESSAGE, truncate: true })
    await expect(chat.says('Grüße 😢')).resolves.toMatchObject({ ack: { status: null } })
    const { request } = sim.deliveries[1]!
    expect(whole.request.body.startsWith(request.body)).toBe(true)
    expect(() => JSON.parse(request.body)).toThrow()
    expect(request.headers['Kindly-HMAC']).toBe(whole.request.headers['Kindly-HMAC'])
  })

  test('two faults on one event, each with an entry', async () => {
    const made = world()
    const { sim } = made
    const chat = await takenOver(sim)
    sim.faults.add({ name: 'twice', on: 'webhook', duplicate: 2 })
    sim.faults.add({ name: 'late', on: MESSAGE, chat_id: chat.id, delay: '1s', times: 1 })
    writes(chat, '1')
    await sim.clock.advance('1s')
    const event = sim.journal.query({ kind: 'event' }).at(-1)!
    expect(hitsOf(sim)).toMatchObject([
      { fault: 'twice', event: 'MESSAGE FROM USER', chat_id: chat.id, cause: event.seq, hit: 1, of: null },
      { fault: 'late', event: 'MESSAGE FROM USER', chat_id: chat.id, cause: event.seq, hit: 1, of: 1 },
    ])
    expect(hitsOf(sim).map(({ delivery_id }) => delivery_id)).toEqual(sim.deliveries.map(one => one.delivery_id))
    expect(sim.deliveries.map(({ faults }) => faults)).toEqual([
      ['twice', 'late'],
      ['twice', 'late'],
    ])
  })

  test('a webhook that is a function: wire faults are left out, and the journal says so', async () => {
    const { sim, inbox } = await talk({ on: MESSAGE, drip: '10s', http: ['chunked', 'header-case'], duplicate: 2 }, [
      '1',
    ])
    expect(inbox).toHaveLength(2)
    expect(hitsOf(sim)).toMatchObject([{ hit: 1, not_applied: ['drip', 'http'] }])
  })
})

describe('a reset', () => {
  test.each([{ delay: '1s' }, { slow: '1s' }, { swap: true }, { hold: 2 }, { duplicate: 2, gap: '1s' }] as const)(
    '%j: no event from before a reset arrives after it',
    async how => {
      const made = await talk({ on: MESSAGE, ...how }, ['before'])
      const { sim } = made
      const arrived = made.got().length
      sim.reset()
      expect([sim.faults.list(), dueIn(sim)]).toEqual([[], null])
      sim.faults.clear()
      await sim.clock.advance('1h')
      await (await takenOver(sim)).says('after')
      expect(made.got().slice(arrived)).toEqual(['after'])
      expect(sim.journal.query({ kind: 'fault' })).toEqual([])
    },
  )
})
