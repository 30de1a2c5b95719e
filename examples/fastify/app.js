// Runs an intermediary with Fastify: an agent called Anna accepts every chat and repeats the texts of the user.
import Fastify from 'fastify'
import { verify } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export function createApp(platform) {
  const app = Fastify()

  // A separate scope: this route gets the raw bytes, and other routes keep the JSON parser.
  app.register(async webhook => {
    webhook.removeAllContentTypeParsers()
    webhook.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    webhook.post('/webhook', async (request, reply) => {
      const body = request.body ?? ''
      if (!(await verify(body, request.headers, platform.key))) return reply.code(401).send()
      // The event is acknowledged: later errors are logged and must not end the process.
      handle(platform, JSON.parse(body)).catch(console.error)
      return reply.code(200).send()
    })
  })

  return app
}

async function handle(platform, event) {
  if (event.chat === undefined) return
  const chat = { bot_id: event.bot.id, chat_id: event.chat.id, sender }
  if (event.event === 'REQUESTING TAKEOVER') await call(platform, 'start', chat)
  else await call(platform, 'message/', { ...chat, message: `You said: ${event.message}` })
}

async function call({ url, key }, name, body) {
  const response = await fetch(`${url}/api/v2/handover/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${name}: ${response.status}`)
}
