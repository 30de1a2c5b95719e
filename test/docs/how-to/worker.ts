/** The worker that docs/how-to/function-platforms.md shows. */

import { verify } from '../../../src/platform/signature/index.ts'

interface Env {
  readonly BOT_URL: string
  readonly BOT_KEY: string
}

interface Context {
  waitUntil(work: Promise<unknown>): void
}

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export default {
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer())
    if (!(await verify(body, request.headers, env.BOT_KEY))) return new Response(null, { status: 401 })
    const { event, bot, chat } = JSON.parse(new TextDecoder().decode(body))
    if (event === 'REQUESTING TAKEOVER') context.waitUntil(start(env, bot.id, chat.id))
    return new Response('ok')
  },
}

async function start({ BOT_URL, BOT_KEY }: Env, botId: number, chatId: string): Promise<void> {
  const response = await fetch(`${BOT_URL}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: botId, chat_id: chatId, sender }),
  })
  if (!response.ok) throw new Error(`start was answered with ${response.status}`)
}
