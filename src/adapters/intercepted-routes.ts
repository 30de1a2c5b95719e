/** Finds the simulator of an intercepted URL, and connects an HTTP client to it in memory. */
import { createServer, type Server } from 'node:http'
import type { ApiRequest, ApiResponse } from '../api/messages.ts'
import { createErrorNotes } from '../journal/internal-errors.ts'
import type { Journal } from '../journal/journal.ts'
import { type MemorySocket, memorySockets } from '../runtime/memory-socket.ts'
import { createNodeAdapter } from './node-http.ts'

/** The part of a simulator that `intercept` needs: its address, and the function that answers a request. */
export interface Intercepted {
  readonly baseUrl: string
  /** Receives errors of the simulator itself. */
  readonly journal?: Pick<Journal, 'append'>
  handle(exchange: ApiRequest): ApiResponse | Promise<ApiResponse>
}

export interface InterceptedRoute {
  readonly origin: string
  /** Without a final slash. */
  readonly path: string
  readonly simulator: Intercepted
}

/** The routes of each active interception; the latest comes first. */
const active: (readonly InterceptedRoute[])[] = []

export const hasRoutes = (): boolean => active.length > 0

export function addRoutes(simulators: readonly Intercepted[]): readonly InterceptedRoute[] {
  const routes = simulators.map(routeOf).sort((a, b) => b.path.length - a.path.length)
  active.unshift(routes)
  return routes
}

/** Returns false if the routes were removed before. */
export function removeRoutes(routes: readonly InterceptedRoute[]): boolean {
  const index = active.indexOf(routes)
  return index >= 0 && active.splice(index, 1).length > 0
}

function routeOf(simulator: Intercepted): InterceptedRoute {
  const { origin, pathname } = new URL(simulator.baseUrl)
  return { origin, path: pathname.replace(/\/+$/, ''), simulator }
}

/** Prefers the latest interception, and within it the longest base URL. */
export function findRoute(url: URL | null): InterceptedRoute | null {
  if (url === null) return null
  for (const routes of active) {
    const found = routes.find(route => route.origin === url.origin && isUnder(url.pathname, route.path))
    if (found !== undefined) return found
  }
  return null
}

const isUnder = (path: string, base: string) => path === base || path.startsWith(`${base}/`)

const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** Returns the URL of a request line; a request to a proxy has the whole URL as its path. Null for an invalid URL. */
export function requestUrl(origin: string, path: string): URL | null {
  const text = ABSOLUTE.test(path) ? path : `${origin}${path.startsWith('/') ? '' : '/'}${path}`
  return URL.canParse(text) ? new URL(text) : null
}

const servers = new WeakMap<Intercepted, Server>()

/** Returns a connected socket: no name lookup and no handshake precede it. */
export function connectTo({ simulator, path, origin }: InterceptedRoute): MemorySocket {
  const { client, server } = memorySockets(origin.startsWith('https:'))
  let http = servers.get(simulator)
  if (http === undefined) {
    http = createMemoryServer(simulator, path)
    servers.set(simulator, http)
  }
  http.emit('connection', server)
  return client
}

/** Creates a server that never listens. Clients close idle connections, and the simulator applies `limits.body`. */
function createMemoryServer(simulator: Intercepted, basePath: string): Server {
  const onRequest = createNodeAdapter(
    exchange => simulator.handle(exchange),
    () => Number.POSITIVE_INFINITY,
    error => simulator.journal && createErrorNotes(simulator.journal)('answer', error),
  )
  const limits = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }
  return createServer(limits, (request, response) => {
    request.url = relativeTo(basePath, request.url ?? '/')
    onRequest(request, response)
  })
}

/** Removes the origin, which a request to a proxy has, and the path of the base URL. */
function relativeTo(basePath: string, target: string): string {
  const local = target.replace(ABSOLUTE, '')
  const rest = basePath !== '' && local.startsWith(basePath) ? local.slice(basePath.length) : local
  return rest.startsWith('/') ? rest : `/${rest}`
}
