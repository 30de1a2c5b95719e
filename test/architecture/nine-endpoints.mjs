// Calls all nine endpoints of the built package in this process and prints one line of JSON. Plain JavaScript, so that it
// runs on every supported version of Node.
import { createSimulator, VERSION } from 'handover-sim'

const events = []
const fetch = async request => {
  events.push((await request.json()).event)
  return new Response('ok')
}
const sim = createSimulator({ webhook: { fetch } })
const chat = await sim.chat({ transcript: 'en-shop' })
await chat.press('handover')

const ids = { bot_id: sim.botId, chat_id: chat.id }
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const answers = {
  transcript: await post('transcript', ids),
  summarize: await post('summarize', ids),
  start: await post('start', { ...ids, sender, supports_attachment: true }),
  typing_start: await post('typing_start', ids),
  typing_stop: await post('typing_stop', ids),
  message: await post('message/', { ...ids, sender, message: 'Hello' }),
  end: await post('end', { ...ids, sender }),
  availability: await post('availability', { availability: 'CLOSED', queue: 'DEFAULT', reason: 'OTHER' }),
  chat: await call(`/api/v1/chats/${chat.id}`, { headers: { authorization: `Bearer ${sim.botApiKey}` } }),
}
await sim.settled()
await sim.close()
process.stdout.write(`${JSON.stringify({ version: VERSION, answers, events })}\n`)

function post(name, body) {
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  return call(`/api/v2/handover/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function call(path, init) {
  const response = await sim.fetch(new Request(sim.baseUrl + path, init))
  const body = await response.json()
  return { status: response.status, event: body.event, fields: Object.keys(body) }
}
