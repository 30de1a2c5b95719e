/** Serves the platform over `node:http`: limits slow clients, stops gracefully, routes requests by path, receives bodies and sends answers. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Awaitable } from '../base/runtime/activity.ts'
import { afterWaitingEvents, backgroundTimer, elapsedMs, wallDelay } from '../base/runtime/clock.ts'
import { lazily } from '../base/runtime/lazy.ts'
import { connectionLimit } from '../base/runtime/node.ts'
import { pathOf } from '../platform/api/call.ts'
import { sendFaultyResponse } from '../platform/api/faulty-responses.ts'
import type { Api } from '../platform/api/handle.ts'
import { type ApiResponse, internalErrorResponse } from '../platform/api/messages.ts'
import { VERSION } from '../platform/contract/version.ts'

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** How long an idle connection stays open: longer than usual clients keep it, so that the client closes it. */
const KEEP_ALIVE_MS = 75_000

export interface HttpServer {
  readonly server: Server
  /** Waits up to a second for responses in progress, then closes all connections and frees the port. */
  stop(): Promise<void>
}

export interface HttpRules {
  /** Decides about `Expect: 100-continue`: when false, the client is refused before it sends the body. */
  mayContinue(request: IncomingMessage): boolean
  /** Called when connections are refused because so many are open; not again within a minute. */
  onFull?(connections: number): void
  /** Called when a client begins with HTTP/2; not again within a minute. */
  onHttp2?(): void
}

export function createHttpServer(listener: Listener, rules: HttpRules, bounds = HTTP_BOUNDS): HttpServer {
  const onRequest: Listener = (request, response) => {
    const twice = headerGivenTwice(request.rawHeaders)
    if (twice === null) listener(request, response)
    else {
      // Answers as Node answers other malformed requests: before any route, with 400, and it closes the
      // connection.
      request.resume()
      response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
      response.end(`The request has the header ${twice} more than once; send it once.\n`)
    }
  }
  const options = {
    headersTimeout: bounds.headersMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkEveryMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server = createServer(options, onRequest)
  closeUnread(server, bounds)
  limitConnections(server, bounds.connections, rules.onFull)
  answerUnreadable(server, rules.onHttp2)
  server.on('connect', refuseTunnel)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (rules.mayContinue(request)) response.writeContinue()
    else response.setHeader('connection', 'close')
    onRequest(request, response)
  })
  return { server, stop: () => stopServer(server) }
}

const NO_PROXY =
  'handover-sim is no proxy: it opens no connections to other servers. Check HTTP_PROXY and HTTPS_PROXY.\n'

/** Answers clients that take this server for their proxy; without a listener, Node closes the connection without an answer. */
function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {})
  const headers = ['content-type: text/plain; charset=utf-8', `content-length: ${NO_PROXY.length}`, 'connection: close']
  socket.end(`HTTP/1.1 405 Method Not Allowed\r\n${headers.join('\r\n')}\r\n\r\n${NO_PROXY}`)
}

/** Headers of which Node passes on only the first, while another server may use the last. */
const ONLY_ONCE: readonly string[] = ['host', 'authorization']

/** The name of a header that a request may have once and has twice, or null. Names and values alternate. */
function headerGivenTwice(rawHeaders: readonly string[]): string | null {
  let seen = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const index = name.length === 4 || name.length === 13 ? ONLY_ONCE.indexOf(name.toLowerCase()) : -1
    if (index === -1) continue
    if ((seen & (1 << index)) !== 0) return name
    seen |= 1 << index
  }
  return null
}

export interface Listeners {
  readonly platform: Listener
  readonly indexPage: Listener
  /** Loaded with the first request. Null when no page is served. */
  readonly page: (() => Promise<Listener>) | null
  /** Loaded with the first request, so that the start does not wait for it. */
  control(): Promise<Listener>
  /** `base` is the URL whose path a proxy may leave in front of every path. */
  readonly address: { readonly base: string }
}

