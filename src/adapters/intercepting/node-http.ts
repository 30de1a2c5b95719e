/**
 * Clients of `node:http` and `node:https`: axios, got, node-fetch and what else is built on them. Every request with an
 * agent, which is nearly every one, asks its agent for a connection; there it gets one to a simulator.
 */
import { Agent, type ClientRequest, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { connectTo } from './connect.ts'
import { findRoute, type Route, requestUrl } from './routes.ts'

type AddRequest = (this: Agent, request: ClientRequest, options: RequestOptions, ...rest: unknown[]) => void

/** Node's own name for it; every agent inherits it, also those of https. */
const prototype = Agent.prototype as unknown as { addRequest: AddRequest }

/** Returns the way back. */
export function catchNodeHttp(): () => void {
  const original = prototype.addRequest
  const addRequest: AddRequest = function (request, options, ...rest) {
    const route = options.socketPath ? null : findRoute(urlOf(request, options))
    if (route === null) original.call(this, request, options, ...rest)
    else attach(request, route)
  }
  prototype.addRequest = addRequest
  return () => {
    if (prototype.addRequest === addRequest) prototype.addRequest = original
  }
}

function urlOf({ protocol, path }: ClientRequest, { host, port }: RequestOptions): URL | null {
  const name = host?.includes(':') ? `[${host}]` : (host ?? 'localhost')
  return requestUrl(`${protocol}//${name}${port ? `:${port}` : ''}`, path)
}

/** One connection per request: it is not the agent's, so nobody keeps it. */
function attach(request: ClientRequest & { readonly timeout?: number }, route: Route): void {
  const socket = connectTo(route)
  socket.once('free', () => socket.destroy())
  request.onSocket(socket as unknown as Socket)
  if (request.timeout) socket.limitSilence(request.timeout)
}
