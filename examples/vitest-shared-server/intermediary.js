/** Starts a handover for every request, and greets the user. */
import { verify } from 'handover-sim/signature'

const SENDER = { name: 'Kari', avatar: 'https://desk.example.test/kari.png' }

/** Returns a request listener for `node:http`. */
export function createIntermediary({ url, api_key: key, bot_id }) {
  const call = (name, body) =>
    fetch(`${url}/api/v2/handover/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ bot_id, ...body }),
    })

  async function takeOver(chat_id) {
    await call('start', { chat_id, sender: SENDER })
    await call('message/', { chat_id, message: 'Hello, how can I help?', sender: SENDER })
  }

  return async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    if (!(await verify(body, request.headers, key))) return response.writeHead(401).end()
    response.end()
    const { event, chat } = JSON.parse(body)
    if (event === 'REQUESTING TAKEOVER') await takeOver(chat.id).catch(console.error)
  }
}
