/** Creates simulators with a recording webhook and closes them when the test ends; calls their API without types. */

import { expect, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { ChatOptions } from '../../src/platform/simulator/new-chat.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Api, api, type Send } from './api.ts'
import { takenOver as takenOverBy } from './chats.ts'
import type { Adapter } from './msw-adapter.ts'
import { createReceiver, type ReceivedEvent, type Receiver, type WebhookAnswer } from './receiver.ts'

export interface SimulatorSetup {
  readonly sim: PlatformSimulator
  readonly hook: Receiver
  readonly api: Api
  /** Sends a request unchanged to a path of the platform. */
  readonly send: Send
}

export interface ChatSetup extends SimulatorSetup {
  readonly chat: ChatHandle
}

interface ChatSetupOptions extends PlatformSimulatorOptions {
  readonly chat?: ChatOptions
}

interface HandoverSetupOptions extends ChatSetupOptions {
  /** Fields of the body of `start`. */
  readonly start?: Readonly<Record<string, unknown>>
}

/** Calls the platform through `sim.fetch`. */
export const inProcess: Adapter = {
  name: 'in-process',
  create: async options => createSimulator(options),
  send: (sim, path, init) => sim.fetch(new Request(sim.baseUrl + path, init)),
}

const withHook = (options: PlatformSimulatorOptions, hook: Receiver): PlatformSimulatorOptions => ({
  ...options,
  webhook: { ...options.webhook, fetch: hook.fetch },
})

/** Also fails the test when the webhook received a payload that differs from the contract. */
function closeAfterTest({ sim, hook }: Pick<SimulatorSetup, 'sim' | 'hook'>): void {
  onTestFinished(async () => {
    await sim.close()
    expect(hook.problems).toEqual([])
  })
}

export function createTestSimulator(options: PlatformSimulatorOptions = {}) {
  const hook = createReceiver()
  const made = { sim: createSimulator(withHook(options, hook)), hook }
  closeAfterTest(made)
  return made
}

export async function setUp(adapter: Adapter = inProcess, options: PlatformSimulatorOptions = {}) {
  const setup = await setUpOpen(adapter, options)
  closeAfterTest(setup)
  return setup
}

/** Like `setUp`, for a simulator that several tests read: the caller closes it and checks `hook.problems`. */
export async function setUpOpen(adapter: Adapter = inProcess, options: PlatformSimulatorOptions = {}) {
  const hook = createReceiver()
  const sim = await adapter.create(withHook(options, hook))
  const send: Send = (path, init) => adapter.send(sim, path, init)
  return { sim, hook, send, api: api(sim, send) } satisfies SimulatorSetup
}

/** Creates an in-process simulator, its webhook, and a chat that is with the bot. */
export async function setUpChat({ chat, ...options }: ChatSetupOptions = {}): Promise<ChatSetup> {
  const setup = await setUp(inProcess, options)
  return { ...setup, chat: await setup.sim.chat(chat) }
}

/** Like `setUpChat`, and the agent has taken the chat over. */
export async function setUpHandover({ start, chat, ...options }: HandoverSetupOptions = {}): Promise<ChatSetup> {
  const setup = await setUp(inProcess, options)
  return { ...setup, chat: await takenOverBy(setup, start, chat) }
}

export interface World extends Pick<Receiver, 'events' | 'arrived' | 'answerWith'> {
  readonly sim: PlatformSimulator
  /** What the webhook received, oldest first. */
  readonly inbox: ReceivedEvent[]
}

/** Creates a simulator whose settings or faults may send what differs from the contract. */
export function world(options: PlatformSimulatorOptions = {}, answer: WebhookAnswer = 200): World {
  const hook = createReceiver(answer)
  const sim = createSimulator(withHook(options, hook))
  onTestFinished(() => sim.close())
  const { received: inbox, events, arrived, answerWith } = hook
  return { sim, inbox, events, arrived, answerWith }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  readonly json: any
}

export interface CallOptions {
  readonly method?: string
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** Sends one request to the platform: an object as JSON, a text as it is. */
export async function call(sim: PlatformSimulator, path: string, options: CallOptions = {}): Promise<Reply> {
  const { key = sim.apiKey, body } = options
  const headers = new Headers({ 'content-type': 'application/json', ...options.headers })
  if (options.headers?.['content-type'] === '') headers.delete('content-type')
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  const init = { method: options.method ?? (body === undefined ? 'GET' : 'POST'), headers }
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : JSON.stringify(body)
  const request = new Request(new URL(path, sim.baseUrl), body === undefined ? init : { ...init, body: content })
  const answer = await sim.fetch(request)
  const text = await answer.text()
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    get json() {
      return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined
    },
  }
}

/** Calls a handover endpoint for one chat, by the last part of its path. */
export function post(sim: PlatformSimulator, name: string, chat: ChatHandle, body: object = {}, options = {}) {
  const path = `/api/v2/handover/${name}${name === 'message' ? '/' : ''}`
  return call(sim, path, { ...options, body: { bot_id: chat.botId, chat_id: chat.id, ...body } })
}

export const AGENT = { name: 'Kim', avatar: 'https://desk.example.test/kim.png' }

export const sends = (sim: PlatformSimulator, chat: ChatHandle, message: string, more: object = {}) =>
  post(sim, 'message', chat, { message, sender: AGENT, ...more })

/** Creates a chat, unless there is one, and starts its handover. */
export async function takenOver(sim: PlatformSimulator, start: object = {}, chat?: ChatHandle): Promise<ChatHandle> {
  const taken = chat ?? (await sim.chat())
  await post(sim, 'start', taken, { sender: AGENT, ...start })
  return taken
}

export const transcript = async (sim: PlatformSimulator, chat: ChatHandle) =>
  (await call(sim, `/api/v1/chats/${chat.id}`, { key: sim.botApiKey })).json?.chat

export const texts = (chat: ChatHandle): string[] => chat.transcript.map(message => message.text)

/** The assumptions that an answer names. */
export const assumedBy = (reply: Reply): string[] =>
  (reply.headers.get('x-handover-sim-unspecified') ?? '').split(', ').filter(Boolean)

/** A promise that the test resolves, for answers that it holds back. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
