/** Creates simulators with a recording webhook and closes them when the test ends. */

import { expect, onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import type { ChatOptions } from '../../src/platform/simulator/new-chat.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { type Api, api, type Send } from './api.ts'
import { takenOver } from './chats.ts'
import type { Adapter } from './msw-adapter.ts'
import { createReceiver, type Receiver } from './receiver.ts'

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
  return { ...setup, chat: await takenOver(setup, start, chat) }
}
