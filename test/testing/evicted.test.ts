/** Checks of absence fail when the entries that would show the call were evicted from the journal. */
import { describe, expect, it } from 'vitest'
import { check, defineScenario, none, press, user } from '../../src/evaluation/scenario/build/index.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { ANNA, shouting, simulatorWith } from './desk.ts'

expect.extend(matchers as never)

const EVICTED = /the journal no longer has the entries before #\d+.*raise\s+journalLimit\s+or\s+memoryLimit/s

/** A chat whose calls of `start` and `message` were evicted, and a simulator without an expectation so far. */
async function evictedCalls() {
  const { sim, call } = simulatorWith(undefined, { journalLimit: 10 })
  const ada = await sim.chat({ user: { firstName: 'Ada' } })
  await ada.press('handover')
  await call('start', { chat_id: ada.id, sender: ANNA })
  await call('message', { chat_id: ada.id, message: 'Unwanted', sender: ANNA })
  for (let count = 0; count < 10; count++) await ada.says(`${count}`)
  expect(sim.journal.firstSeq).toBeGreaterThan(8)
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
  return { sim, ada, call }
}

describe('after an eviction', () => {
  it('assertClean fails', async () => {
    const { sim } = await evictedCalls()
    const failed = sim.assertClean()
    await expect(failed).rejects.toThrow(EVICTED)
    await expect(failed).rejects.toMatchObject({ failure: { kind: 'evicted', happened: { code: 'evicted' } } })
  })

  it('expectNone fails, of a chat and of the bot', async () => {
    const { sim, ada } = await evictedCalls()
    await expect(ada.expectNone('message', { for: '0s' })).rejects.toThrow(EVICTED)
    await expect(sim.expectNone('availability', { for: '0s' })).rejects.toThrow(EVICTED)
  })

  it('expectNone passes for a turn after the eviction, and for a new chat', async () => {
    const { sim, ada, call } = await evictedCalls()
    await expect(ada.expectNone('message', { for: '0s' })).rejects.toThrow(EVICTED)
    await ada.says('Another turn')
    await ada.expectNone('message', { for: '0s' })
    const bob = await sim.chat({ user: { firstName: 'Bob' } })
    await bob.expectNone('message', { for: '0s' })
    await bob.press('handover')
    await call('start', { chat_id: bob.id, sender: ANNA })
    await expect(bob.expectNone('start', { for: '0s' })).rejects.toThrow(/start was called/)
  })

  it('matchers fail when the number of calls is uncertain, with and without not', async () => {
    const { sim, ada, call } = await evictedCalls()
    expect(() => expect(ada).not.toHaveReceived('message')).toThrow(EVICTED)
    expect(() => expect(ada).toHaveReceived('message')).toThrow(EVICTED)
    expect(() => expect(sim).toHaveReceived('message', undefined, { times: 0 })).toThrow(EVICTED)
    expect(() => expect(ada).toHaveDelivered('MESSAGE FROM USER', undefined, { times: 4 })).toThrow(EVICTED)
    await call('message', { chat_id: ada.id, message: 'Here', sender: ANNA })
    expect(ada).toHaveReceived('message', { message: 'Here' })
    expect(() => expect(ada).toHaveReceived('message', undefined, { times: 1 })).toThrow(EVICTED)
    expect(() => expect(ada).not.toHaveReceived('message')).toThrow(/message was called once/)
    const bob = await sim.chat()
    expect(bob).not.toHaveReceived('message')
  })

  it('a missing call names the eviction', async () => {
    const { ada } = await evictedCalls()
    const failed = ada.expectCall('message', {}, { since: 'beginning', within: '10ms' })
    await expect(failed).rejects.toThrow(
      /message was not called.*\d+ older entries.*evicted \(journalLimit, memoryLimit\)/s,
    )
  })
})

describe('an eviction after the first expectation', () => {
  it('changes nothing for expectations of later turns, and assertClean fails', async () => {
    const { sim } = simulatorWith(shouting, { journalLimit: 10 })
    const ada = await sim.chat()
    await ada.press('handover')
    await ada.expectCall('start')
    for (let count = 0; count < 30; count++) {
      await ada.says(`${count}`)
      await ada.expectCall('message', { message: `${count}` })
      await ada.expectNone('message', { for: '0s' })
    }
    expect(sim.journal.firstSeq).toBeGreaterThan(10)
    await expect(sim.assertClean()).rejects.toThrow(EVICTED)
  })
})

