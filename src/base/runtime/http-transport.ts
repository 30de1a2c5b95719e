/** Sends webhook requests over HTTP, or to a request listener of this process; a fault changes how the bytes travel. */
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as overHttp,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import type { Agent } from 'undici'
import { cut } from '../text/cut.ts'
import { createSlots } from './activity.ts'
import { afterThisCall, paced, wallTimer } from './clock.ts'
import { cancelled, connectionFailure, TransportError, timedOut, unusableStatus } from './connection-failure.ts'
import { lazily } from './lazy.ts'
import { connectionLimit } from './node.ts'
import {
  functionError,
  type HttpTransport,
  KEPT_BODY_CHARS,
  MAX_BODY_BYTES,
  type Outgoing,
  type Received,
  type WireFaults,
} from './transport.ts'

/** Connections to webhooks at a time, of all simulators that share a transport; at most this share of the open files. */
const MAX_CONNECTIONS = [384, 3 / 7] as const

/** Opens a connection in memory, in place of one over the network. */
type OpenSocket = (encrypted: boolean) => Duplex

/** What a request needs that is under way: `started` begins its time limit, `signal` aborts with the limit or a reset. */
interface Sending {
  readonly signal: AbortSignal
  started(): void
}

/** Requests beyond the limit of connections wait in order; their time limit begins when they are sent. */
export function httpTransport(openSocket?: OpenSocket): HttpTransport {
  const slots = createSlots(connectionLimit(...MAX_CONNECTIONS))
  // Undici loads with the first delivery, so that the start stays fast.
  let loaded: Agent | null = null
  const loadAgent = lazily(async () => {
    loaded = await createAgent(openSocket)
    return loaded
  })

  async function send(outgoing: Outgoing): Promise<Received> {
    await slots.take()
    const { signal, timeoutMs, wire } = outgoing
    const over = new AbortController()
    const cancel = () => over.abort(cancelled())
    let timer = { cancel() {} }
    const started = () => {
      timer = wallTimer(timeoutMs, () => over.abort(timedOut(timeoutMs)))
    }
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      if (over.signal.aborted) throw cancelled()
      if (wire) return await sendFaulty(outgoing, wire, { signal: over.signal, started }, openSocket)
      const agent = await loadAgent()
      started()
      const { url, method = 'POST', headers, body } = outgoing
      const { origin, host, pathname, search } = new URL(url)
      const path = pathname + search
      // Undici takes 099 for the status of an interim answer, and then waits for another.
      const onInfo = ({ statusCode }: { statusCode: number }) => {
        if (statusCode < 100) over.abort(new TransportError(unusableStatus(statusCode, host)))
      }
      const { signal } = over
      const response = await agent.request({ origin, path, method: method as 'POST', headers, body, signal, onInfo })
      const received: Record<string, string> = {}
      for (const [name, value] of Object.entries(response.headers)) received[name] = String(value)
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        size += chunk.length
        // Leaving the loop closes the connection.
        if (size > MAX_BODY_BYTES) return receivedFrom(response.statusCode, received, chunks, true)
        chunks.push(chunk)
      }
      return receivedFrom(response.statusCode, received, chunks, false)
    } catch (error) {
      if (over.signal.aborted) throw over.signal.reason
      throw error instanceof TransportError
        ? error
        : new TransportError(connectionFailure(error, new URL(outgoing.url).host))
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', cancel)
      slots.release()
    }
  }
  return Object.assign(send, { close: async () => loaded?.destroy() })
}

async function createAgent(openSocket: OpenSocket | undefined): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici')
  // Undici requires that the connection arrives after the call returns.
  const inMemory: ReturnType<typeof buildConnector> = ({ protocol }, callback) =>
    afterThisCall(() => callback(null, openSocket!(protocol === 'https:') as Socket))
  const connect = openSocket === undefined ? buildConnector({ timeout: 10_000 }) : inMemory
  const connections = connectionLimit(...MAX_CONNECTIONS)
  return new Agent({
    connections,
    // Opens a connection for each request: the server may close a kept one now, or have sent a second response on it.
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
  })
}

/**
 * Resets a connection, or closes one that cannot be reset: one with TLS, and one that the other side is closing already, as
 * with HTTP/1.0. Resetting the latter fails, and Node would then poll the rest of the connection for ever.
 */
export function resetSocket(socket: Socket | null): void {
  try {
    if (socket?.readyState === 'open') socket.resetAndDestroy()
    else socket?.destroy()
  } catch {
    socket?.destroy()
  }
}

