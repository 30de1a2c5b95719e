// Does only what the platform's description requires: no optional field, no retry, nothing stored on disk.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'

const { HANDOVER_SIM_URL: platform, HANDOVER_SIM_API_KEY: key, PORT = '3000' } = process.env

/** Chat id -> bot, inbox, and whether an agent has the chat. */
const chats = new Map()

async function call(path, body) {
  const response = await fetch(`${platform}/api/v2/handover/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.ok
}

function receive(bytes, signature) {
  if (createHmac('sha256', key).update(bytes).digest('base64') !== signature) return 401
  const { event, bot: from, chat, message, attachments } = JSON.parse(bytes.toString())
  if (event === 'REQUESTING TAKEOVER') {
    const open = chats.get(chat.id)
    if (open === undefined) chats.set(chat.id, { bot: from.id, inbox: [{ request: true }], taken: false })
    else if (!open.taken) open.inbox.push({ request: true })
  }
  if (event === 'MESSAGE FROM USER') chats.get(chat.id)?.inbox.push({ text: message, attachments })
  return 200
}

/** What the agent does at the desk; resolves with the status of the answer. */
async function act(id, verb, { text, on }) {
  const chat = chats.get(id)
  if (chat === undefined) return 404
  const ids = { bot_id: chat.bot, chat_id: id }
  let isDone = false
  if (verb === 'accept') {
    isDone = await call('start', ids)
    chat.taken ||= isDone
  }
  if (verb === 'messages') isDone = await call('message/', { ...ids, message: text })
  if (verb === 'typing') isDone = await call(on ? 'typing_start' : 'typing_stop', ids)
  if (verb === 'close') {
    isDone = await call('end', ids)
    if (isDone) chats.delete(id)
  }
  return isDone ? 204 : 502
}

createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const bytes = Buffer.concat(parts)
  const [, place, id, verb] = request.url.split('/')
  let status = 404
  let answer = ''
  try {
    if (place === 'webhook') status = receive(bytes, request.headers['kindly-hmac'])
    else if (place === 'health') status = 200
    else if (verb === 'inbox') {
      status = 200
      answer = JSON.stringify(chats.get(id)?.inbox ?? [])
    } else {
      const body = bytes.length === 0 ? {} : JSON.parse(bytes.toString())
      if (id === 'availability') {
        const isDone = await call('availability', { availability: body.open ? 'OPEN' : 'CLOSED' })
        status = isDone ? 204 : 502
      } else status = await act(id, verb, body)
    }
  } catch {
    status = 400
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
}).listen(Number(PORT), '127.0.0.1')
