/** The program under test: an agent called Anna accepts every chat and repeats the texts of the user. */
import type { WebhookEvent } from 'handover-sim'
import { verifyRequest } from 'handover-sim/signature'
import { call, type Platform } from './platform.ts'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export const createIntermediary = (platform: Platform) => ({
  /** Verifies the event, acknowledges it, then handles it. */
  async webhook(request: Request): Promise<Response> {
    const verified = await verifyRequest(request, platform.key)
    if (!verified.ok) return new Response(verified.reason, { status: 401 })
    // The event is acknowledged: later errors are logged and must not end the process.
    handle(platform, JSON.parse(verified.body) as WebhookEvent).catch(console.error)
    return new Response(null, { status: 200 })
  },
})

async function handle(platform: Platform, event: WebhookEvent): Promise<void> {
  if (!('bot' in event)) return
  const chat = { bot_id: event.bot.id, chat_id: event.chat.id }
  if (event.event === 'REQUESTING TAKEOVER') {
    await call(platform, 'start', { ...chat, sender })
    await call(platform, 'message/', { ...chat, sender, message: 'Hello, this is Anna.' })
  } else if (event.message === 'bye') await call(platform, 'end', { ...chat, sender })
  else await call(platform, 'message/', { ...chat, sender, message: `You said: ${event.message}` })
}
