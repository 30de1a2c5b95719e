// An intermediary with Fastify: an agent called Anna takes every chat over and repeats what the user says.
import Fastify from 'fastify'
import { verify } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export function createApp(platform) {
  const app = Fastify()

  // A scope of its own: other routes keep the JSON parser, this one gets the bytes that were signed.
  app.register(async webhook => {
    webhook.removeAllContentTypeParsers()
    webhook.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    webhook.post('/webhook', async (request, reply) => {
      const body = request.body ?? ''
      if (!(await verify(body, request.headers, platform.key))) return reply.code(401).send()
      // Acknowledged: whatever fails from here on is for the log, and must not end the process.
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
