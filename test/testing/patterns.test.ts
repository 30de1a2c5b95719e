/** Patterns that backtrack without end: an expectation with one fails within its time limit, and is never met. */
import { describe, expect, it } from 'vitest'
import { check, defineScenario, expectCall, none, press, $ as re } from '../../src/evaluation/scenario/build/index.ts'
import { ExpectationError } from '../../src/testing/expectation-error.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { ANNA, simulatorWith } from './desk.ts'

expect.extend(matchers as never)

const HOSTILE = `${'a'.repeat(40)}!`
const SLOW = /^(a+)+$/
const TOO_SLOW = /the pattern \/\^\(a\+\)\+\$\/u? took longer than 100 ms on a text of 41 characters; rewrite it/

async function hostileCall() {
  const { sim, call } = simulatorWith()
  const ada = await sim.chat()
  await ada.press('handover')
  await call('start', { chat_id: ada.id, sender: ANNA })
  await call('message', { chat_id: ada.id, message: HOSTILE, sender: ANNA })
  return { sim, ada, call }
}

const patterns = {
  'a RegExp': SLOW,
  'a matcher of the test runner': expect.stringMatching(SLOW),
  'an expected call that is not the pattern': { $not: SLOW },
  'one of several': { $oneOf: [SLOW, HOSTILE] },
  'a backreference': /^(a|aa)*(b?)\2$/,
  'flags and a lookbehind': /^(?<!b)(\p{L}|[a-z])+$/giu,
}

describe('a slow pattern', () => {
  it.each(Object.entries(patterns))('%s makes expectCall fail', async (_, message) => {
    const { ada } = await hostileCall()
    const failed = ada.expectCall('message', { message: message as never })
    const error = await failed.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(ExpectationError)
    const { failure } = error as ExpectationError
    expect(failure).toMatchObject({ kind: 'scenario', happened: { code: 'slow_pattern', length: 41, limitMs: 100 } })
  })

  it('makes expectNone fail, although no call matched', async () => {
    const { ada } = await hostileCall()
    await expect(ada.expectNone('message', { message: SLOW }, { for: '0s' })).rejects.toThrow(TOO_SLOW)
  })

  it('makes matchers fail, with and without not', async () => {
    const { sim, ada } = await hostileCall()
    expect(() => expect(ada).toHaveReceived('message', { message: SLOW })).toThrow(TOO_SLOW)
    expect(() => expect(sim).not.toHaveReceived('message', { message: SLOW })).toThrow(TOO_SLOW)
    expect(() => expect(ada).not.toHaveDelivered('MESSAGE FROM USER', { message: SLOW })).not.toThrow()
  })

  it('makes assertClean fail when it only appears after the expectation was met', async () => {
    const { sim, ada, call } = await hostileCall()
    await call('message', { chat_id: ada.id, message: 'aaa', sender: ANNA })
    await ada.expectCall('message', { message: HOSTILE })
    await ada.expectCall('message', { message: SLOW })
    await call('message', { chat_id: ada.id, message: HOSTILE, sender: ANNA })
    await expect(sim.assertClean()).rejects.toThrow(TOO_SLOW)
  })

  it('is tested once: further calls cost nothing', async () => {
    const { ada, call } = await hostileCall()
    for (let count = 0; count < 200; count++) await call('message', { chat_id: ada.id, message: HOSTILE, sender: ANNA })
    const before = performance.now()
    await expect(ada.expectCall('message', { message: SLOW })).rejects.toThrow(TOO_SLOW)
    expect(performance.now() - before).toBeLessThan(5_000)
  })
})

describe('other patterns', () => {
  it('are tested as ever on long texts, with nested repetition, and with flags', async () => {
    const { ada, call } = await hostileCall()
    await call('message', { chat_id: ada.id, message: 'Hello '.repeat(100), sender: ANNA })
    await ada.expectCall('message', { message: /^(\w+\s)+$/g })
    await call('message', { chat_id: ada.id, message: 'Hello '.repeat(100), sender: ANNA })
    await ada.expectCall('message', { message: expect.stringMatching(/HELLO/iy) })
  })
})

it('a long hostile address does not slow assertClean down', async () => {
  const { sim } = simulatorWith()
  const headers = { authorization: `Bearer ${sim.apiKey}` }
  await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/none?${'?key'.repeat(20_000)}`, { headers }))
  const before = performance.now()
  await expect(sim.assertClean()).rejects.toThrow(ExpectationError)
  expect(performance.now() - before).toBeLessThan(5_000)
})

describe('a scenario with a slow pattern', () => {
  /** A pattern with a placeholder is known only when the scenario runs. */
  const slow = re.re('^($(letter)+)+$')
  const vars = { letter: 'a' }
  const scenarios = {
    expect: defineScenario({ name: 'Expect', vars }, [press('handover'), expectCall('message', { message: slow })]),
    none: defineScenario({ name: 'None', vars }, [
      press('handover'),
      none('message', { message: slow }, { for: '0s' }),
    ]),
    never: defineScenario(
      { name: 'Never', vars, strict: { unexpected: 'off' }, never: [{ message: { message: slow } }] },
      [press('handover')],
    ),
    check: defineScenario({ name: 'Check', vars, strict: { unexpected: 'off' } }, [
      press('handover'),
      check({ transcript: { lacks: [{ agent: 'Anna', text: slow }] } }),
    ]),
  }

  it.each(Object.entries(scenarios))(
    '%s: is an error of the scenario, not a failure and not a pass',
    async (_, scenario) => {
      const { sim } = simulatorWith(async ({ event, chat }, call) => {
        if (event !== 'REQUESTING TAKEOVER') return
        await call('start', { chat_id: chat.id, sender: ANNA })
        await call('message', { chat_id: chat.id, message: HOSTILE, sender: ANNA })
      })
      const run = await runScenario(sim, scenario)
      expect(run.scenarios[0]).toMatchObject({ outcome: 'error', reason: { code: 'scenario' } })
      expect(run.report().replace(/\s+/g, ' ')).toMatch(TOO_SLOW)
    },
  )
})
