import { afterAll, afterEach, expect, it } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { intercept } from '../../../src/testing/interceptors/interceptors.ts'
import worker from './worker.ts'

const env = { BOT_URL: 'https://bot.example.test', BOT_KEY: 'sim-handover-key' }
const sim = createSimulator({ baseUrl: env.BOT_URL, webhook: { ...worker, env } })
const interception = intercept(sim)
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

it('starts the handover after its answer', async () => {
  const ada = await sim.chat()
  const { ack } = await ada.press('handover')
  expect(ack?.status).toBe(200)
  await sim.settled()
  expect(ada.status).toBe('agent')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
})

it('loses the request when the platform fails', async () => {
  sim.faults.add({ on: { api: 'start' }, respond: { status: 503 }, times: 1 })
  await (await sim.chat()).press('handover')
  await expect(sim.assertClean()).rejects.toThrow('gave to waitUntil for REQUESTING TAKEOVER rejected')
  sim.reset()
})
