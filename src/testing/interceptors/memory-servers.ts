/** Connects HTTP clients in memory to the simulators that are intercepted. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { MemorySocket, memorySockets } from '../../base/runtime/memory-socket.ts'
import { createErrorNotes } from '../../platform/journal/internal-errors.ts'
import { createNodeAdapter } from '../../server/node-http.ts'
import {
  findRoute,
  hasOrigin,
  type Intercepted,
  type InterceptedRoute,
  relativeTo,
  requestUrl,
} from './intercepted-routes.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** A server that never listens. Clients close idle connections, and the simulator applies `limits.body`. */
const createMemoryServer = (listener: Listener): Server =>
  createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, listener)

const servers = new WeakMap<Intercepted, Server>()

/** Returns a connected socket for one route: no name lookup and no handshake precede it. */
export function connectTo(route: InterceptedRoute): MemorySocket {
  const { client, server } = memorySockets(route.origin.startsWith('https:'))
  serverOf(route).emit('connection', server)
  return client
}

function serverOf({ simulator, path }: InterceptedRoute): Server {
  const known = servers.get(simulator)
  if (known !== undefined) return known
  const onRequest = createNodeAdapter(
    exchange => simulator.handle(exchange),
    () => Number.POSITIVE_INFINITY,
    error => noteThrown(simulator, error),
  )
  const server = createMemoryServer((request, response) => {
    request.url = relativeTo(path, request.url ?? '/')
    onRequest(request, response)
  })
  servers.set(simulator, server)
  return server
}

/** Adds an error of the simulator itself to its journal. */
export function noteThrown({ journal }: Intercepted, error: unknown): void {
  if (journal !== undefined) createErrorNotes(journal)('answer', error)
}

/** A connection for all routes of an origin, which a client may keep open for further requests. */
interface KeptConnection {
  closeIfUnused(): void
}

const kept = new Set<KeptConnection>()

/** Closes the idle connections to origins without a simulator. Requests in flight still get their answer. */
export function closeUnusedConnections(): void {
  for (const connection of kept) connection.closeIfUnused()
}

/**
 * Returns a connected socket for all routes of an origin. `open` opens a real connection for HTTP/1.1, for requests with
 * other paths.
 */
export function connectToOrigin(origin: string, protocol: 'http/1.1' | 'h2', open: () => Socket): MemorySocket {
  const { client, server } = memorySockets(origin.startsWith('https:'))
  const pending = new Set<ServerResponse>()
  const closeIfUnused = () => void (pending.size === 0 && !hasOrigin(origin) && client.destroy())
  const connection = { closeIfUnused }
  const listener: Listener = (request, response) => {
    pending.add(response)
    response.once('close', () => {
      pending.delete(response)
      closeIfUnused()
    })
    // HTTP/2 has a substitute here, which cannot be reset.
    Object.defineProperty(request, 'socket', { value: server })
    answer(origin, request, response, open)
  }
  kept.add(connection)
  client.once('close', () => kept.delete(connection))
  server.alpnProtocol = protocol
  if (!server.encrypted) refuseHttp2(origin, client, server)
  const http = protocol === 'h2' ? createHttp2Server(listener as never) : createMemoryServer(listener)
  http.emit('connection', server)
  return client
}

/** How a client begins HTTP/2 on a connection without TLS. */
const HTTP2_PREFACE = 'PRI * HTTP/2.0'

/** Reads the first bytes before the HTTP server does, whose answer a client of HTTP/2 reports as a protocol error. */
function refuseHttp2(origin: string, client: MemorySocket, server: MemorySocket): void {
  server.once('data', (bytes: Buffer) => {
    if (bytes.toString('latin1', 0, HTTP2_PREFACE.length) !== HTTP2_PREFACE) return
    const fix = 'Give the simulator a base URL with https, or use HTTP/1.1.'
    client.destroy(new Error(`The simulator at ${origin} does not answer HTTP/2 without TLS. ${fix}`))
  })
}

function answer(origin: string, request: IncomingMessage, response: ServerResponse, open: () => Socket): void {
  const route = findRoute(requestUrl(origin, request.url ?? '/'))
  if (route === null) forward(origin, request, response, open)
  else serverOf(route).emit('request', request, response)
}

/** Sends a request to its own address. */
function forward(origin: string, request: IncomingMessage, response: ServerResponse, open: () => Socket): void {
  const { method } = request
  const headers = endToEnd(request.headers)
  headers.host ??= request.headers[':authority']?.toString()
  const send = origin.startsWith('https:') ? requestHttps : requestHttp
  const fail = (error: Error) => void (request.socket instanceof MemorySocket && request.socket.peer.destroy(error))
  const onward = send(new URL(request.url ?? '/', origin), { method, headers, createConnection: open })
  onward.on('response', received => {
    response.writeHead(received.statusCode ?? 502, endToEnd(received.headers))
    pipeline(received, response, error => error && fail(error))
  })
  pipeline(request, onward, error => error && fail(error))
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/** Removes headers of one connection, and the pseudo headers of HTTP/2. */
const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') && !HOP_BY_HOP.has(name)))
