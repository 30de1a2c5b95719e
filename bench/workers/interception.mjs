/**
 * Measures microseconds per POST message that `fetch` sends through msw, and through the interceptors, beside a bare msw
 * handler. Prints one JSON line.
 */
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { createSimulator } from '../../dist/index.js'
import { intercept } from '../../dist/interceptors.js'
import { handlers } from '../../dist/msw.js'
import { alternately } from './alternately.mjs'

const scale = Number(process.argv[2] ?? 1)
const sim = createSimulator({ clock: 'real' })
const chat = await sim.chat()
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const body = JSON.stringify({
  bot_id: sim.botId,
  chat_id: chat.id,
  message: 'Hello, this is Anna. How can I help you today?',
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
})
const PATH = '/api/v2/handover/message/'
const BARE = 'https://bare.example.test'

async function send(base) {
  const response = await fetch(base + PATH, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(`A message got ${response.status}`)
  return await response.text()
}

const bareHandler = http.post(BARE + PATH, async ({ request }) => {
  const { chat_id } = await request.json()
  return HttpResponse.json({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })
})

/** Both patch the same clients, so only one of them listens at a time. */
function withMsw(call) {
  const server = setupServer(bareHandler, ...handlers(sim))
  return { before: () => server.listen({ onUnhandledRequest: 'error' }), call, after: () => server.close() }
}

let interception
const measured = await alternately(9, {
  bareMsw: { count: 300 * scale, ...withMsw(() => send(BARE)) },
  msw: { count: 300 * scale, ...withMsw(() => send(sim.baseUrl)) },
  intercepted: {
    count: 300 * scale,
    before() {
      interception = intercept(sim)
    },
    call: () => send(sim.baseUrl),
    after: () => interception.stop(),
  },
})
process.stdout.write(`${JSON.stringify(measured)}\n`)
process.exit(0)