/** `isCut`: the answer is longer than what was read. */
function receivedFrom(
  status: number,
  headers: Record<string, string>,
  chunks: readonly Buffer[],
  isCut: boolean,
): Received {
  const text = ((chunks.length === 1 && chunks[0]) || Buffer.concat(chunks)).toString('utf8')
  const body = text.length > KEPT_BODY_CHARS ? cut(text, KEPT_BODY_CHARS) : text
  return { status, headers, body, truncated: isCut || body !== text }
}

/** Sends through `node:http`, which can be told how the bytes travel. */
async function sendFaulty(
  outgoing: Outgoing,
  wire: WireFaults,
  { signal, started }: Sending,
  openSocket: OpenSocket | undefined,
): Promise<Received> {
  const request = open(outgoing, wire, openSocket)
  const closed = new AbortController()
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      request.on('error', reject)
      const refuse = (status: number) => reject(new TransportError(unusableStatus(status, new URL(outgoing.url).host)))
      request.on('upgrade', () => refuse(101))
      request.on('response', response => {
        const { statusCode = 0 } = response
        if (statusCode < 200) return refuse(statusCode)
        const headers: Record<string, string> = {}
        for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value)
        const chunks: Buffer[] = []
        let size = 0
        const end = (isCut: boolean) => {
          // At once, before Node closes the connection by itself.
          if (wire.resetAfterResponse) resetSocket(request.socket)
          resolve(receivedFrom(statusCode, headers, chunks, isCut))
        }
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MAX_BODY_BYTES) end(true)
          else chunks.push(chunk)
        })
        response.on('end', () => end(false))
        response.on('error', reject)
      })
      // The time limit begins at the end of the body, because a body that drips takes its own time.
      void write(request, outgoing, wire, closed.signal).then(() => {
        if (!closed.signal.aborted) started()
      })
    })
  } finally {
    closed.abort()
    request.destroy()
  }
}

function open(
  { url, method = 'POST', headers, body }: Outgoing,
  { chunked, resetAfterResponse }: WireFaults,
  openSocket: OpenSocket | undefined,
): ClientRequest {
  const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Buffer.byteLength(body) }
  // Keeps the connection open, so that it can be reset after the answer.
  const connection = resetAfterResponse ? { Connection: 'keep-alive' } : {}
  const encrypted = url.startsWith('https:')
  const connect = openSocket
    ? { createConnection: () => openSocket(encrypted), defaultPort: encrypted ? 443 : 80 }
    : { agent: false }
  // Loaded at the first encrypted delivery: a start needs no TLS, and loading it takes a twentieth of its time.
  const send = encrypted ? process.getBuiltinModule('node:https').request : overHttp
  return send(url, { method, ...connect, headers: { ...headers, ...length, ...connection } })
}

const CHUNKS = 3

async function write(request: ClientRequest, { body }: Outgoing, wire: WireFaults, stop: AbortSignal): Promise<void> {
  const bytes = Buffer.from(body)
  if (wire.dripMs > 0) {
    request.flushHeaders()
    for await (const piece of paced(bytes, wire.dripMs, stop)) request.write(piece)
  } else if (wire.chunked) {
    const size = Math.max(1, Math.ceil(bytes.length / CHUNKS))
    for (let at = 0; at < bytes.length; at += size) request.write(bytes.subarray(at, at + size))
  } else request.write(bytes)
  if (!stop.aborted) request.end()
}

/** A request listener of `node:http`, such as an Express application. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => unknown

/** The clients of this server close idle connections, and `webhook.timeout` limits each request. */
const NO_LIMITS = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }

/** Creates a server that never listens, and a transport whose connections to it are in memory. */
export function listenerTransport(listener: NodeListener): HttpTransport {
  const clientOf = new WeakMap<Duplex, Duplex>()
  const server = createServer(NO_LIMITS, async (request, response) => {
    try {
      await listener(request, response)
    } catch (error) {
      // Fails the request with what the listener throws. After the answer, the error is unhandled as it is in production.
      const client = clientOf.get(request.socket)
      if (response.writableEnded || client === undefined) throw error
      client.destroy(functionError(error))
    }
  })
  return httpTransport(encrypted => {
    const [client, socket] = duplexPair()
    clientOf.set(socket, client)
    // What applications ask a connection for, such as the `ip` and `secure` of a request in Express.
    server.emit('connection', Object.assign(socket, { remoteAddress: '127.0.0.1', remoteFamily: 'IPv4', encrypted }))
    return client
  })
}