const CONTROL = '/_sim'
/** The folder of the page's files. */
export const PAGE_FILES = '/_sim/page/'
/** The path of the inspector when another page is at `/`. */
export const INSPECTOR = '/inspector'

export function createPathRouter(listeners: Listeners): Listener {
  const control = loadedListener(listeners.control)
  const page = listeners.page && loadedListener(listeners.page)
  return (request, response) => {
    const baseUrl = listeners.address.base
    // From the path that follows the host: `https://host/base` has `/base`.
    const slash = baseUrl.indexOf('/', baseUrl.indexOf('//') + 2)
    const base = slash === -1 ? '' : baseUrl.slice(slash)
    if (page !== null && base !== '' && request.url === base) return redirect(`${base}/`, request, response)
    const target = stripBase(request.url ?? '/', base)
    const path = target.charCodeAt(0) === SLASH ? target : pathOf(target)
    request.url = target
    if (page !== null && isPageRequest(path, request)) return page(request, response)
    if (path.startsWith(CONTROL) && (path.length === CONTROL.length || '/?#'.includes(path.charAt(CONTROL.length))))
      return control(request, response)
    if (isIndexPage(path)) return listeners.indexPage(request, response)
    listeners.platform(request, response)
  }
}

/** The addresses of the page's files are relative, so its own address needs the slash. */
function redirect(location: string, request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.writeHead(308, { location }).end()
}

const SLASH = 47

/** Browsers accept HTML, other clients get a text. */
const isPageRequest = (path: string, { headers }: IncomingMessage) =>
  path.startsWith(PAGE_FILES) ||
  (path !== '/favicon.ico' &&
    (isIndexPage(path) || pathOf(path) === INSPECTOR) &&
    headers.accept?.includes('text/html') === true)

const isIndexPage = (path: string) => path === '/' || path.startsWith('/?') || path === '/favicon.ico'

const stripBase = (target: string, base: string) =>
  base !== '' && target.startsWith(`${base}/`) ? target.slice(base.length) : target

function loadedListener(load: () => Promise<Listener>): Listener {
  let loaded: Listener | null = null
  const loading = lazily(load)
  return (request, response) => {
    if (loaded !== null) return loaded(request, response)
    loading().then(
      listener => {
        loaded = listener
        listener(request, response)
      },
      error => {
        const { status, headers, body } = internalErrorResponse(error)
        response.writeHead(status, headers).end(body)
      },
    )
  }
}

const text = (url: string) => `handover-sim ${VERSION}: a chatbot platform's handover API and its end user, simulated.

platform API    ${url}/api/v2/handover/...  ${url}/api/v1/chats/{chatId}
                described at ${url}/_sim/platform-openapi.json
control API     ${url}/_sim
                described at ${url}/_sim/openapi.json
`

/** Answers `/favicon.ico` as well: browsers request it, and it must not be journaled as an invalid API call. */
export function createIndexPage(url: () => string): Listener {
  return (request, response) => {
    request.resume()
    if (request.url === '/favicon.ico') return void response.writeHead(204).end()
    const reading = request.method === 'GET' || request.method === 'HEAD'
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...(reading ? {} : { allow: 'GET, HEAD' }) }
    response.writeHead(reading ? 200 : 405, headers)
    response.end(request.method === 'HEAD' ? '' : text(url()))
  }
}

export interface HttpBounds {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
  /** How long a client may leave an answer unread. */
  readonly unreadMs: number
  /** Connections at a time, when the process may have that many open files. */
  readonly connections: number
}

/** The share of open files that connections to the port may be. */
const SHARE = 4 / 7
/** How often the same mistake of clients is journaled. */
const ANNOUNCE_EVERY_MS = 60_000

