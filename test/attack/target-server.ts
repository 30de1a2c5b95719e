/** Starts the server that an attack calls, sends raw requests to it, and checks that it still works. */

import { Agent, createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { INTERNAL_HEADER } from '../../src/platform/contract/errors.ts'
import { coreOf } from '../../src/platform/simulator/simulator.ts'
import type { PlatformServer } from '../../src/server/start.ts'
import { AGENT } from '../support/chats.ts'
import { callPlatform } from './attacked-server.ts'

export interface Attack {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Answer {
  /** 0 when the connection was closed without an answer, or the answer took too long. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** After this time the client hangs up: waits, streams and latencies may last for hours. */
const HANG_UP_MS = 150
const LONGEST_TEXT = 2_000_000

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Sends a request as it is. Bytes that Node refuses in a path are percent-encoded. */
export function send(
  url: string,
  { method, path, headers = {}, body }: Attack,
  withinMs = HANG_UP_MS,
): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const safe = path.replace(/[\0-\x20\x7f-\uffff]/g, char => encodeURIComponent(char.isWellFormed() ? char : '?'))
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise(resolve => {
    let status = 0
    let received: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []
    const finish = () => {
      clearTimeout(timer)
      request.destroy()
      resolve({ status, headers: received, text: Buffer.concat(chunks).toString('utf8') })
    }
    const options = { host: hostname, port, method, path: safe, agent, headers: { ...length, ...headers } }
    const request = httpRequest(options, response => {
      status = response.statusCode ?? 0
      received = response.headers
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size < LONGEST_TEXT) chunks.push(chunk)
      })
      response.on('end', () => {
        clearTimeout(timer)
        resolve({ status, headers: received, text: Buffer.concat(chunks).toString('utf8') })
      })
      response.on('error', finish)
    })
    const timer = setTimeout(finish, withinMs)
    request.on('error', finish)
    request.end(body)
  })
}

/** Why an answer shows a bug of the simulator, or null. An answer to HEAD does not say that a reset interrupted it. */
export function bugIn({ method, path }: Attack, { status, headers, text }: Answer): string | null {
  const isControl = path.startsWith('/_sim')
  const wasReset = method === 'HEAD' || text.includes('was reset')
  if (status === 500 && (isControl || (headers[INTERNAL_HEADER] !== undefined && !wasReset)))
    return `${method} ${path} was answered with ${status}: ${text.slice(0, 400)}`
  return null
}

export interface TargetServer extends PlatformServer {
  /** A control API call that must succeed. */
  control(method: string, path: string, body?: unknown): Promise<unknown>
}

/** A server on a virtual clock whose webhook answers at once. */
export async function startTarget(): Promise<TargetServer> {
  const url = await startReceiver()
  const server = await startSimulator({ port: 0, clock: 'virtual', journalLimit: 400, webhook: { url } })
  onTestFinished(() => server.close())
  const control = async (method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await send(server.url, { method, path: `/_sim${path}`, headers, ...text }, 20_000)
    expect(answer.status, `${method} /_sim${path}: ${answer.text.slice(0, 400)}`).toBeLessThan(300)
    return JSON.parse(answer.text)
  }
  return Object.assign(server, { control })
}

/** Runs again when a request from before, whose client hung up, resets the server meanwhile. */
export async function unlessReset<T>(server: TargetServer, run: () => Promise<T>): Promise<T> {
  const { epoch } = coreOf(server).work
  for (;;) {
    const begun = epoch.count
    try {
      return await run()
    } catch (error) {
      if (epoch.count === begun) throw error
    }
  }
}

/** Plays a handover that must work: request, start, a message each way, end, transcript. */
export async function expectHandover(server: TargetServer): Promise<void> {
  const { chat_id } = (await server.control('POST', '/chats', {})) as { chat_id: string }
  await server.control('POST', `/chats/${encodeURIComponent(chat_id)}/press?wait=ack`, { button: 'handover' })
  await callPlatform(server, 'start', { chat_id, sender: AGENT })
  await server.control('POST', `/chats/${encodeURIComponent(chat_id)}/messages?wait=ack`, { text: 'Hello' })
  await callPlatform(server, 'message/', { chat_id, message: 'Hi', sender: AGENT })
  await callPlatform(server, 'end', { chat_id })
  await callPlatform(server, 'transcript', { chat_id })
}

/** A webhook that answers 200 to everything. */
async function startReceiver(): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume()
    response.end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhook`
}
