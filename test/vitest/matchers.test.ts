/** The matchers of `handover-sim/vitest`: registered by importing them. */
import { describe, expect, it } from 'vitest'
import '../../src/testing/vitest/index.ts'
import { pickExpectedFields } from '../../src/testing/vitest/matchers.ts'
import { ANNA, shouting, simulatorWith } from '../testing/desk.ts'

async function talked() {
  const made = simulatorWith(shouting)
  const ada = await made.sim.chat()
  await ada.press('handover')
  await ada.says('hei')
  await ada.says('hopp')
  return { ...made, ada, bo: await made.sim.chat() }
}

interface Thrown extends Error {
  readonly actual?: unknown
  readonly expected?: unknown
}

const thrownBy = (run: () => unknown): Thrown => {
  try {
    run()
  } catch (error) {
    return error as Thrown
  }
  throw new Error('Nothing was thrown.')
}

describe('toHaveReceived', () => {
  it('checks a chat, or all chats of a simulator', async () => {
    const { sim, ada, bo } = await talked()
    expect(ada).toHaveReceived('start')
    expect(ada).toHaveReceived('start', { sender: { name: 'Anna' } }, { times: 1 })
    expect(sim).toHaveReceived('message', { message: /^H/, sender: expect.objectContaining(ANNA) }, { times: 2 })
    expect(sim).toHaveReceived('message', undefined, { times: { min: 1, max: 5 } })
    expect(bo).not.toHaveReceived('start')
    expect(ada).not.toHaveReceived('message', { message: 'HEI' }, { times: 2 })
    expect(bo).toHaveReceived('start', undefined, { times: 0 })
  })

  it('can be repeated, claims nothing, and satisfies assertClean', async () => {
    const { sim, ada } = await talked()
    expect(ada).toHaveReceived('start')
    expect(ada).toHaveReceived('start')
    await ada.expectCall('message', { message: 'HEI' })
    await expect(sim.assertClean()).rejects.toThrow(/HOPP/)
    expect(ada).not.toHaveReceived('message', { message: 'NEI' })
    expect(ada).toHaveReceived('message', { message: 'HOPP' })
    await sim.assertClean()
  })

  it('reports an event that the webhook did not acknowledge', async () => {
    const { sim } = simulatorWith(() => {
      throw new Error('no desk')
    })
    const ada = await sim.chat()
    await ada.press('handover')
    const { message } = thrownBy(() => expect(ada).toHaveReceived('start'))
    expect(message.replace(/\s+/g, ' ')).toContain('did not accept REQUESTING TAKEOVER: no answer from')
    expect(message.replace(/\s+/g, ' ')).toContain('threw: no desk at')
  })

  it('counts availability of the bot', async () => {
    const { sim, call } = await talked()
    await call('availability', { availability: 'OPEN' })
    expect(sim).toHaveReceived('availability', { availability: 'OPEN' }, { times: 1 })
  })

  it('reports the nearest call, and gives the test runner values to compare', async () => {
    const { ada } = await talked()
    const error = thrownBy(() => expect(ada).toHaveReceived('message', { message: 'HEI!', sender: { name: 'Anna' } }))
    expect(error.message).toMatch(/^x no call of message matches/)
    expect(error.message.replace(/\s+/g, ' ')).toMatch(/message \{ message: "HEI!", sender: \{ name: "Anna" \} \}/)
    expect(error.message).toMatch(/nearest\s+#\d+ POST .*1 field differs\n\s+message\s+- "HEI!"\s+\+ "H/)
    expect([error.expected, error.actual]).toEqual([
      { message: 'HEI!', sender: { name: 'Anna' } },
      { message: expect.stringMatching(/^H/), sender: { name: 'Anna' } },
    ])
  })

  it('reports the number of calls, also with `not`', async () => {
    const { ada, bo } = await talked()
    const often = thrownBy(() => expect(ada).toHaveReceived('message', {}, { times: 3 })).message
    expect(often).toMatch(/^x message was called twice: #\d+, #\d+ \(expected: message exactly 3 times/)
    const never = thrownBy(() => expect(ada).not.toHaveReceived('start')).message
    expect(never).toMatch(/^x start was called once: #\d+ \(expected: .*not start/)
    expect(thrownBy(() => expect(bo).toHaveReceived('start')).message).toContain('chat_id belongs to chat')
  })

  it('rejects values that are no simulator or chat', async () => {
    const { ada } = await talked()
    expect(() => expect({}).toHaveReceived('start')).toThrow(/takes a simulator or a chat of one/)
    expect(() => expect(ada).toHaveReceived('begin' as 'start')).toThrow(/call must be one of .* got "begin"/)
    expect(() => expect(ada).toHaveDelivered('REQUESTNG TAKEOVER' as 'REQUESTING TAKEOVER')).toThrow(
      'got "REQUESTNG TAKEOVER"; did you mean REQUESTING TAKEOVER?',
    )
    expect(() => expect(ada).toHaveReceived('start', {}, { times: 0.5 })).toThrow(/times must be/)
  })
})

describe('toHaveDelivered', () => {
  it('counts each event once, however many attempts it took', async () => {
    let tries = 0
    const { sim } = simulatorWith(() => (++tries < 3 ? new Response('busy', { status: 503 }) : undefined), {
      knobs: { 'webhook.retry': ['1s', '1s'] },
    })
    const ada = await sim.chat({ language: 'nb' })
    await ada.press('handover')
    const error = thrownBy(() => expect(ada).toHaveDelivered('REQUESTING TAKEOVER'))
    expect(error.message).toContain('answered 503')
    await sim.clock.advance('2s')
    expect(ada).toHaveDelivered('REQUESTING TAKEOVER', { chat: { id: ada.id, language: 'nb' } }, { times: 1 })
    expect(sim).not.toHaveDelivered('MESSAGE FROM USER')
  })

  it('reports the differences', async () => {
    const { ada, bo } = await talked()
    expect(ada).toHaveDelivered('MESSAGE FROM USER', { message: 'hei' })
    const error = thrownBy(() => expect(ada).toHaveDelivered('MESSAGE FROM USER', { message: 'nei' }))
    expect(error.message).toMatch(/message\s+- "nei"\s+\+ "h/)
    expect(thrownBy(() => expect(bo).toHaveDelivered('MESSAGE FROM USER')).message).toMatch(/of chat "/)
    expect(() => expect(ada).toHaveDelivered('MESSAGE' as 'MESSAGE FROM USER')).toThrow(/event must be one of/)
  })
})

it('rejects mistakes, also with `not`', async () => {
  const { ada } = await talked()
  const wrong = { sender: { $typ: 'string' } } as object
  expect(() => expect(ada).not.toHaveReceived('start', wrong)).toThrow(
    'sender.$typ is not a matcher; did you mean $type',
  )
  expect(() => expect(ada).not.toHaveDelivered('MESSAGE FROM USER', wrong)).toThrow('sender.$typ is not a matcher')
  expect(() => expect(ada).toHaveReceived('start', {}, { time: 1 } as object)).toThrow('toHaveReceived takes no time')
  expect(() => expect(ada).not.toHaveReceived('start', 'Anna' as never)).toThrow('body must be an object')
})

describe('what is compared', () => {
  it.each([
    [{ a: 1 }, { a: 2, b: 3 }, { a: 2 }],
    [{ a: { b: 1 } }, { a: { b: 2, c: 3 }, d: 4 }, { a: { b: 2 } }],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2, c: 3 }, { d: 4 }] }, { a: [{ b: 2 }, { d: 4 }] }],
    [{ a: { $type: 'object' } }, { a: { b: 2 } }, { a: { b: 2 } }],
    [{ a: 1 }, { b: 2 }, {}],
  ])('%j of %j is %j', (expected, actual, part) => expect(pickExpectedFields(expected, actual)).toEqual(part))
})
