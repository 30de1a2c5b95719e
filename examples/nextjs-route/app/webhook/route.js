// Handles webhook events in Next.js. Handlers of Bun, Deno and edge runtimes have the same signature.
import { verifyRequest } from 'handover-sim/signature'

export async function POST(request) {
  const { ok, body, reason } = await verifyRequest(request, process.env.HANDOVER_API_KEY)
  if (!ok) return new Response(reason, { status: 401 })
  // The event is acknowledged: later errors are logged and must not end the process. On a platform that stops a function
  // after its answer, pass this promise to `after` of next/server.
  handle(JSON.parse(body)).catch(console.error)
  return new Response(null, { status: 200 })
}

async function handle({ event, bot, chat }) {
  if (event !== 'REQUESTING TAKEOVER') return
  const response = await fetch(`${process.env.HANDOVER_URL}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.HANDOVER_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: bot.id, chat_id: chat.id, sender: { name: 'Anna' } }),
  })
  if (!response.ok) throw new Error(`start: ${response.status}`)
}
