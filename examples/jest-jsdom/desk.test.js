const { createSimulator, fromNode } = require('handover-sim')
const { intercept } = require('handover-sim/interceptors')
const { addTakeOverButton } = require('./desk.js')

// The page under test gets no events: they are acknowledged here.
const sim = createSimulator({ webhook: fromNode((request, response) => response.end()) })

let interception
beforeAll(() => {
  interception = intercept(sim)
})
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

test('an agent takes a chat over', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
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
