import { afterAll, afterEach, expect, it } from 'vitest'
import { createSimulator, fromNode } from '../../../src/index.ts'
import { intercept } from '../../../src/testing/interceptors/interceptors.ts'
import { app } from './app.ts'

const sim = createSimulator({ webhook: fromNode(app) })
const interception = intercept(sim)
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

it('takes over', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  expect(ada.status).toBe('agent')
})

it('refuses a wrong signature', async () => {
  sim.faults.add({ on: 'webhook', sign: 'wrong-key', times: 1 })
  const { ack } = await (await sim.chat()).press('handover')
  expect(ack?.status).toBe(401)
})
