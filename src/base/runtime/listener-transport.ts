/** Sends webhook requests to a request listener of this process, as `node:http` would pass them on from a network. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createHttpTransport } from './http-transport.ts'
import { MemorySocket, memorySockets } from './memory-socket.ts'
import { functionError, type HttpTransport } from './transport.ts'

/** A request listener of `node:http`, such as an Express application. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => unknown

/** The clients of this server close idle connections, and `webhook.timeout` limits each request. */
const NO_LIMITS = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }

/** Creates a server that never listens, and a transport whose connections to it are in memory. */
export function createListenerTransport(listener: NodeListener): HttpTransport {
  const server = createServer(NO_LIMITS, (request, response) => void answer(listener, request, response))
  return createHttpTransport(encrypted => {
    const sockets = memorySockets(encrypted)
    server.emit('connection', sockets.server)
    return sockets.client
  })
}

/** Fails the request with what the listener throws. After the answer, the error is unhandled as it is in production. */
async function answer(listener: NodeListener, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await listener(request, response)
  } catch (error) {
    const socket: unknown = request.socket
    if (response.writableEnded || !(socket instanceof MemorySocket)) throw error
    socket.peer.destroy(functionError(error))
  }
}
