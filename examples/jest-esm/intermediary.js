// The program under test: an agent called Anna greets every user who asks for an agent. It calls the platform with axios.
import axios from 'axios'
import { verify } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export function createIntermediary({ url, key }) {
  const platform = axios.create({ baseURL: `${url}/api/v2/handover`, headers: { authorization: `Bearer ${key}` } })

  async function handle(event) {
    if (event.event !== 'REQUESTING TAKEOVER') return
    const chat = { bot_id: event.bot.id, chat_id: event.chat.id, sender }
    await platform.post('/start', chat)
    await platform.post('/message/', { ...chat, message: 'Hello, this is Anna.' })
  }

  // Returns the status that a web framework would send.
  return async (rawBody, headers) => {
    if (!(await verify(rawBody, headers, key))) return 401
    // The event is acknowledged: later errors are logged and must not end the process.
    handle(JSON.parse(rawBody)).catch(console.error)
    return 200
  }
}
