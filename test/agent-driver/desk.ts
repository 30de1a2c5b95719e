/** An agent desk for tests, with scripted answers and recorded requests, and a driver that ends with its test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'
import type { DriverFailure } from '../../src/platform/journal/run-failures.ts'
import { driverFailureText } from '../../src/platform/wording/failures.ts'
import { createDriver, type DriverOptions } from '../../src/running/agent-driver/create-driver.ts'
import type { Driver, DriverContext } from '../../src/running/agent-driver/driver.ts'
import { type LoadDriverOptions, loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { folderWith } from '../config/folder.ts'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Desk {
  readonly url: string
  readonly port: number
  readonly asked: Asked[]
}

type Answer = (request: Asked, response: ServerResponse) => void

const accepted: Answer = (_, response) => void response.writeHead(202).end('{"queued":true}')

export async function openDesk(answer: Answer = accepted): Promise<Desk> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    asked.push(one)
    answer(one, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, asked }
}

export const around = (more: Partial<LoadDriverOptions> = {}): LoadDriverOptions => ({
  cwd: '.',
  env: {},
  nodeVersion: process.version,
  isTTY: false,
  prompt: () => Promise.reject(new Error('nobody is asked here')),
  ...more,
})

export const SIM = { url: 'http://127.0.0.1:4747', apiKey: 'key-1', botApiKey: 'key-2', botId: 7 }

/** A call as reports show it: with its failure in words. */
type ShownCall<Call> = Call & { readonly error?: string }

interface ShownDriver extends Driver {
  call(...args: Parameters<Driver['call']>): Promise<ShownCall<Awaited<ReturnType<Driver['call']>>>>
}

export interface Driven {
  readonly driver: ShownDriver
  readonly folder: string
}

export interface Also
  extends Partial<Pick<LoadDriverOptions, 'isTTY' | 'prompt'>>,
    Partial<Pick<DriverOptions, 'onExit'>> {
  readonly files?: Readonly<Record<string, string>>
  readonly name?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A driver from the text of its file, in a new folder. */
export async function drive(text: string, also: Also = {}): Promise<Driven> {
  const { name = 'driver.yaml', files = {}, env = {}, onExit, ...rest } = also
  const folder = folderWith({ ...files, [name]: text })
  const all = { PATH: process.env.PATH!, ...env }
  const spec = await loadDriver(name, around({ cwd: folder, env: all, ...rest }))
  const driver = createDriver(spec, { env: all, sim: SIM, ...(onExit === undefined ? {} : { onExit }) })
  onTestFinished(() => driver.close())
  return { driver: shown(driver), folder }
}

export const never = new AbortController().signal

export const CHAT = { id: 'c 1/ä', user_id: 'u1', language: 'nb', source: 'web', name: 'Ada' }

export const context = (more: Partial<DriverContext> = {}): DriverContext => ({
  chat: CHAT,
  sim: { url: SIM.url, api_key: SIM.apiKey, bot_id: SIM.botId },
  ...more,
})

const shown = (driver: Driver): ShownDriver => ({
  ...driver,
  call: async (...args) => withError(await driver.call(...args)),
})

export const withError = <Call extends { readonly failure?: DriverFailure }>(call: Call): ShownCall<Call> =>
  call.failure === undefined ? call : { ...call, error: driverFailureText(call.failure) }

/** Resolves when the function returns true. */
export const until = (holds: () => boolean) => vi.waitUntil(holds, { timeout: 30_000, interval: 10 })
