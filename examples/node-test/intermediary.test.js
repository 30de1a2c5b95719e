import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createSimulator } from 'handover-sim'
import { intercept } from 'handover-sim/interceptors'
import { $, defineScenario, expectCall, press, runScenario } from 'handover-sim/scenario'
import { createIntermediary } from './intermediary.js'

const sim = createSimulator({ webhook: { fetch: request => webhook(request) } })
const webhook = createIntermediary({ url: sim.baseUrl, key: sim.apiKey })

let interception
before(() => {
  interception = intercept(sim)
})
after(() => interception.stop())
afterEach(() => sim.reset())

test('greets a user who asks for an agent', async () => {
  const ada = await sim.chat({ language: 'nb' })
  await ada.press('handover')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  await ada.expectCall('message', { message: /Anna/ })
  assert.equal(ada.status, 'agent')
  await sim.assertClean()
})

test('greets, tested by a scenario', async () => {
  const greeting = defineScenario({ name: 'Greeting' }, [
    press('handover'),
    expectCall('start', { sender: { name: $.type('string') } }),
    expectCall('message', { message: $.re(/Anna/) }),
  ])
  const run = await runScenario(sim, greeting)
  run.assertPassed()
})
