/** Starts webhook receivers on real sockets. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import type { DeliveryContent } from '../../src/platform/journal/entry.ts'
import type { PlatformSimulatorOptions } from '../../src/platform/simulator/options.ts'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { takenOver } from '../support/test-simulator.ts'

export interface Got {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** Header names in their case on the wire. */
  readonly rawHeaders: readonly string[]
  readonly bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: whatever arrived
  readonly json: any
}

export type Handler = (got: Got, response: ServerResponse, index: number) => unknown

export async function receiver(handler: Handler = (_got, response) => response.end('ok')) {
  const got: Got[] = []
  const awaited: { count: number; resolve: () => void }[] = []
  /** How many connections were opened in all. */
  let sockets = 0
  const server = createServer(async (request, response) => {
    got.push(await read(request))
    for (const one of awaited) if (got.length >= one.count) one.resolve()
    await handler(got.at(-1)!, response, got.length - 1)
  })
  server.on('connection', () => sockets++)
  const url = `http://127.0.0.1:${await listen(server)}/hook?tenant=1`
  onTestFinished(() => server.closeAllConnections())
  const arrived = (count: number) =>
    got.length >= count ? Promise.resolve() : new Promise<void>(resolve => awaited.push({ count, resolve }))
  return { url, got, arrived, sockets: () => sockets }
}

async function read(request: IncomingMessage): Promise<Got> {
  const bytes = Buffer.concat(await request.toArray())
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, path: url, headers, rawHeaders, bytes, json: JSON.parse(bytes.toString() || 'null') }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Starts a TCP server; `onData` is called with the first bytes of each request. */
export async function rawServer(onData: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => onData(socket))
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  return listen(server)
}

export function simFor(url: string, options: PlatformSimulatorOptions = {}): PlatformSimulator {
  const sim = createSimulator({ ackTimeout: '1h', ...options, webhook: { url } })
  onTestFinished(() => sim.close())
  return sim
}

/** Sends one user message to the receiver at `url` and returns its journal entry. */
export async function deliveredTo(url: string, knobs: Record<string, unknown> = {}): Promise<DeliveryContent> {
  const sim = simFor(url, { knobs })
  const chat = await takenOver(sim)
  await chat.says('Hello')
  return sim.deliveries.at(-1)!
}

export const answering =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_got, response) =>
    response.writeHead(status, headers).end('body')
