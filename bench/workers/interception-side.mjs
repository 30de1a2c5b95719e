/**
 * Sends messages with `fetch`, in one way: as many as its parent process asks for, and returns what they took. Each way
 * has a process of its own: in one process, each would pay for clients that the other has patched and restored.
 */
import { createSimulator } from '../../dist/index.js'

const sim = createSimulator({ clock: 'real' })
const chat = await sim.chat()
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const about = { bot_id: sim.botId, chat_id: chat.id, sender }
const body = JSON.stringify({ ...about, message: 'Hello, this is Anna. How can I help you today?' })
const HANDOVER = `${sim.baseUrl}/api/v2/handover/`
const ADDRESS = `${HANDOVER}message/`
// As in the bench over the network: without a takeover, each answer would explain what the simulator assumes.
await sim.fetch(`${HANDOVER}start`, { method: 'POST', headers, body: JSON.stringify(about) })

const answerTo = chat_id => ({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })

/** Begins to answer the requests to the simulator's address. */
const SIDES = {
  async bareMsw() {
    const { HttpResponse, http } = await import('msw')
    await listen(http.post(ADDRESS, async ({ request }) => HttpResponse.json(answerTo((await request.json()).chat_id))))
  },
  async msw() {
    const { handlers } = await import('../../dist/msw.js')
    await listen(...handlers(sim))
  },
  async intercepted() {
    const { intercept } = await import('../../dist/interceptors.js')
    intercept(sim)
  },
  /** What is left when the API costs nothing. */
  async fixedAnswer() {
    const { intercept } = await import('../../dist/interceptors.js')
    const text = JSON.stringify(answerTo(chat.id))
    const fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } })
    intercept({ baseUrl: sim.baseUrl, fetch })
  },
}

async function listen(...handlers) {
  const { setupServer } = await import('msw/node')
  setupServer(...handlers).listen({ onUnhandledRequest: 'error' })
}

async function send() {
  const response = await fetch(ADDRESS, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(`A message got ${response.status}`)
  return await response.text()
}

/** Ends with a turn of the event loop, so that the work that the messages left for it is counted too. */
async function sendMany(count) {
  const from = performance.now()
  for (let i = 0; i < count; i++) await send()
  await new Promise(resolve => setImmediate(resolve))
  return (performance.now() - from) * 1000
}

/** Processor time of this process so far. */
function processorUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

process.on('message', async count => {
  const beforeUs = processorUs()
  const wallUs = await sendMany(count)
  process.send({ wallUs, beforeUs, afterUs: processorUs() })
})
process.on('disconnect', () => process.exit())
await SIDES[process.argv[2]]()
process.send('ready')
