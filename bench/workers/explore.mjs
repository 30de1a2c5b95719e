/** Explores a function in this process with the built package. Argument: how many conversations. Prints the seconds. */
import { explore } from '../../dist/certify.js'
import { createSimulator } from '../../dist/index.js'

const inboxes = new Map()
const inboxOf = id => inboxes.get(id) ?? inboxes.set(id, []).get(id)

async function answer(request) {
  const { event, chat, message } = await request.json()
  if (event === 'REQUESTING TAKEOVER') inboxOf(chat.id).push({ request: true })
  if (event === 'MESSAGE FROM USER') inboxOf(chat.id).push({ text: message })
  return new Response('ok')
}

async function post({ chat }, path, body = {}) {
  const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, ...body }) }
  const send = () => sim.fetch(`${sim.baseUrl}/api/v2/handover/${path}`, init).catch(() => Response.error())
  if (!(await send()).ok) await send()
}

const sim = createSimulator({
  clock: 'virtual',
  seed: 1,
  webhook: { fetch: answer },
  agent: {
    accept: context => post(context, 'start'),
    says: context => post(context, 'message', { message: context.text }),
    type: context => post(context, 'typing_start'),
    stop: context => post(context, 'typing_stop'),
    leave: context => post(context, 'end'),
    inbox: ({ chat }) => inboxOf(chat.id),
  },
})
const from = performance.now()
const exploration = await explore(sim, { conversations: Number(process.argv[2]) })
console.log((performance.now() - from) / 1000)
exploration.assertPassed()
