/** `handover-sim/interceptors`: answers the HTTP clients of this process from a simulator, without a port. */

import { type ClientRequest, Agent as HttpAgent, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { runInThisContext } from 'node:vm'
import { Agent, type buildConnector, Dispatcher } from 'undici'
import {
  addRoutes,
  connectTo,
  findRoute,
  hasRoutes,
  type Intercepted,
  type InterceptedRoute,
  removeRoutes,
  requestUrl,
} from './intercepted-routes.ts'

export type { Intercepted }

/** An active interception. It ends with `stop()`, or with the block of `using`. */
export interface Interception extends Disposable {
  /** Sends requests to their own address again. Requests in flight still get their answer. */
  stop(): void
}

let patches: (() => void)[] = []

/**
 * Answers requests of `fetch`, undici, `node:http`, `node:https` and the clients built on them, such as axios and got,
 * when they go to the base URL of a simulator. Other requests are not changed. Needs Node.
 *
 * @throws TypeError for a value that is not a simulator, and for two simulators with the same base URL.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { intercept } from 'handover-sim/interceptors'
 *
 * const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
 * const interception = intercept(sim)
 * const response = await fetch('https://bot.example.test/api/v1/chats/c1')
 * console.log(response.status) // 401
 * interception.stop()
 */
export function intercept(simulators: Intercepted | readonly Intercepted[]): Interception {
  const all = isList(simulators) ? simulators : [simulators]
  checkSimulators(all)
  if (!hasRoutes()) patches = [patchNodeHttp(), patchUndici()]
  const routes = addRoutes(all)
  const stop = () => {
    if (!removeRoutes(routes)) return
    closeUndiciAgents(routes)
    if (!hasRoutes()) removePatches()
  }
  return { stop, [Symbol.dispose]: stop }
}

const isList = (simulators: Intercepted | readonly Intercepted[]): simulators is readonly Intercepted[] =>
  Array.isArray(simulators)

/** Rejects two simulators at the same address, because the second would never answer. */
function checkSimulators(simulators: readonly Intercepted[]): void {
  if (simulators.some(simulator => typeof simulator?.baseUrl !== 'string'))
    throw new TypeError('intercept takes a simulator, or a list of simulators.')
  const urls = simulators.map(({ baseUrl }) => baseUrl.replace(/\/+$/, ''))
  const duplicate = urls.find((url, index) => urls.indexOf(url) < index)
  if (duplicate === undefined) return
  throw new TypeError(`Two simulators answer at ${duplicate}: give one of them another baseUrl.`)
}

function removePatches(): void {
  for (const remove of patches.splice(0)) remove()
}

type AddRequest = (this: HttpAgent, request: ClientRequest, options: RequestOptions, ...rest: unknown[]) => void

/** `addRequest` is Node's own method, not in its types; agents of `node:https` inherit it. */
const httpAgent = HttpAgent.prototype as HttpAgent & { addRequest: AddRequest }

/**
 * Patches `node:http` and `node:https`, and so axios, got and node-fetch: a request asks its agent for a connection and
 * gets one to a simulator. Returns a function that removes the patch.
 */
function patchNodeHttp(): () => void {
  const original = httpAgent.addRequest
  const addRequest: AddRequest = function (request, options, ...rest) {
    const route = options.socketPath ? null : findRoute(urlOf(request, options))
    if (route === null) original.call(this, request, options, ...rest)
    else attachSocket(request, route)
  }
  httpAgent.addRequest = addRequest
  return () => {
    if (httpAgent.addRequest === addRequest) httpAgent.addRequest = original
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

/** The keys of the global dispatcher in all versions of undici, including the one inside Node. */
const DISPATCHER_KEYS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

/**
 * Patches the global dispatcher of Node's own `fetch` and of an installed undici. Returns a function that removes the
 * patch.
 */
function patchUndici(): () => void {
  void globalThis.Response // Node loads undici and its dispatcher when one of these classes is first read.
  const realms = [...new Set([globalThis, mainRealm()])]
  const undo = realms.flatMap(realm => DISPATCHER_KEYS.map(key => replaceDispatcher(realm, key)))
  return () => {
    for (const restore of undo) restore()
  }
}

/** Returns the main realm: a test runner may run tests in another one, but `fetch` belongs to the main one. */
const mainRealm = (): typeof globalThis => runInThisContext('Response, globalThis')

function replaceDispatcher(realm: object, key: symbol): () => void {
  const previous: Dispatcher | undefined = Reflect.get(realm, key)
  if (previous === undefined) return () => {}
  const patched = new InterceptingDispatcher(previous)
  Reflect.set(realm, key, patched)
  return () => {
    if (Reflect.get(realm, key) === patched) Reflect.set(realm, key, previous)
  }
}

/** Sends requests for a simulator to it, and all others to the previous dispatcher. */
class InterceptingDispatcher extends Dispatcher {
  #previous: Dispatcher

  constructor(previous: Dispatcher) {
    super()
    this.#previous = previous
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const route = options.origin === undefined ? null : findRoute(requestUrl(originOf(options.origin), options.path))
    return (route === null ? this.#previous : agentOf(route)).dispatch(options, handler)
  }

  override close(...args: unknown[]): Promise<void> {
    return Reflect.apply(this.#previous.close, this.#previous, args)
  }

  override destroy(...args: unknown[]): Promise<void> {
    return Reflect.apply(this.#previous.destroy, this.#previous, args)
  }
}

const originOf = (origin: string | URL): string =>
  typeof origin === 'string' ? origin.replace(/\/+$/, '') : origin.origin

const agents = new WeakMap<InterceptedRoute, Agent>()

function agentOf(route: InterceptedRoute): Agent {
  const known = agents.get(route)
  if (known !== undefined) return known
  // Undici requires that the connection arrives after the call returns. Fake timers do not delay a promise.
  const connect: buildConnector.connector = (_, done) =>
    void Promise.resolve().then(() => done(null, connectTo(route) as never))
  const agent = new Agent({ connect })
  agents.set(route, agent)
  return agent
}

/** Closes the idle connections of these routes. Requests in flight still get their answer. */
function closeUndiciAgents(routes: readonly InterceptedRoute[]): void {
  for (const route of routes) void agents.get(route)?.close()
}
