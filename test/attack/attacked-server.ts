/** Starts servers for attacks, sends requests to them that `fetch` would change, and plays a handover that must work afterwards. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { AGENT } from '../support/chats.ts'
import { startWebhook } from '../support/network.ts'

/** Starts a server with a virtual clock and a webhook in this process, and stops it when the test ends. */
export async function startAttackedServer(options: PlatformServerOptions = {}): Promise<PlatformServer> {
  const webhook = { fetch: async () => new Response() }
  const server = await startSimulator({ port: 0, clock: 'virtual', webhook, ...options })
  onTestFinished(() => server.close())
  return server
}

export type ControlledServer = Awaited<ReturnType<typeof startControlledServer>>

/** Starts a server that delivers over HTTP; `control` makes a call of its control API that must succeed. */
export async function startControlledServer() {
  const webhook = await startWebhook()
  onTestFinished(() => webhook[Symbol.asyncDispose]())
  const server = await startAttackedServer({ journalLimit: 400, webhook: { url: webhook.url } })
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const request = { method, path: `/_sim${path}`, body: JSON.stringify(body) ?? '' }
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const answer = await sendRaw(server.port, { ...request, headers })
    expect(answer.status, `${method} /_sim${path}: ${answer.body.slice(0, 400)}`).toBeLessThan(300)
    return JSON.parse(answer.body)
  }
  return Object.assign(server, { control })
}

export interface RawRequest {
  readonly method: string
  /** Sent as it is; characters that Node refuses in a request line are percent-encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Bounds a server that hangs: an attack that gets no answer in this time has failed. */
const NO_ANSWER_MS = 100_000

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * Sends one request; rejects when the connection ends, or the time is over, without a whole answer. With `connection: close`
 * it has a connection of its own, which the server accepts after all that were opened before.
 */
export function sendRaw(
  port: number,
  { method, path, headers = {}, body = '' }: RawRequest,
  withinMs = NO_ANSWER_MS,
): Promise<RawAnswer> {
  const safe = path.replace(/[\0-\x20\x7f-\uffff]/g, char => encodeURIComponent(char.isWellFormed() ? char : '?'))
  const length = body.length > 0 ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const options = {
    ...{ host: '127.0.0.1', port, method, path: safe, headers: { ...length, ...headers } },
    agent: headers.connection === 'close' ? false : agent,
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, response =>
      text(response).then(received => {
        clearTimeout(timer)
        resolve({ status: response.statusCode!, headers: response.headers, body: received })
      }, reject),
    )
    const timer = setTimeout(() => request.destroy(new Error(`No answer in ${withinMs} ms`)), withinMs)
    request.on('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    request.end(body)
  })
}

/** Calls `run` for every item, at most `atOnce` at the same time. */
export async function inParallel<T>(
  atOnce: number,
  items: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Why an answer shows a bug of the simulator, or null. An answer to HEAD does not say that a reset interrupted it. */
export function bugIn({ method, path }: RawRequest, { status, headers, body }: RawAnswer): string | null {
  const wasReset = method === 'HEAD' || body.includes('was reset')
  const isInternal = path.startsWith('/_sim') || (headers[INTERNAL_HEADER] !== undefined && !wasReset)
  return status === 500 && isInternal ? `${method} ${path} was answered with ${status}: ${body.slice(0, 400)}` : null
}

/** Opens the queue and plays a whole handover in a new chat: request, start, messages in both directions, end, transcript. */
export async function playHandover(server: PlatformServer): Promise<void> {
  const { url, apiKey, botApiKey, botId: bot_id } = server
  const ask = async (path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const post = { method: 'POST', body: JSON.stringify({ bot_id, ...body }) }
    const response = await fetch(url + path, { headers, ...(body && post) })
    const answer = await response.text()
    expect(response.status, `${path}: ${answer}`).toBe(200)
    return answer
  }
  const call = (name: string, body: object) => ask(`/api/v2/handover/${name}`, apiKey, body)
  await call('availability', { availability: 'OPEN', queue: 'DEFAULT' })
  const chat = await server.chat()
  await chat.press('handover')
  await call('start', { chat_id: chat.id, sender: AGENT })
  await chat.says('Where is my parcel?')
  await call('message/', { chat_id: chat.id, message: 'On its way.', sender: AGENT })
  await call('end', { chat_id: chat.id })
  expect(chat.status).toBe('bot')
  expect(await ask(`/api/v1/chats/${chat.id}`, botApiKey)).toMatch(/Where is my parcel\?.*On its way\./s)
  const deliveries = server.deliveries.filter(({ chat_id }) => chat_id === chat.id)
  expect(deliveries).toMatchObject([
    { event: 'REQUESTING TAKEOVER', outcome: 'delivered' },
    { event: 'MESSAGE FROM USER', outcome: 'delivered' },
  ])
}
