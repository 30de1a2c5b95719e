/** An intermediary with Express, shown in docs/how-to/express-and-nest.md. */

import express from 'express'
import { verify } from '../../../src/platform/signature/index.ts'

const { BOT_URL = 'https://bot.example.test', BOT_KEY = 'sim-handover-key' } = process.env
const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export const app = express()

// The signature covers the raw bytes, so this route gets the body unparsed.
app.post('/webhook', express.raw({ type: '*/*' }), async (request, response) => {
  if (!(await verify(request.body, request.headers, BOT_KEY))) return void response.sendStatus(401)
  response.sendStatus(200)
  const { event, bot, chat } = JSON.parse(request.body)
  if (event === 'REQUESTING TAKEOVER') await start(bot.id, chat.id)
})

const start = (botId: number, chatId: string) =>
  fetch(`${BOT_URL}/api/v2/handover/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOT_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: botId, chat_id: chatId, sender }),
  })