function seldom<Args extends unknown[]>(announce: ((...args: Args) => void) | undefined): (...args: Args) => void {
  let announcedAt = Number.NEGATIVE_INFINITY
  return (...args) => {
    if (elapsedMs() - announcedAt < ANNOUNCE_EVERY_MS) return
    announcedAt = elapsedMs()
    announce?.(...args)
  }
}

export const HTTP_BOUNDS: HttpBounds = {
  headersMs: 15_000,
  requestMs: 120_000,
  checkEveryMs: 5_000,
  unreadMs: 30_000,
  connections: 512,
}

interface Progress {
  /** How many bytes the client had taken at the latest check. */
  taken: number
  /** The latest time at which that number changed, or nothing was left to take. */
  since: number
}

/**
 * Looks at all connections from time to time, because listeners and a timer for every
 * answer cost each of them time. An answer that is not ready yet takes the time it needs.
 */
function closeUnread(server: Server, { unreadMs, checkEveryMs }: HttpBounds): void {
  const connections = new Map<Socket, Progress>()
  const everyMs = Math.min(checkEveryMs, unreadMs)
  let isArmed = false

  function check(socket: Socket, progress: Progress): void {
    const takenBytes = socket.bytesWritten - socket.writableLength
    if (socket.writableLength === 0 || takenBytes !== progress.taken)
      Object.assign(progress, { taken: takenBytes, since: elapsedMs() })
    else if (elapsedMs() - progress.since >= unreadMs) socket.destroy()
  }
  function checkAll(): void {
    for (const [socket, progress] of connections) check(socket, progress)
    isArmed = connections.size > 0
    if (isArmed) backgroundTimer(everyMs, checkAll)
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { taken: 0, since: elapsedMs() })
    socket.on('close', () => void connections.delete(socket))
    if (isArmed) return
    isArmed = true
    backgroundTimer(everyMs, checkAll)
  })
}

function limitConnections(server: Server, most: number, onFull: ((connections: number) => void) | undefined): void {
  server.maxConnections = connectionLimit(most, SHARE)
  const announce = seldom(onFull)
  server.on('drop', () => {
    // The next attempt of the refused client succeeds when others are idle.
    server.closeIdleConnections()
    announce(server.maxConnections)
  })
}

/** The status for each error code of Node's HTTP parser; every other code is 400. Node answers the same where `clientError` has no listener. */
const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_PAUSED_H2_UPGRADE: '505 HTTP Version Not Supported',
}
const NO_HTTP2 = 'handover-sim speaks HTTP/1.1, and this request is HTTP/2. Use HTTP/1.1.\n'

/** Answers a request that cannot be read. Node would leave one of HTTP/2 without an answer. */
function answerUnreadable(server: Server, onHttp2: (() => void) | undefined): void {
  const announce = seldom(onHttp2)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const code = error.code ?? ''
    const isHttp2 = code === 'HPE_PAUSED_H2_UPGRADE'
    if (isHttp2) announce()
    // In the middle of another response, this one would be read as a part of it.
    const { _httpMessage: current } = socket as { _httpMessage?: ServerResponse | null }
    if (!socket.writable || current?.headersSent) return void socket.destroy()
    const body = isHttp2 ? NO_HTTP2 : ''
    const type = isHttp2 ? 'content-type: text/plain; charset=utf-8\r\n' : ''
    const head = `HTTP/1.1 ${UNREADABLE[code] ?? '400 Bad Request'}\r\nconnection: close\r\n`
    socket.end(`${head}${type}content-length: ${body.length}\r\n\r\n${body}`, () => socket.destroy())
  })
}

/** Responses in progress may end until then. */
const DRAIN_MS = 1_000
const DRAIN_CHECK_MS = 10

/** Waits up to a second for responses in progress, then closes all connections and frees the port. */
async function stopServer(server: Server): Promise<void> {
  const freed = new Promise<void>(resolve => server.close(() => resolve()))
  let isFree = false
  void freed.then(() => (isFree = true))
  for (const until = elapsedMs() + DRAIN_MS; !isFree && elapsedMs() < until; ) {
    server.closeIdleConnections()
    await Promise.race([freed, wallDelay(DRAIN_CHECK_MS)])
  }
  server.closeAllConnections()
  await freed
}

