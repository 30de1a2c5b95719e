/**
 * Prints the microseconds of a call that this process makes in some of WAYS, after as many calls to warm up. Arguments: the ways
 * with commas, how many calls a slice has; for deliveries, the URL of the webhook and in how many chats.
 */
import { createHmac } from 'node:crypto'
import { createSimulator } from '../../dist/index.js'

const [ways, calls, url, chatCount = 1] = process.argv.slice(2)
const count = Number(calls)
const sim = createSimulator({ clock: 'real', ...(url && { webhook: { url } }) })
const chats = await Promise.all(Array.from({ length: Number(chatCount) }, () => sim.chat()))
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const post = (endpoint, more) => [
  `${sim.baseUrl}/api/v2/handover/${endpoint}`,
  { method: 'POST', headers, body: JSON.stringify({ bot_id: sim.botId, chat_id: chats[0].id, sender, ...more }) },
]
const message = post('message/', { message: 'Hello, this is Anna. How can I help you today?' })
// As over the network: without a takeover, each answer would explain what the simulator assumes.
await sim.fetch(...post('start'))

async function bareAnswer(request) {
  const { chat_id } = await request.json()
  return Response.json({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })
}

async function accept(response) {
  if (response.status !== 200) throw new Error(`A message got ${response.status}`)
  return await response.text()
}

const repeat = call => async () => {
  for (let made = 0; made < count; made++) await call()
}

async function fetchThrough(...handlers) {
  const { setupServer } = await import('msw/node')
  setupServer(...handlers).listen({ onUnhandledRequest: 'error' })
  return repeat(async () => accept(await fetch(...message)))
}

const WAYS = {
  bareFetch: () => repeat(async () => accept(await bareAnswer(new Request(...message)))),
  fetch: () => repeat(async () => accept(await sim.fetch(new Request(...message)))),
  async bareMsw() {
    const { http } = await import('msw')
    return await fetchThrough(http.post(message[0], ({ request }) => bareAnswer(request)))
  },
  async msw() {
    const { handlers } = await import('../../dist/msw.js')
    return await fetchThrough(...handlers(sim))
  },
  create: () =>
    repeat(async () => {
      const created = createSimulator()
      await created.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] })
      created.reset()
    }),
  /** Each typing call causes one event. All calls are made at once, and their cost is part of the figure. */
  deliveries: () => async () => {
    const bodies = chats.map(chat => Buffer.from(JSON.stringify({ bot_id: sim.botId, chat_id: chat.id })))
    const call = { method: 'POST', target: '/api/v2/handover/typing_stop', headers }
    for (let made = 0; made < count; made++) sim.handle({ ...call, body: bodies[made % bodies.length] })
    await sim.settled()
    const failed = sim.deliveries.find(delivery => delivery.outcome !== 'delivered')
    if (failed) throw new Error(`A delivery failed: ${failed.failure?.code}`)
  },
  /** Bare undici with a connection for each chat, and the same HMAC over a body of the same size. */
  async bareDeliveries() {
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ connections: chats.length, pipelining: 1 })
    const sendShare = async ({ id }) => {
      for (let made = 0; made < count / chats.length; made++) {
        const body = JSON.stringify({ event: 'AGENT TYPING STOP', chat_id: id })
        const signature = createHmac('sha256', 'sim-handover-key').update(body).digest('base64')
        const signed = { 'content-type': 'application/json', 'kindly-hmac': signature }
        const response = await request(url, { method: 'POST', headers: signed, body, dispatcher })
        if (response.statusCode !== 200) throw new Error(`The receiver answered ${response.statusCode}`)
        await response.body.text()
      }
    }
    return () => Promise.all(chats.map(sendShare))
  },
}

const SLICES = 10
const measured = await Promise.all(ways.split(',').map(way => WAYS[way]()))

/** Makes the calls in alternate slices. Each ends with a turn of the event loop, for the work that the calls left for it. */
async function measure() {
  const microseconds = measured.map(() => 0)
  for (let slice = 0; slice < SLICES; slice++)
    for (const [index, makeCalls] of measured.entries()) {
      const from = performance.now()
      await makeCalls()
      await new Promise(resolve => setImmediate(resolve))
      microseconds[index] += ((performance.now() - from) * 1000) / SLICES / count
    }
  return microseconds
}

await measure()
process.stdout.write(`${JSON.stringify(await measure())}\n`)
process.exit(0)
