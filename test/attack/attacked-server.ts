/** Starts servers for attacks, sends requests to them whose path and headers `fetch` would change, and plays a handover that must work afterwards. */

import { Agent, request as httpRequest } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import type { WebhookEvent } from '../../src/platform/contract/events.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformServer, PlatformServerOptions } from '../../src/server/start.ts'
import { AGENT } from '../support/chats.ts'

export interface AttackedServer {
  readonly server: PlatformServer
  /** The last events that the webhook received. */
  readonly events: readonly WebhookEvent[]
}

const LAST_EVENTS = 100

/** Starts a server with a virtual clock and a recording webhook, and stops it when the test ends. */
export async function startAttackedServer(options: PlatformServerOptions = {}): Promise<AttackedServer> {
  const events: WebhookEvent[] = []
  const receive = async (request: Request) => {
    events.push((await request.json()) as WebhookEvent)
    if (events.length > LAST_EVENTS) events.shift()
    return new Response()
  }
  const server = await startSimulator({ port: 0, clock: 'virtual', webhook: { fetch: receive }, ...options })
  onTestFinished(() => server.close())
  return { server, events }
}

export interface RawRequest {
  readonly method: string
  /** Sent as it is: characters that are not allowed in a request line are percent-encoded by the caller. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** An attack that gets no answer in this time has failed. */
const NO_ANSWER_MS = 30_000

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** Sends one request; rejects when the connection ends without an answer. */
export function sendRaw(port: number, { method, path, headers, body }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const lengths = body.length > 0 ? { 'content-length': String(body.length) } : {}
    const target = { host: '127.0.0.1', port, method, path, headers: { ...headers, ...lengths }, agent }
    const request = httpRequest(target, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      )
    })
    request.setTimeout(NO_ANSWER_MS, () => request.destroy(new Error(`No answer in ${NO_ANSWER_MS} ms`)))
    request.on('error', reject)
    request.end(body)
  })
}

/** Calls an endpoint of the platform with the right key, expects this status, and returns the answer. */
export async function callPlatform(
  { url, apiKey, botId }: Pick<PlatformServer, 'url' | 'apiKey' | 'botId'>,
  name: string,
  body: object,
  status = 200,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/api/v2/handover/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bot_id: botId, ...body }),
  })
  const text = await response.text()
  expect({ name, status: response.status, text }).toMatchObject({ status })
  return JSON.parse(text)
}

/** Opens the queue and plays a whole handover in a new chat: request, start, messages in both directions, end, transcript. */
export async function playHandover({ server, events }: AttackedServer): Promise<void> {
  await callPlatform(server, 'availability', { availability: 'OPEN', queue: 'DEFAULT' })
  const chat = await server.chat()
  await chat.press('handover')
  await callPlatform(server, 'start', { chat_id: chat.id, sender: AGENT })
  await chat.says('Where is my parcel?')
  await callPlatform(server, 'message/', { chat_id: chat.id, message: 'On its way.', sender: AGENT })
  await callPlatform(server, 'end', { chat_id: chat.id })
  expect([chat.status, chat.transcript.map(({ text }) => text)]).toEqual([
    'bot',
    expect.arrayContaining(['Where is my parcel?', 'On its way.']),
  ])
  expect(await readTranscript(server, chat)).toContain('On its way.')
  expect(eventsOf(events, chat)).toEqual(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])
}

async function readTranscript({ url, botApiKey }: PlatformServer, chat: ChatHandle): Promise<string> {
  const response = await fetch(`${url}/api/v1/chats/${chat.id}`, { headers: { authorization: `Bearer ${botApiKey}` } })
  return response.text()
}

const eventsOf = (events: readonly WebhookEvent[], { id }: ChatHandle): string[] =>
  events.filter(event => 'chat' in event && event.chat.id === id).map(({ event }) => event)

/** Returns the path of an attachment link that the server gave out. */
export async function attachmentPath({ server }: AttackedServer): Promise<string> {
  const chat = await server.chat()
  await chat.says('', { attach: [{ name: 'parcel å.txt', type: 'text/plain', size_kb: 1 }] })
  const [link] = chat.transcript.flatMap(({ attachments }) => attachments ?? [])
  return new URL(link!.url).pathname
}
