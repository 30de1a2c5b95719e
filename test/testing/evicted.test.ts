/** Checks of absence fail when the entries that would show the call were evicted from the journal. */
import { expect, it } from 'vitest'
import { check, defineScenario, none, press, user } from '../../src/evaluation/scenario/build/index.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { ANNA, requestHandover, shouting, simulatorWith } from './desk.ts'

expect.extend(matchers as never)

const EVICTED = /the journal no longer has the entries before #\d+.*raise\s+journalLimit\s+or\s+memoryLimit/s
const NOW = { for: '0s' } as const

/** A chat whose calls of `start` and `message` were evicted, and a simulator without an expectation so far. */
async function evictedCalls() {
  const { sim, call, ada } = await requestHandover(undefined, { journalLimit: 10 })
  await call('start', { chat_id: ada.id, sender: ANNA })
  await call('message', { chat_id: ada.id, message: 'Unwanted', sender: ANNA })
  for (let count = 0; count < 10; count++) await ada.says(`${count}`)
  expect(sim.journal.firstSeq).toBeGreaterThan(8)
  expect(sim.journal.query({ kind: 'api' })).toEqual([])
  return { sim, ada, call }
}

it('expectNone fails, of a chat and of the bot, but passes for a later turn and for a new chat', async () => {
  const { sim, ada, call } = await evictedCalls()
  await expect(ada.expectNone('message', NOW)).rejects.toThrow(EVICTED)
  await expect(sim.expectNone('availability', NOW)).rejects.toThrow(EVICTED)
  await ada.says('Another turn')
  await ada.expectNone('message', NOW)
  const bob = await sim.chat()
  await bob.expectNone('message', NOW)
  await bob.press('handover')
  await call('start', { chat_id: bob.id, sender: ANNA })
  await expect(bob.expectNone('start', NOW)).rejects.toThrow(/start was called/)
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
  expect(await sim.chat()).not.toHaveReceived('message')
})

it('a missing call names the eviction', async () => {
  const { ada } = await evictedCalls()
  const failed = ada.expectCall('message', {}, { since: 'beginning', within: '10ms' })
  await expect(failed).rejects.toThrow(
    /message was not called.*\d+ older entries.*evicted \(journalLimit, memoryLimit\)/s,
  )
})

it.each([{ journalLimit: 10 }, { memoryLimit: 100_000 }])(
  '%j: concerns assertClean, not later turns',
  async options => {
    const { sim, ada } = await requestHandover(shouting, options)
    await ada.expectCall('start')
    for (let count = 0; count < 60; count++) {
      const text = `${count} ${'X'.repeat(1000)}`
      await ada.says(text)
      await ada.expectCall('message', { message: text })
      await ada.expectNone('message', NOW)
    }
    const failure = { kind: 'evicted', code: 'evicted' }
    await expect(sim.assertClean()).rejects.toMatchObject({ message: expect.stringMatching(EVICTED), failure })
  },
)

const silent = defineScenario({ name: 'Silent' }, [
  press('handover', { ack: 'any' }),
  ...Array.from({ length: 10 }, (_, count) => user(`${count}`, { ack: 'any' })),
  none('message', {}, NOW),
])

it.each([
  ['inconclusive', undefined, 20],
  ['pass', undefined, 2_000],
  ['fail', shouting, 20],
] as const)('a scenario is %s, when the journal lost entries or shows enough', async (outcome, on, journalLimit) => {
  const run = await runScenario(simulatorWith(on, { journalLimit }).sim, silent)
  expect(run.outcome).toBe(outcome)
  if (outcome !== 'inconclusive') return
  expect(run.scenarios).toMatchObject([{ outcome, reason: { code: 'evicted' } }])
  expect(run.assertPassed).toThrow(EVICTED)
})

const [LARGE, SMALL] = [67_108_864, 65_536]
it.each([
  [{ lacks: [{ user: 'The first' }] }, LARGE, 'fail', undefined],
  [{ lacks: [{ user: 'The first' }] }, SMALL, 'inconclusive', 'messages_evicted'],
  [{ length: 1_000 }, SMALL, expect.not.stringMatching('pass'), undefined],
  [{ contains: [{ user: 'The last' }] }, LARGE, 'pass', undefined],
])('a check of a transcript, %j with memoryLimit %i: %s', async (transcript, memoryLimit, outcome, code) => {
  const { sim } = simulatorWith(undefined, { memoryLimit })
  const texts = ['The first', ...Array.from({ length: 100 }, (_, count) => `${count} `.repeat(400)), 'The last']
  const said = texts.map(text => user(text, { ack: 'any' }))
  const settings = { name: 'Long', strict: { unexpected: 'off' }, timeouts: { expect: '1ms' } } as const
  const steps = [press('handover', { ack: 'any' }), ...said, check({ transcript })]
  const { scenarios } = await runScenario(sim, defineScenario(settings, steps))
  expect(scenarios[0]?.outcome).toEqual(outcome)
  if (code !== undefined) expect(scenarios[0]?.failures).toMatchObject([{ code }])
})
