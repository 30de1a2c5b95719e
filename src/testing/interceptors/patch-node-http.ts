/** Connects requests of `node:http` and `node:https`, and so of axios, got and node-fetch, to intercepted simulators. */
import { Agent, ClientRequest, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { MemorySocket } from '../../base/runtime/memory-socket.ts'
import { findRoute, type InterceptedRoute, requestUrl } from './intercepted-routes.ts'
import { connectTo } from './memory-servers.ts'

/**
 * Patches prototypes instead of `http.request`, so that functions which were imported by name before are intercepted too.
 * Returns a function that removes the patches.
 */
export function patchNodeHttp(): () => void {
  const undo = [patchAddRequest(), patchOnSocket()]
  return () => {
    for (const restore of undo) restore()
  }
}

type AddRequest = (this: Agent, request: ClientRequest, options: RequestOptions, ...rest: unknown[]) => void

/** `addRequest` is Node's own method, not in its types; agents of `node:https` inherit it. */
const agentPrototype = Agent.prototype as Agent & { addRequest: AddRequest }

/** A request asks its agent for a connection and gets one to a simulator. */
function patchAddRequest(): () => void {
  const original = agentPrototype.addRequest
  const addRequest: AddRequest = function (request, options, ...rest) {
    const route = options.socketPath ? null : findRoute(urlOf(request, options))
    if (route === null) original.call(this, request, options, ...rest)
    else attachSocket(request, route)
  }
  agentPrototype.addRequest = addRequest
  return () => {
    if (agentPrototype.addRequest === addRequest) agentPrototype.addRequest = original
  }
}

function urlOf({ protocol, path }: ClientRequest, { host, port }: RequestOptions): URL | null {
  const name = host?.includes(':') ? `[${host}]` : (host ?? 'localhost')
  return requestUrl(`${protocol}//${name}${port ? `:${port}` : ''}`, path)
}

/** Gives each request its own socket. The agent does not know the socket, so it is destroyed after the request. */
function attachSocket(request: ClientRequest & { readonly timeout?: number }, route: InterceptedRoute): void {
  const socket = connectTo(route)
  socket.once('free', () => socket.destroy())
  request.onSocket(socket as unknown as Socket)
  if (request.timeout) socket.limitSilence(request.timeout)
}

type RequestWithAgent = ClientRequest & { readonly agent?: Agent }
/** Node calls it with null and an error too, which its types omit. */
type OnSocket = (this: RequestWithAgent, socket: Socket | null, error?: Error) => void

const requestPrototype = ClientRequest.prototype as ClientRequest & { onSocket: OnSocket }

/** Without an agent, a request has a `createConnection` of its own. Its connection is replaced. */
function patchOnSocket(): () => void {
  const original = requestPrototype.onSocket
  const onSocket: OnSocket = function (socket, error) {
    const route = this.agent || socket instanceof MemorySocket ? null : findRoute(ownUrlOf(this))
    if (route === null) return original.call(this, socket, error)
    socket?.on('error', () => {}).destroy()
    original.call(this, connectTo(route) as unknown as Socket)
  }
  requestPrototype.onSocket = onSocket
  return () => {
    if (requestPrototype.onSocket === onSocket) requestPrototype.onSocket = original
  }
}

/** The request stores its port in the `Host` header only. Without an agent, Node adds port 80 there for HTTPS too. */
function ownUrlOf(request: ClientRequest): URL | null {
  const host = String(request.getHeader('host') ?? request.host).replace(/:80$/, '')
  return requestUrl(`${request.protocol}//${host}`, request.path)
}
