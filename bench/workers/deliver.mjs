/**
 * Sends signed deliveries whenever its parent says how many: of the simulator, or of bare undici with the same HMAC over
 * a body of the same size. Arguments: `simulator` or `bare`, the URL of the webhook, how many are in flight.
 */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'

const [kind, url, inFlight] = [process.argv[2], process.argv[3], Number(process.argv[4])]

/** The body has the fields and the size of the event that the simulator sends. */
function bareSender() {
  const dispatcher = new Agent({ connections: inFlight, pipelining: 1 })
  return async count => {
    let left = count
    const sendUntilDone = async () => {
      while (left-- > 0) {
        const body = JSON.stringify({ event: 'AGENT TYPING STOP', chat_id: `74337c4d-ea28-4873-829b-2dd7b9f3${left}` })
        const signature = createHmac('sha256', 'sim-handover-key').update(body).digest('base64')
        const headers = { 'content-type': 'application/json', 'kindly-hmac': signature }
        const response = await request(url, { method: 'POST', headers, body, dispatcher })
        if (response.statusCode !== 200) throw new Error(`The receiver answered ${response.statusCode}`)
        await response.body.text()
      }
    }
    await Promise.all(Array.from({ length: inFlight }, sendUntilDone))
  }
}

/** Each typing call causes one event. All calls are made at once, and their cost is part of the figure. */
async function simulatorSender() {
  const { createSimulator } = await import('../../dist/index.js')
  const sim = createSimulator({ clock: 'real', webhook: { url } })
  const chats = await Promise.all(Array.from({ length: inFlight }, () => sim.chat()))
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const bodies = chats.map(chat => Buffer.from(JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })))
  const call = { method: 'POST', target: '/api/v2/handover/typing_stop', headers }
  return async count => {
    for (let i = 0; i < count; i++) sim.handle({ ...call, body: bodies[i % inFlight] })
    await sim.settled()
    const failed = sim.deliveries.find(delivery => delivery.outcome !== 'delivered')
    if (failed) throw new Error(`A delivery failed: ${failed.failure?.code}`)
  }
}

const send = kind === 'bare' ? bareSender() : await simulatorSender()
process.on('message', async ({ count }) => {
  const from = performance.now()
  await send(count)
  process.send({ seconds: (performance.now() - from) / 1000 })
})
process.stdout.write('ready\n')
