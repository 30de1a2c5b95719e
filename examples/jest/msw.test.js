const { createSimulator } = require('handover-sim')
const { MessageRequest } = require('handover-sim/contract')
const { handlers } = require('handover-sim/msw')
const { defineScenario, expectCall, press, runScenario } = require('handover-sim/scenario')
const { setupServer } = require('msw/node')
const { createIntermediary } = require('./intermediary.js')

const sim = createSimulator({
  webhook: {
    fetch: async request => new Response(null, { status: await webhook(await request.text(), request.headers) }),
  },
})
const webhook = createIntermediary({ url: sim.baseUrl, key: sim.apiKey })
const server = setupServer(...handlers(sim))
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterAll(() => server.close())

test('greets a user in German', async () => {
  const ada = await sim.chat({ language: 'de', transcript: 'de-shop' })
  await ada.press('handover')
  await ada.expectCall('start')
  const { body } = await ada.expectCall('message')
  expect(MessageRequest.parse(body).sender.name).toBe('Anna')
})

test('passes a scenario', async () => {
  const greeting = defineScenario({ name: 'Greeting' }, [press('handover'), expectCall('start'), expectCall('message')])
  const run = await runScenario(sim, greeting)
  run.assertPassed()
})
