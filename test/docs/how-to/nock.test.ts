import nock from 'nock'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { type Interception, intercept } from '../../../src/testing/interceptors/interceptors.ts'

const sim = createSimulator({ baseUrl: 'https://bot.example.test' })

let interception: Interception
beforeAll(() => {
  nock.disableNetConnect()
  nock.enableNetConnect('bot.example.test')
  interception = intercept(sim)
})
afterEach(() => {
  nock.cleanAll()
  return sim.assertClean().finally(() => sim.reset())
})
afterAll(() => {
  interception.stop()
  nock.enableNetConnect()
  nock.restore()
})

it('reports availability after a look at the calendar', async () => {
  nock('https://calendar.example.test').get('/today').reply(200, { availability: 'OPEN' })

  const { availability } = await (await fetch('https://calendar.example.test/today')).json()
  await fetch(`${sim.baseUrl}/api/v2/handover/availability`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ availability }),
  })

  await sim.expectCall('availability')
  expect(nock.isDone()).toBe(true)
})

it('keeps every other address off the network', async () => {
  await expect(fetch('https://elsewhere.example.test')).rejects.toThrow()
})
