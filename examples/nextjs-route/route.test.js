import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSimulator } from 'handover-sim'
import { intercept } from 'handover-sim/interceptors'
import { POST } from './app/webhook/route.js'

const sim = createSimulator({ webhook: { fetch: POST } })
process.env.HANDOVER_URL = sim.baseUrl
process.env.HANDOVER_API_KEY = sim.apiKey
const interception = intercept(sim)

after(() => interception.stop())

test('the route starts a handover', async () => {
  const ada = await sim.chat()
  const { ack } = await ada.press('handover')
  assert.equal(ack.status, 200)
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  assert.equal(ada.status, 'agent')
  await sim.assertClean()
})

test('the route refuses an unsigned event', async () => {
  const forged = new Request('http://127.0.0.1/webhook', { method: 'POST', body: '{}' })
  assert.equal((await POST(forged)).status, 401)
})
