import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startSimulator } from 'handover-sim'
import { createApp } from './app.js'

let sim
let app

before(async () => {
  sim = await startSimulator({ port: 0 })
  app = createApp({ url: sim.url, key: sim.apiKey })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await sim.configure({ 'webhook.url': `${address}/webhook` })
})
after(async () => {
  await app.close()
  await sim.close()
})

test('an agent accepts a request and answers', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  await ada.says('Hello?')
  await ada.expectCall('message', { message: 'You said: Hello?' })
  await sim.assertClean()
})

test('the webhook refuses an unsigned event', async () => {
  const forged = await app.inject({ method: 'POST', url: '/webhook', payload: { event: 'MESSAGE FROM USER' } })
  assert.equal(forged.statusCode, 401)
})
