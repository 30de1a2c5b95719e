import { createSimulator } from 'handover-sim'
import { handlers } from 'handover-sim/msw'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import 'handover-sim/vitest'
import { createIntermediary } from './intermediary.ts'

const sim = createSimulator({ webhook: { fetch: request => intermediary.webhook(request) } })
const intermediary = createIntermediary({ url: sim.baseUrl, key: sim.apiKey })
const server = setupServer(...handlers(sim))

beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterAll(() => server.close())
afterEach(async () => {
  server.resetHandlers()
  await sim.assertClean().finally(() => sim.reset())
})

it('starts a handover, answers and ends it', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  await ada.expectCall('message', { message: /^Hello/ })

  await ada.says('Where is my parcel?')
  await ada.expectCall('message', { message: 'You said: Where is my parcel?' })

  await ada.says('bye')
  await ada.expectCall('end')
  expect(ada.status).toBe('bot')
  expect(ada).toHaveReceived('message', undefined, { times: 2 })
  expect(ada).toHaveDelivered('MESSAGE FROM USER', { message: 'bye' })
})

it('retries after a 503', async () => {
  const start = `${sim.baseUrl}/api/v2/handover/start`
  server.use(http.post(start, () => new HttpResponse(null, { status: 503 }), { once: true }))
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.expectCall('start')
  await ada.expectCall('message')
})

it('refuses an unsigned event', async () => {
  const forged = new Request('http://127.0.0.1/webhook', { method: 'POST', body: '{"event":"MESSAGE FROM USER"}' })
  expect((await intermediary.webhook(forged)).status).toBe(401)
})
