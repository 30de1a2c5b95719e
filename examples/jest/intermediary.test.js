const { createSimulator, ExpectationError } = require('handover-sim')
const { intercept } = require('handover-sim/interceptors')
const { createIntermediary } = require('./intermediary.js')

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

test('greets once', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.expectCall('start')
  await ada.expectCall('message')
  await expect(ada.expectCall('message', {}, { within: '0s' })).rejects.toThrow(ExpectationError)
})

test('refuses an unsigned event', async () => {
  expect(await webhook('{"event":"REQUESTING TAKEOVER"}', {})).toBe(401)
})
