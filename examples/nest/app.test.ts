import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { createSimulator, fromNode } from 'handover-sim'
import { intercept } from 'handover-sim/interceptors'
import { createApp } from './app.js'

const app = await createApp()
const sim = createSimulator({ webhook: fromNode(app, { path: '/hooks/platform' }) })
const interception = intercept(sim)

afterEach(async () => {
  await sim.assertClean()
  sim.reset()
})
after(async () => {
  interception.stop()
  await app.close()
})

test('the agent takes over', async () => {
  const ada = await sim.chat()
  const { ack } = await ada.press('handover')
  assert.equal(ack?.status, 200)
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  assert.equal(ada.status, 'agent')
})

test('an event with a wrong signature is refused', async () => {
  sim.faults.add({ on: 'webhook', sign: 'wrong-key', times: 1 })
  const { ack } = await (await sim.chat()).press('handover')
  assert.equal(ack?.status, 401)
})
