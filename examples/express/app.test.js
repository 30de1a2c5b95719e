import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import axios from 'axios'
import { startSimulator } from 'handover-sim'
import { createApp } from './app.js'

const received = []
let sim
let server
let address

before(async () => {
  sim = await startSimulator({ port: 0 })
  const desk = { receive: event => received.push(event.event) }
  server = createApp({ url: sim.url, key: sim.apiKey, desk }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${server.address().port}`
  await sim.configure({ 'webhook.url': `${address}/webhook` })
})
after(async () => {
  server.close()
  await sim.close()
})

test('an agent accepts a request', async () => {
  const ada = await sim.chat()
  await ada.press('handover')
  assert.deepEqual(received, ['REQUESTING TAKEOVER'])

  const accepted = await axios.post(`${address}/desk/${ada.id}/accept`, { bot_id: sim.botId, agent: 'Anna' })
  assert.equal(accepted.data.event, 'TAKEOVER STARTED')
  await ada.expectCall('start', { sender: { name: 'Anna' } })
  assert.equal(ada.status, 'agent')
  await sim.assertClean()
})

test('the webhook refuses an unsigned event', async () => {
  const forged = await axios.post(`${address}/webhook`, { event: 'MESSAGE FROM USER' }, { validateStatus: () => true })
  assert.equal(forged.status, 401)
  assert.equal(received.length, 1)
})
