/** Starts an intermediary whose help desk follows the commands of a scenario, by the verbs of its driver. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { verify } from '../../src/platform/signature/index.ts'

export interface ScriptedIntermediary {
  /** Its webhook. */
  readonly url: string
  readonly driver: string
  /** What came to the webhook. */
  readonly received: { readonly event: string; readonly text: string; readonly answered: number }[]
}

type Fields = Readonly<Record<string, unknown>>

interface Order {
  readonly sim: string
  readonly bot: number
  readonly list: readonly Fields[]
}

/** The scripted next answers, and the inbox of its agent. */
interface Conversation {
  readonly answers: Fields[]
  readonly inbox: Fields[]
}

const KEY = 'sim-handover-key'
const wait = (ms: unknown) => new Promise(resolve => setTimeout(resolve, Number(ms ?? 0)))

export async function startScriptedIntermediary(): Promise<ScriptedIntermediary> {
  const received: ScriptedIntermediary['received'] = []
  const chats = new Map<string, Conversation>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks)
    if (request.url === '/webhook') await webhook(request, raw, response)
    else await desk(chats, request.url!, raw.length === 0 ? {} : JSON.parse(raw.toString()), response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `${base}/webhook`, driver: driverFor(base), received }

  async function webhook(request: IncomingMessage, raw: Buffer, response: ServerResponse): Promise<void> {
    const valid = await verify(raw, request, KEY)
    const body = parsed(raw)
    const event = String(body.event)
    const chat = conversation(chats, String((body.chat as Fields | undefined)?.id ?? body.chat_id))
    const scripted = event.startsWith('AGENT TYPING') ? undefined : chat.answers.shift()
    const { message: text, attachments = [] } = body
    const status = !valid ? 401 : Number(scripted?.status ?? 200)
    received.push({ event, text: String(text ?? ''), answered: status })
    if (status === 200 && event === 'REQUESTING TAKEOVER') chat.inbox.push({ request: true })
    if (status === 200 && event === 'MESSAGE FROM USER') chat.inbox.push({ text, attachments })
    await wait(scripted?.after)
    response.writeHead(status).end()
  }
}

function conversation(chats: Map<string, Conversation>, id: string): Conversation {
  const known = chats.get(id) ?? { answers: [], inbox: [] }
  chats.set(id, known)
  return known
}

function parsed(raw: Buffer): Fields {
  try {
    return JSON.parse(raw.toString())
  } catch {
    return { event: 'broken' }
  }
}

/** The conflicts of a real desk: a chat without a request, or without an agent. */
async function desk(chats: Map<string, Conversation>, url: string, order: Fields, response: ServerResponse) {
  const [, , id, verb] = url.split('/') as [string, string, string, string]
  const { sim, bot, list } = order as unknown as Order
  const chat = chats.get(id)
  const no = (status: number, error: string) => void response.writeHead(status).end(JSON.stringify({ error }))
  if (verb === 'inbox') return chat === undefined ? no(404, 'unknown chat') : response.end(JSON.stringify(chat.inbox))
  if (verb === 'accept' && chat?.inbox.some(({ request }) => request === true) !== true) return no(409, 'no request')
  if (verb === 'sleep') return
  const own = conversation(chats, id)
  if (verb === 'answers') own.answers.push(...list)
  response.end()
  if (verb !== 'accept' && verb !== 'calls' && verb !== 'shows') return
  for (const { after, ...one } of list) {
    await wait(after)
    if (verb === 'shows') own.inbox.push(one)
    else await call(sim, bot, id, own.inbox.at(-1), one)
  }
}

/**
 * `key`, `alias`, `type` (of the content): as the platform does not want them; `echo`: a message with the user's last
 * words, `file`: with what is in the file that came with them.
 */
async function call(sim: string, bot: number, chat_id: string, last: Fields | undefined, order: Fields): Promise<void> {
  const { key = KEY, alias = 'handover', type = 'application/json', ...named } = order
  const [written, given] = Object.entries(named)[0]!
  const name = written === 'echo' || written === 'file' ? 'message' : written
  const ids = name === 'availability' ? {} : { bot_id: bot, chat_id }
  const body = { ...ids, ...(await contentOf(last, written, given as Fields)) }
  await fetch(`${sim}/api/v2/${alias}/${name === 'message' ? 'message/' : name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': String(type) },
    body: JSON.stringify(body),
  }).catch(() => null)
}

async function contentOf(last: Fields | undefined, written: string, given: Fields): Promise<Fields> {
  if (written === 'echo') return { message: last?.text }
  if (written !== 'file') return given
  const [{ url }] = last!.attachments as [{ url: string }]
  return { message: await (await fetch(url)).text() }
}

const SENDER = '{ name: Anna, avatar: "https://desk.example.test/a.png" }'

const driverFor = (base: string) => {
  const order = (path: string, list: string) =>
    `{ POST: "${path}", json: { sim: $(sim.url), bot: $(sim.bot_id), list: ${list} } }`
  const calling = (list: string) => order('/desk/$(chat.id)/calls', list)
  return `version: 1
http: ${base}
timeout: 60s
accept: ${order('/desk/$(chat.id)/accept', `[{ start: { sender: ${SENDER} } }]`)}
says: ${calling(`[{ message: { message: $(text), sender: ${SENDER} } }]`)}
type: ${calling('[{ typing_start: { timeout: 5000 } }]')}
stop: ${calling('[{ typing_stop: {} }]')}
leave: ${calling('[{ end: {} }]')}
away: ${order('/desk/-/calls', '[{ availability: { availability: CLOSED, reason: AGENT_AVAILABILITY } }]')}
back: ${order('/desk/-/calls', '[{ availability: { availability: OPEN } }]')}
inbox: { GET: "/desk/$(chat.id)/inbox" }
does:
  calls: ${calling('$(list)')}
  answers: ${order('/desk/$(chat.id)/answers', '$(list)')}
  shows: ${order('/desk/$(chat.id)/shows', '$(list)')}
`
}
