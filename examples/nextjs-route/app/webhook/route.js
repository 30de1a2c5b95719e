// A route handler of Next.js. A handler of Bun, Deno or an edge runtime is the same function.
import { verifyRequest } from 'handover-sim/signature'

export async function POST(request) {
  const { ok, body, reason } = await verifyRequest(request, process.env.HANDOVER_API_KEY)
  if (!ok) return new Response(reason, { status: 401 })
  // Acknowledged: whatever fails from here on is for the log, and must not end the process. Where a function ends with
  // its answer, give this promise to `after` of next/server.
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
