// The program under test: an agent called Anna greets every user who asks for an agent. It calls the platform with fetch.
import { verifyRequest } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export const createIntermediary = platform => async request => {
  const { ok, body, reason } = await verifyRequest(request, platform.key)
  if (!ok) return new Response(reason, { status: 401 })
  // The event is acknowledged: later errors are logged and must not end the process.
  handle(platform, JSON.parse(body)).catch(console.error)
  return new Response(null, { status: 200 })
}

async function handle(platform, event) {
  if (event.event !== 'REQUESTING TAKEOVER') return
  const chat = { bot_id: event.bot.id, chat_id: event.chat.id, sender }
  await call(platform, 'start', chat)
  await call(platform, 'message/', { ...chat, message: 'Hello, this is Anna.' })
}

async function call({ url, key }, name, body) {
  const response = await fetch(`${url}/api/v2/handover/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${name}: ${response.status}`)
}
