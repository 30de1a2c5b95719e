/** Starts the shipped command and bare servers, and creates the chats that the load talks to. */
import type { StdioOptions } from 'node:child_process'
import { Pool } from 'undici'
import { forChat, type RequestTemplate } from './load.ts'
import { ROOT, type Started, startProcess, workerFile } from './processes.ts'
import type { Settings } from './settings.ts'

export interface Server extends Started {
  readonly url: string
  readonly port: number
}

const withUrl = (started: Started, url: string): Server => ({ ...started, url, port: Number(new URL(url).port) })

/** What a bare server answers. Without `body` it is the answer to a message. */
interface BareAnswer {
  readonly status?: number
  readonly type?: string | null
  readonly body?: string
}

/** Starts the yardstick: a bare `node:http` server that reads the request, parses its JSON and answers. */
export async function startBare({ node }: Settings, answer: BareAnswer = {}): Promise<Server> {
  const started = await startProcess([node, workerFile('bare-server.cjs'), JSON.stringify(answer)])
  return withUrl(started, `http://127.0.0.1:${JSON.parse(started.line).port}`)
}

interface SimulatorOptions {
  readonly flags?: readonly string[]
  readonly stderr?: number | 'ignore' | 'pipe'
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the shipped command, which shows what looks wrong on stderr unless other flags are given. */
export async function startSimulator({ node }: Settings, options: SimulatorOptions = {}): Promise<Server> {
  const { flags = ['--output', 'quiet'], stderr = 'ignore', env = process.env } = options
  const stdio: StdioOptions = ['ignore', 'pipe', stderr]
  const started = await startProcess([node, `${ROOT}bin/handover-sim.js`, 'start', '--port', '0', ...flags], {
    stdio,
    env,
  })
  return withUrl(started, started.line.replace('Ready: ', '').trim().replace(/\/$/, ''))
}

const API_HEADERS = { authorization: 'Bearer sim-handover-key', 'content-type': 'application/json' } as const

async function post(pool: Pool, path: string, body: object): Promise<Record<string, string>> {
  const options = { method: 'POST', path, headers: API_HEADERS, body: JSON.stringify(body) } as const
  const response = await pool.request(options)
  const text = await response.body.text()
  if (response.statusCode >= 300) throw new Error(`POST ${path} got ${response.statusCode} ${text}`)
  return JSON.parse(text) as Record<string, string>
}

const SENDER = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' } as const

/** Creates chats that an agent has taken over, and returns their ids. Pipelining makes a hundred thousand possible. */
export async function createChats({ url }: Server, count: number, chat: object = {}): Promise<string[]> {
  const pool = new Pool(url, { connections: 4, pipelining: 20 })
  const ids: string[] = []
  let left = count
  const createUntilDone = async () => {
    while (left-- > 0) {
      const { chat_id = '' } = await post(pool, '/_sim/chats', chat)
      await post(pool, '/api/v2/handover/start', { bot_id: 1042, chat_id, sender: SENDER })
      ids.push(chat_id)
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, 80) }, createUntilDone))
  await pool.close()
  return ids
}

/** Sends a request for one chat, and returns the answer for a bare server to repeat. */
export async function answerOf({ url }: Server, request: RequestTemplate): Promise<BareAnswer> {
  const { path, body } = forChat(request, request.chats?.[0])
  const response = await fetch(url + path, { method: request.method, headers: request.headers ?? {}, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${request.method} ${path} got ${response.status} ${text}`)
  return { status: response.status, type: response.headers.get('content-type'), body: text }
}

const call = (endpoint: string, fields: object, chats: readonly string[]): RequestTemplate => ({
  method: 'POST',
  path: `/api/v2/handover/${endpoint}`,
  headers: API_HEADERS,
  body: { bot_id: 1042, chat_id: '{chat}', ...fields },
  chats,
})

const GREETING = 'Hello, this is Anna. How can I help you today?'
export const messageTo = (chats: readonly string[], message = GREETING): RequestTemplate =>
  call('message/', { message, sender: SENDER }, chats)

export const typingStart = (chats: readonly string[]): RequestTemplate => call('typing_start', { timeout: 5000 }, chats)
export const typingStop = (chats: readonly string[]): RequestTemplate => call('typing_stop', {}, chats)

export const transcriptOf = (chats: readonly string[]): RequestTemplate => ({
  method: 'GET',
  path: '/api/v1/chats/{chat}',
  headers: { authorization: 'Bearer sim-bot-key' },
  chats,
})

/** A start adds one message, so the transcript has 20. */
export const HISTORY = Array.from({ length: 19 }, (_, index) =>
  index % 2 === 0 ? { user: `Where is my parcel ${index}?` } : { bot: `I am looking for it: ${index}` },
)
