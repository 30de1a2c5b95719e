/** A simulator whose webhook is a function in this process, and the API as its tests call it. */

import { onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'

export interface Delivered {
  readonly url: string
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the webhook got
  readonly json: any
}

export interface World {
  readonly sim: PlatformSimulator
  /** What the webhook got, oldest first. */
  readonly inbox: Delivered[]
  /** Names of the delivered events. */
  events(): string[]
  /** Resolves once that many deliveries have arrived. */
  arrived(count: number): Promise<void>
  /** Changes the answer to each delivery from now on. */
  answerWith(answer: Answering): void
}

export type Answering = (delivered: Delivered, inbox: readonly Delivered[]) => Response | Promise<Response>

/** `answer` is asked for each delivery; 200 without it. */
export function world(options: PlatformSimulatorOptions = {}, answer: Answering = () => new Response('ok')): World {
  let currentAnswer = answer
  const inbox: Delivered[] = []
  const awaited: { count: number; resolve: () => void }[] = []
  const arrived = (count: number) =>
    inbox.length >= count ? Promise.resolve() : new Promise<void>(resolve => awaited.push({ count, resolve }))
  const receive = async (request: Request) => {
    const text = await request.text()
    inbox.push({ url: request.url, headers: request.headers, text, json: JSON.parse(text) })
    for (const one of awaited) if (one.count <= inbox.length) one.resolve()
    return currentAnswer(inbox.at(-1)!, inbox)
  }
  const sim = createSimulator({ ...options, webhook: { fetch: receive, ...options.webhook } })
  onTestFinished(() => sim.close())
  const answerWith = (next: Answering) => {
    currentAnswer = next
  }
  return { sim, inbox, events: () => inbox.map(one => one.json.event), arrived, answerWith }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API answered
  readonly json: any
}

export interface CallOptions {
  readonly method?: string
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** One request to the platform; an object is sent as JSON, a text as it is. */
export async function call(sim: PlatformSimulator, path: string, options: CallOptions = {}): Promise<Reply> {
  const { key = sim.apiKey, body } = options
  const headers = new Headers({ 'content-type': 'application/json', ...options.headers })
  if (options.headers?.['content-type'] === '') headers.delete('content-type')
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  const init = { method: options.method ?? (body === undefined ? 'GET' : 'POST'), headers }
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : JSON.stringify(body)
  const request = new Request(new URL(path, sim.baseUrl), body === undefined ? init : { ...init, body: content })
  return readReply(await sim.fetch(request))
}

async function readReply(response: Response): Promise<Reply> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** A handover endpoint by its last part, for one chat. */
export function post(
  sim: PlatformSimulator,
  name: string,
  chat: ChatHandle,
  body: object = {},
  options: CallOptions = {},
) {
  const path = `/api/v2/handover/${name}${name === 'message' ? '/' : ''}`
  return call(sim, path, { ...options, body: { bot_id: chat.botId, chat_id: chat.id, ...body } })
}

export const AGENT = { name: 'Kim', avatar: 'https://desk.example.test/kim.png' }

export const sends = (sim: PlatformSimulator, chat: ChatHandle, message: string, more: object = {}) =>
  post(sim, 'message', chat, { message, sender: AGENT, ...more })

export const transcript = async (sim: PlatformSimulator, chat: ChatHandle) =>
  (await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })).json.chat

/** The assumptions an answer names. */
export const assumedBy = (reply: Reply): string[] =>
  (reply.headers.get('x-handover-sim-unspecified') ?? '').split(', ').filter(Boolean)

/** A chat an agent has taken over. */
export async function takenOver(sim: PlatformSimulator, start: object = {}, chat?: ChatHandle): Promise<ChatHandle> {
  const taken = chat ?? (await sim.chat())
  await post(sim, 'start', taken, { sender: AGENT, ...start })
  return taken
}

export const texts = (chat: ChatHandle): string[] => chat.transcript.map(message => message.text)

/** A promise and its resolve: for answers a test lets go when it wants to. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}
