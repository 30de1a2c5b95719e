// Runs an intermediary with Express and axios. Replace `desk` by your help desk.
import axios from 'axios'
import express from 'express'
import { verify } from 'handover-sim/signature'

export function createApp({ url, key, desk }) {
  const platform = axios.create({ baseURL: `${url}/api/v2/handover`, headers: { authorization: `Bearer ${key}` } })
  const app = express()

  // The signature covers the raw bytes, so this route gets the body unparsed.
  app.post('/webhook', express.raw({ type: '*/*' }), async (request, response) => {
    const body = Buffer.isBuffer(request.body) ? request.body : ''
    if (!(await verify(body, request.headers, key))) return response.sendStatus(401)
    response.sendStatus(200)
    desk.receive(JSON.parse(body))
  })

  app.post('/desk/:chat/accept', express.json(), async (request, response) => {
    const chat = { bot_id: request.body.bot_id, chat_id: request.params.chat, sender: { name: request.body.agent } }
    const started = await platform.post('/start', chat)
    response.json({ event: started.data.event })
  })

  return app
}
