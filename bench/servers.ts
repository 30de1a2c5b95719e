/** Starts the shipped command and bare servers, and creates the chats that the load talks to. */
import { Pool } from 'undici'
import { COMMAND, SERVER_CORE, type Server, startServer, workerFile } from './processes.ts'
import type { RequestTemplate, Settings } from './rounds.ts'

/** Starts one of the servers of `workers/servers.cjs`. */
export const startWorker = (node: string, kind: string, argument: string, core = SERVER_CORE): Promise<Server> =>
  startServer([node, workerFile('servers.cjs'), kind, argument], core)

/** Starts the yardstick, which answers with these bytes of JSON, or with none. */
export const startBare = ({ node }: Settings, answer: { status?: number; type?: string; body?: string } = {}) =>
  startWorker(node, 'bare', JSON.stringify(answer))

export const QUIET = ['--output', 'quiet'] as const

/** Starts the shipped command, which shows what looks wrong on stderr unless other flags are given. */
export const startSimulator = ({ node }: Settings, flags: readonly string[] = QUIET): Promise<Server> =>
  startServer([node, COMMAND, 'start', '--port', '0', ...flags])

const HEADERS = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' } as const
const SENDER = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' } as const
/** The takeover adds a message to each, so a transcript has 20. */
const HISTORY = Array.from({ length: 19 }, (_, index) =>
  index % 2 === 0 ? { user: `Where is my parcel ${index}?` } : { bot: `I am looking for it: ${index}` },
)

/** Creates chats that an agent has taken over, and returns their ids. Pipelining makes a hundred thousand possible. */
export async function createChats({ url }: Server, count = 50, history: object[] = HISTORY): Promise<string[]> {
  const pool = new Pool(url, { connections: 4, pipelining: 20 })
  const post = async (path: string, body: object): Promise<{ chat_id: string }> => {
    const response = await pool.request({ method: 'POST', path, headers: HEADERS, body: JSON.stringify(body) })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`POST ${path} got ${response.statusCode} ${text}`)
    return JSON.parse(text)
  }
  const createOne = async () => {
    const { chat_id } = await post('/_sim/chats', { history })
    await post('/api/v2/handover/start', { bot_id: 1042, chat_id, sender: SENDER })
    return chat_id
  }
  const ids: string[] = []
  while (ids.length < count) {
    const length = Math.min(80, count - ids.length)
    ids.push(...(await Promise.all(Array.from({ length }, createOne))))
  }
  await pool.close()
  return ids
}

const call = (endpoint: string, fields: object, ids: readonly string[]): RequestTemplate => ({
  method: 'POST',
  path: `/api/v2/handover/${endpoint}`,
  headers: HEADERS,
  body: { bot_id: 1042, chat_id: '{id}', ...fields },
  ids,
})

const GREETING = 'Hello, this is Anna. How can I help you today?'
export const messageTo = (ids: readonly string[], message = GREETING): RequestTemplate =>
  call('message/', { message, sender: SENDER }, ids)

export const typingStart = (ids: readonly string[]): RequestTemplate => call('typing_start', { timeout: 5000 }, ids)

export const transcriptOf = (ids: readonly string[]): RequestTemplate => ({
  method: 'GET',
  path: '/api/v1/chats/{id}',
  headers: { authorization: 'Bearer sim-bot-key' },
  ids,
})
