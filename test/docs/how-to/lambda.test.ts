import { afterAll, afterEach, expect, it } from 'vitest'
import { createSimulator, fromLambda } from '../../../src/index.ts'
import { intercept } from '../../../src/testing/interceptors/interceptors.ts'
import { createReceiver, handleQueued } from './lambda.ts'

const queued: string[] = []
const receiver = createReceiver({ send: async text => void queued.push(text) })
const sim = createSimulator({ webhook: fromLambda(receiver, { payload: '1.0', base64: true }) })
const interception = intercept(sim)
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

it('queues the event before it answers, and starts the handover from the queue', async () => {
  const ada = await sim.chat()
  const { ack } = await ada.press('handover')
  expect(ack?.status).toBe(200)
  expect(queued).toHaveLength(1)
  await handleQueued(queued.pop() ?? '')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
})

it('refuses a wrong signature', async () => {
  sim.faults.add({ on: 'webhook', sign: 'wrong-key', times: 1 })
  const { ack } = await (await sim.chat()).press('handover')
  expect(ack?.status).toBe(401)
  expect(queued).toEqual([])
})
