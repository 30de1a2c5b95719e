/** Patterns that backtrack without end: an expectation with one fails within its time limit, and is never met. */
import { expect, it } from 'vitest'
import { check, defineScenario, expectCall, none, press, $ as re } from '../../src/evaluation/scenario/build/index.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { matchers } from '../../src/testing/vitest/matchers.ts'
import { ANNA, failureOf, requestHandover, simulatorWith } from './desk.ts'

expect.extend(matchers as never)

const HOSTILE = `${'a'.repeat(40)}!`
const SLOW = /^(a+)+$/
const TOO_SLOW = /the pattern \/\^\(a\+\)\+\$\/u? took longer than 500 ms on a text of 41 characters; rewrite it/

async function hostileCall() {
  const { sim, call, ada } = await requestHandover()
  const message = (text: string) => call('message', { chat_id: ada.id, message: text, sender: ANNA })
  await call('start', { chat_id: ada.id, sender: ANNA })
  await message(HOSTILE)
  return { sim, ada, message }
}

it.each([
  ['a RegExp', SLOW],
  ['a matcher of the test runner', expect.stringMatching(SLOW)],
  ['flags and a lookbehind', /^(?<!b)(\p{L}|[a-z])+$/giu],
])('%s makes expectCall fail', async (_, message) => {
  const { ada } = await hostileCall()
  const { failure } = await failureOf(ada.expectCall('message', { message: message as never }))
  expect(failure).toMatchObject({ kind: 'scenario', code: 'slow_pattern', details: { length: 41, limitMs: 500 } })
})

it('makes expectNone and matchers fail, with and without not, although no call matched', async () => {
  const { sim, ada } = await hostileCall()
  await expect(ada.expectNone('message', { message: SLOW }, { for: '0s' })).rejects.toThrow(TOO_SLOW)
  expect(() => expect(ada).toHaveReceived('message', { message: SLOW })).toThrow(TOO_SLOW)
  expect(() => expect(sim).not.toHaveReceived('message', { message: SLOW })).toThrow(TOO_SLOW)
  expect(() => expect(ada).not.toHaveDelivered('MESSAGE FROM USER', { message: SLOW })).not.toThrow()
})

it('makes assertClean fail when it only appears after the expectation was met', async () => {
  const { sim, ada, message } = await hostileCall()
  await message('aaa')
  await ada.expectCall('message', { message: HOSTILE })
  await ada.expectCall('message', { message: SLOW })
  await message(HOSTILE)
  await expect(sim.assertClean()).rejects.toThrow(TOO_SLOW)
})

it('other patterns are tested on long texts, with nested repetition, and with flags', async () => {
  const { ada, message } = await hostileCall()
  await message('Hello '.repeat(100))
  await ada.expectCall('message', { message: /^(\w+\s)+$/g })
  await message('Hello '.repeat(100))
  await ada.expectCall('message', { message: expect.stringMatching(/HELLO/iy) })
})

/** A pattern with a placeholder is known only when the scenario runs. */
const slow = re.re('^($(letter)+)+$')
const vars = { letter: 'a' }
const strict = { unexpected: 'off' } as const
const never = [{ message: { message: slow } }]
const lacks = { transcript: { lacks: [{ agent: 'Anna', text: slow }] } }

it.each([
  defineScenario({ name: 'expect', vars }, [press('handover'), expectCall('message', { message: slow })]),
  defineScenario({ name: 'none', vars }, [press('handover'), none('message', { message: slow }, { for: '0s' })]),
  defineScenario({ name: 'never', vars, strict, never }, [press('handover')]),
  defineScenario({ name: 'check', vars, strict }, [press('handover'), check(lacks)]),
])('in $name of a scenario, it is an error of the scenario, not a failure and not a pass', async scenario => {
  const { sim } = simulatorWith(async ({ event, chat }, call) => {
    if (event !== 'REQUESTING TAKEOVER') return
    await call('start', { chat_id: chat.id, sender: ANNA })
    await call('message', { chat_id: chat.id, message: HOSTILE, sender: ANNA })
  })
  const run = await runScenario(sim, scenario)
  expect(run.scenarios[0]).toMatchObject({ outcome: 'error', reason: { code: 'scenario' } })
  expect(run.report().replace(/\s+/g, ' ')).toMatch(TOO_SLOW)
})
