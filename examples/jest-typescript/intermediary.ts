// The program under test: an agent called Anna greets every user who asks for an agent. It calls the platform with axios.
import axios from 'axios'
import { verify } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

interface HandoverEvent {
  readonly event: string
  readonly bot: { readonly id: number }
  readonly chat: { readonly id: string }
}

export function createIntermediary({ url, key }: { url: string; key: string }) {
  const platform = axios.create({ baseURL: `${url}/api/v2/handover`, headers: { authorization: `Bearer ${key}` } })

  async function handle({ event, bot, chat }: HandoverEvent): Promise<void> {
    if (event !== 'REQUESTING TAKEOVER') return
    const ids = { bot_id: bot.id, chat_id: chat.id }
    await platform.post('/start', { ...ids, sender })
    await platform.post('/message/', { ...ids, sender, message: 'Hello, this is Anna.' })
  }

  return async (request: Request): Promise<Response> => {
    const rawBody = await request.text()
    if (!(await verify(rawBody, request.headers, key))) return new Response(null, { status: 401 })
    // The event is acknowledged: later errors are logged and must not end the process.
    handle(JSON.parse(rawBody)).catch(console.error)
    return new Response('ok')
  }
}
