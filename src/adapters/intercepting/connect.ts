/** A connection to a simulator for one HTTP client: an HTTP server that listens nowhere answers at its other end. */
import { createServer, type Server } from 'node:http'
import { type MemorySocket, memorySockets } from '../../runtime/memory-socket.ts'
import { createNodeAdapter } from '../node-http.ts'
import type { Intercepted, Route } from './routes.ts'

const servers = new WeakMap<Intercepted, Server>()

/** Already connected: neither a name is looked up nor a handshake made. */
export function connectTo({ simulator, path, origin }: Route): MemorySocket {
  const { client, server } = memorySockets(origin.startsWith('https:'))
  let http = servers.get(simulator)
  if (http === undefined) {
    http = serve(simulator, path)
    servers.set(simulator, http)
  }
  http.emit('connection', server)
  return client
}

/** Idle connections are the clients' to close; `limits.body` is the simulator's to hold. */
function serve(simulator: Intercepted, base: string): Server {
  const door = createNodeAdapter(
    exchange => simulator.handle(exchange),
    () => Number.POSITIVE_INFINITY,
  )
  const limits = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }
  return createServer(limits, (request, response) => {
    request.url = below(base, request.url ?? '/')
    door(request, response)
  })
}

/** Without the origin a request to a proxy names, and without the path of the base URL. */
function below(base: string, target: string): string {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const rest = base !== '' && local.startsWith(base) ? local.slice(base.length) : local
  return rest.startsWith('/') ? rest : `/${rest}`
}
