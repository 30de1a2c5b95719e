/** An intermediary in the process of the test: it serves the webhook and the API of a fake help desk, and calls the platform. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { verify } from '../../../../src/platform/signature/index.ts'

export interface File {
  readonly name: string
  readonly url: string
  readonly type: string
}

/** A request that a driver makes to the API of the help desk. */
export interface DeskRequest {
  /** The method and the path, as `GET /tickets`. */
  readonly route: string
  readonly query: URLSearchParams
  // biome-ignore lint/suspicious/noExplicitAny: each help desk has bodies of its own
  readonly body: any
}

export interface HelpDesk {
  /** The user asks for an agent. */
  requested(chatId: string): void
  received(chatId: string, text: string, files: readonly File[]): void
  /** Returns the JSON of the answer; undefined: 404. */
  answer(request: DeskRequest): unknown
}

/** Makes a call about a chat after the one before it has its answer. */
export type Call = (chatId: string, name: string, fields?: Readonly<Record<string, unknown>>) => void

const API_KEY = 'sim-handover-key'
export const TOKEN = 's3cret'
const SENDER = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

export interface Opened {
  readonly url: string
  /** The chats of all events, in the order of their first event. */
  readonly chatIds: ReadonlySet<string>
  /** The answers of the help desk to GET, oldest first. */
  readonly reads: readonly unknown[]
}

export async function openIntermediary(platform: string, createDesk: (call: Call) => HelpDesk): Promise<Opened> {
  const chatIds = new Set<string>()
  const reads: unknown[] = []
  const bots = new Map<string, number>()
  const lastCalls = new Map<string, Promise<void>>()
  const post = async (name: string, body: object) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const url = `${platform}/api/v2/handover/${name}`
    const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (status !== 200) throw new Error(`${name} was answered ${status}`)
  }
  const desk = createDesk((chatId, name, fields) => {
    const needsSender = ['start', 'message/', 'end'].includes(name)
    const body = { bot_id: bots.get(chatId), chat_id: chatId, ...(needsSender && { sender: SENDER }), ...fields }
    const before = lastCalls.get(chatId) ?? Promise.resolve()
    lastCalls.set(
      chatId,
      before.then(() => post(name, body)),
    )
  })

  const webhook = async (body: Buffer, signature: unknown): Promise<number> => {
    if (!(await verify(body, String(signature), API_KEY))) return 401
    const { event, bot, chat, message, attachments = [] } = JSON.parse(body.toString())
    if (chat === undefined) return 200
    chatIds.add(chat.id)
    bots.set(chat.id, bot.id)
    if (event === 'REQUESTING TAKEOVER') desk.requested(chat.id)
    else desk.received(chat.id, message, attachments)
    return 200
  }
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { headers, method, url = '' } = request
    if (url === '/webhook') return response.writeHead(await webhook(body, headers['kindly-hmac'])).end()
    const isAllowed = [headers.authorization, headers.api_access_token].join('').endsWith(TOKEN)
    if (!isAllowed) return response.writeHead(401).end('{"error":"no token"}')
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
    const route = `${method} ${decodeURIComponent(pathname)}`
    const json = body.length === 0 ? {} : JSON.parse(body.toString())
    const answer = desk.answer({ route, query: searchParams, body: json })
    if (method === 'GET' && answer !== undefined) reads.push(structuredClone(answer))
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: `not found: ${route}` }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chatIds, reads }
}