const EMPTY = new Uint8Array(0)

/** The maximum number of bytes read from a refused body, so that a client that sends first can receive the answer. */
const DRAINED_BYTES = 64 * 1_048_576

/** Checks the declared length, before the first byte arrives. */
export const declaresTooMuch = (request: IncomingMessage, limit: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > limit

/**
 * `bodyLimit` returns the maximum length of a request body, in bytes; `onThrown` receives an error of the simulator that
 * was thrown while it answered.
 */
export function createNodeAdapter(api: Api, bodyLimit: () => number, onThrown: (error: unknown) => void = () => {}) {
  const failed = (error: unknown): ApiResponse => {
    onThrown(error)
    return internalErrorResponse(error)
  }

  let waiting: [ApiResponse, IncomingMessage, ServerResponse][] = []

  /**
   * Sends the answers of one turn of the event loop together, which wakes a client with many connections once instead of
   * for each answer: 1.3 times the answers in a second with 50 connections.
   */
  function respond(apiResponse: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    if (waiting.push([apiResponse, request, response]) > 1) return
    afterWaitingEvents(() => {
      const ready = waiting
      waiting = []
      for (const [apiResponse, request, response] of ready) sendOrFail(apiResponse, request, response)
    })
  }

  function sendOrFail(apiResponse: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    // An answer in place of one that could not be sent.
    const resend = (error: unknown) => {
      const instead = failed(error)
      if (response.headersSent) response.destroy()
      else void send(instead, request, response)
    }
    try {
      send(apiResponse, request, response)?.catch(resend)
    } catch (error) {
      resend(error)
    }
  }

  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    receiveBody(request, bodyLimit(), (body, tooLarge) => {
      // Node joins headers that come twice, except `Set-Cookie`, which is no header of a request.
      const { headers: received } = request
      const cookies = received['set-cookie']
      const headers = (cookies === undefined ? received : { ...received, 'set-cookie': cookies.join(', ') }) as Record<
        string,
        string
      >
      let apiResponse: Awaitable<ApiResponse>
      try {
        apiResponse = api({ method: request.method ?? 'GET', target: request.url ?? '/', headers, body, tooLarge })
      } catch (error) {
        apiResponse = failed(error)
      }
      if (apiResponse instanceof Promise) apiResponse.catch(failed).then(ready => respond(ready, request, response))
      else respond(apiResponse, request, response)
    })
  }
}

/** Calls `done` once, with at most `limit` bytes: at once for a larger body, and never for an incomplete one. */
function receiveBody(
  request: IncomingMessage,
  limit: number,
  done: (body: Uint8Array, tooLarge: boolean) => void,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') {
    request.resume()
    return done(EMPTY, false)
  }
  const parts: Buffer[] = []
  let size = 0
  let isRefused = false
  const refuse = () => {
    isRefused = true
    parts.length = 0
    done(EMPTY, true)
  }
  request.on('data', (part: Buffer) => {
    size += part.length
    if (!isRefused && size > limit) refuse()
    if (!isRefused) parts.push(part)
    else if (size > limit + DRAINED_BYTES) request.destroy()
  })
  request.on('end', () => {
    if (!isRefused) done(parts.length === 1 ? parts[0]! : Buffer.concat(parts), false)
  })
  if (declaresTooMuch(request, limit)) refuse()
}

/** Returns a promise only for a slow answer. */
function send(apiResponse: ApiResponse, request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
  if (response.destroyed) return
  const { status, headers, body, wire } = apiResponse
  if (wire !== undefined) return sendFaultyResponse(apiResponse, wire, request, response)
  if (request.method !== 'HEAD' && status !== 204)
    headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
  response.writeHead(status, headers)
  response.end(body)
}