describe('entries that exceed memoryLimit after the first expectation', () => {
  async function longTest() {
    const { sim, call } = simulatorWith(undefined, { memoryLimit: 100_000 })
    const ada = await sim.chat({ user: { firstName: 'Ada' } })
    await ada.press('handover')
    await call('start', { chat_id: ada.id, sender: ANNA })
    await ada.expectCall('start')
    await call('message', { chat_id: ada.id, message: 'Unwanted', sender: ANNA })
    for (let count = 0; count < 100; count++) await ada.says(`${count} ${'x'.repeat(1000)}`)
    return { sim, ada, call }
  }

  it('assertClean and expectNone of the same turn fail', async () => {
    const { sim, ada } = await longTest()
    await expect(ada.expectNone('message', { for: '0s' })).rejects.toThrow(EVICTED)
    await expect(sim.assertClean()).rejects.toThrow(EVICTED)
  })

  it('expectations about later entries work as before', async () => {
    const { ada, call } = await longTest()
    const missing = ada.expectCall('message', {}, { since: 'beginning', within: '10ms' })
    await expect(missing).rejects.toThrow(/\d{3} older entries.*evicted \(journalLimit, memoryLimit\)/s)
    for (let turn = 0; turn < 50; turn++) {
      await ada.says(`${turn} ${'y'.repeat(1000)}`)
      await ada.expectNone('message', { for: '0s' })
      await call('message', { chat_id: ada.id, message: `Answer ${turn}`, sender: ANNA })
      await ada.expectCall('message', { message: `Answer ${turn}` })
    }
    await ada.says('The last')
    await call('message', { chat_id: ada.id, message: 'Unwanted', sender: ANNA })
    await expect(ada.expectNone('message', { for: '0s' })).rejects.toThrow(/message was called/)
  })
})

describe('a scenario whose journal lost entries', () => {
  const silent = defineScenario({ name: 'Silent' }, [
    press('handover', { ack: 'any' }),
    ...Array.from({ length: 10 }, (_, count) => user(`${count}`, { ack: 'any' })),
    none('message', {}, { for: '0s' }),
  ])

  it('is inconclusive, and names the settings', async () => {
    const { sim } = simulatorWith(undefined, { journalLimit: 20 })
    const run = await runScenario(sim, silent)
    expect(run.outcome).toBe('inconclusive')
    expect(run.scenarios[0]?.reason).toMatchObject({ code: 'evicted' })
    expect(run.report()).toMatch(/INCONCLUSIVE scenario > Silent/)
    expect(run.report().replace(/\s+/g, ' ')).toMatch(EVICTED)
    expect(() => run.assertPassed()).toThrow(EVICTED)
  })

  it('passes with a journal that is long enough', async () => {
    const { sim } = simulatorWith(undefined, { journalLimit: 2_000 })
    expect((await runScenario(sim, silent)).outcome).toBe('pass')
  })

  it('still fails when a call that must not arrive was seen', async () => {
    const { sim } = simulatorWith(shouting, { journalLimit: 20 })
    expect((await runScenario(sim, silent)).outcome).toBe('fail')
  })
})

describe('a check of a transcript that lost messages', () => {
  const scenarioWith = (transcript: object) =>
    defineScenario({ name: 'Long', strict: { unexpected: 'off' }, timeouts: { expect: '50ms' } }, [
      press('handover', { ack: 'any' }),
      user('The first', { ack: 'any' }),
      ...Array.from({ length: 100 }, (_, count) => user(`${count} `.repeat(400), { ack: 'any' })),
      user('The last', { ack: 'any' }),
      check({ transcript }),
    ])
  const outcomeOf = async (transcript: object, memoryLimit: number) => {
    const { sim } = simulatorWith(undefined, { memoryLimit })
    const run = await runScenario(sim, scenarioWith(transcript))
    return { outcome: run.scenarios[0]?.outcome, failures: run.scenarios[0]?.failures }
  }

  it.each([{ lacks: [{ user: 'The first' }] }, { length: 1_000 }])('is not passed: %j', async transcript => {
    expect((await outcomeOf(transcript, 67_108_864)).outcome).toBe('fail')
    expect((await outcomeOf(transcript, 65_536)).outcome).not.toBe('pass')
  })

  it('is inconclusive when only an evicted message could have failed it', async () => {
    const { outcome, failures } = await outcomeOf({ lacks: [{ user: 'The first' }] }, 65_536)
    expect({ outcome, failures }).toMatchObject({
      outcome: 'inconclusive',
      failures: [{ happened: { code: 'messages_evicted' } }],
    })
  })

  it('passes when the messages it needs are there', async () => {
    expect((await outcomeOf({ contains: [{ user: 'The last' }] }, 67_108_864)).outcome).toBe('pass')
  })
})
