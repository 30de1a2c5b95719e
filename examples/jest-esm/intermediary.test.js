import { createSimulator } from 'handover-sim'
import { intercept } from 'handover-sim/interceptors'
import { createIntermediary } from './intermediary.js'

const sim = createSimulator({
  webhook: {
    fetch: async request => new Response(null, { status: await webhook(await request.text(), request.headers) }),
  },
})
const webhook = createIntermediary({ url: sim.baseUrl, key: sim.apiKey })

let interception
beforeAll(() => {
  interception = intercept(sim)
})
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

test('greets a user who asks for an agent', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  const start = await ada.expectCall('start', { sender: { name: expect.any(String) } })
  expect(start.status).toBe(200)
  await ada.expectCall('message', { message: /Anna/ })
  expect(ada.status).toBe('agent')
})

test('refuses an unsigned event', async () => {
  expect(await webhook('{"event":"REQUESTING TAKEOVER"}', {})).toBe(401)
})
