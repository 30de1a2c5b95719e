import { createSimulator, InvalidOptionError, type ReceivedCall } from 'handover-sim'
import { type Interception, intercept } from 'handover-sim/interceptors'
import { createIntermediary } from './intermediary'

const sim = createSimulator({ webhook: { fetch: request => webhook(request) } })
const webhook = createIntermediary({ url: sim.baseUrl, key: sim.apiKey })

let interception: Interception
beforeAll(() => {
  interception = intercept(sim)
})
afterAll(() => interception.stop())
afterEach(() => sim.assertClean().finally(() => sim.reset()))

test('greets a user who asks for an agent', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  const start: ReceivedCall<'start'> = await ada.expectCall('start', { sender: { name: expect.any(String) } })
  expect(start.body.sender?.name).toBe('Anna')
  await ada.expectCall('message', { message: /Anna/ })
  expect(ada.status).toBe('agent')
})

test('finds a call that does not exist', async () => {
  const ada = await sim.chat()
  // @ts-expect-error no such call
  await expect(ada.expectCall('begin')).rejects.toThrow(InvalidOptionError)
})
