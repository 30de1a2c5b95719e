/**
 * Measures microseconds per POST message without a socket: as plain data, beside a bare function that parses and writes the
 * same JSON; and through `fetch`, beside a bare fetch handler; and of creation and reset. Prints one JSON line.
 */
import { createSimulator } from '../../dist/index.js'
import { alternately } from './alternately.mjs'

const scale = Number(process.argv[2] ?? 1)
const sim = createSimulator({ clock: 'real' })
const chat = await sim.chat()
const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
const about = {
  bot_id: sim.botId,
  chat_id: chat.id,
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
}
const text = JSON.stringify({ ...about, message: 'Hello, this is Anna. How can I help you today?' })
const bytes = Buffer.from(text)
const handover = '/api/v2/handover/'
const target = `${handover}message/`
const request = () => new Request(`${sim.baseUrl}${target}`, { method: 'POST', headers, body: text })

// As in the bench over the network: without a takeover, each answer would explain what the simulator assumes.
const started = await sim.fetch(`${sim.baseUrl}${handover}start`, {
  method: 'POST',
  headers,
  body: JSON.stringify(about),
})
if (started.status !== 200) throw new Error(`The takeover got ${started.status}`)

const JSON_HEADERS = { 'content-type': 'application/json' }
const answerTo = ({ chat_id }) =>
  JSON.stringify({ event: 'MESSAGE SENT TO USER', chat_id, chatmessage_id: '76a5725c85ec97249e11de8e' })

/** The least that an answer from plain data costs, on this machine at this time. */
const barePlain = received => ({ status: 200, headers: JSON_HEADERS, body: answerTo(JSON.parse(received.toString())) })

const bareHandler = async incoming => new Response(answerTo(await incoming.json()), { headers: JSON_HEADERS })

async function answered(response) {
  if (response.status !== 200) throw new Error(`A message got ${response.status}`)
  return await response.text()
}

const used = createSimulator({ clock: 'real' })
const measured = await alternately(12, {
  barePlain: { count: 8000 * scale, call: () => barePlain(bytes) },
  plain: { count: 8000 * scale, call: () => sim.handle({ method: 'POST', target, headers, body: bytes }) },
  bareFetch: { count: 3000 * scale, call: async () => answered(await bareHandler(request())) },
  fetch: { count: 3000 * scale, call: async () => answered(await sim.fetch(request())) },
  create: { count: 300 * scale, call: () => createSimulator().reset() },
  reset: {
    count: 300 * scale,
    async call() {
      await used.chat({ history: [{ user: 'Hi' }, { bot: 'Hello' }] })
      used.reset()
    },
  },
})
process.stdout.write(`${JSON.stringify(measured)}\n`)
process.exit(0)
