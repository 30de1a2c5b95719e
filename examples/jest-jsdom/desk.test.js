const { createSimulator } = require('handover-sim')
const { intercept } = require('handover-sim/interceptors')
const { addTakeOverButton } = require('./desk.js')

const sim = createSimulator()

let interception
beforeAll(() => {
  interception = intercept(sim)
})
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

test('an agent takes a chat over', async () => {
  const ada = await sim.chat() // no press: a page gets no events
  const button = addTakeOverButton(document.body, {
    url: sim.baseUrl,
    key: sim.apiKey,
    botId: sim.botId,
    chatId: ada.id,
  })
  button.click()
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  expect(ada.status).toBe('agent')
})
