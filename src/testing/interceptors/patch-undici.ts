/** Connects the global dispatcher of undici, which `fetch` of Node uses too, to intercepted simulators. */
import { runInThisContext } from 'node:vm'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { afterThisCall, hasFakeTimers } from '../../base/runtime/clock.ts'
import type { ApiResponse } from '../../platform/api/messages.ts'
import { answerFetch, asFetchCall, type FetchCall } from './direct-dispatch.ts'
import { findRoute, type InterceptedRoute, requestUrl } from './intercepted-routes.ts'
import { connectTo } from './memory-servers.ts'

/** The keys of the global dispatcher in all versions of undici, including the one inside Node; the newest comes first. */
const DISPATCHER_KEYS = [Symbol.for('undici.globalDispatcher.2'), Symbol.for('undici.globalDispatcher.1')]

/** Returns a function that removes the patch. Other dispatchers reach a simulator through `patchSockets`. */
export function patchUndici(): () => void {
  void globalThis.Response // Node loads undici and its dispatcher when one of these classes is first read.
  const realms = [...new Set([globalThis, mainRealm()])]
  const undo = realms.flatMap(realm => DISPATCHER_KEYS.map(key => replaceDispatcher(realm, key)))
  return () => {
    for (const restore of undo.reverse()) restore()
  }
}

/** Returns the main realm: a test runner may run tests in another one, but `fetch` belongs to the main one. */
const mainRealm = (): typeof globalThis => runInThisContext('globalThis.Response, globalThis')

function replaceDispatcher(realm: object, key: symbol): () => void {
  const previous: Dispatcher | undefined = Reflect.get(realm, key)
  const createAgent = previous && agentFactory(previous, realm)
  if (!createAgent) return () => {}
  const patched = interceptingDispatcher(previous, createAgent)
  Reflect.set(realm, key, patched)
  return () => {
    if (Reflect.get(realm, key) === patched) Reflect.set(realm, key, previous)
  }
}

type CreateAgent = (options: Agent.Options) => Dispatcher

/**
 * Returns a function that creates an agent of the same version of undici, because versions differ in their handlers.
 * Undefined for a dispatcher of an unknown kind.
 */
function agentFactory(dispatcher: Dispatcher, realm: object): CreateAgent | undefined {
  const OwnAgent = agentClassOf(dispatcher)
  if (OwnAgent !== undefined) return options => new OwnAgent(options)
  if (dispatcher.constructor.name !== 'Dispatcher1Wrapper') return undefined
  const NewestAgent = agentClassOf(unpatched(Reflect.get(realm, DISPATCHER_KEYS[0] ?? '')))
  const Wrapper = dispatcher.constructor as new (wrapped: Dispatcher) => Dispatcher
  return NewestAgent && (options => new Wrapper(new NewestAgent(options)))
}

type AgentClass = new (options: Agent.Options) => Dispatcher

/** A dispatcher for proxies or for mocks contains an agent. */
function agentClassOf(dispatcher: Dispatcher | undefined): AgentClass | undefined {
  if (dispatcher === undefined) return undefined
  const parts = Object.getOwnPropertySymbols(dispatcher).map(key => Reflect.get(dispatcher, key))
  return [dispatcher, ...parts].map(part => part?.constructor).find(type => type?.name === 'Agent')
}

const previousOf = new WeakMap<Dispatcher, Dispatcher>()
const unpatched = (dispatcher: Dispatcher): Dispatcher => previousOf.get(dispatcher) ?? dispatcher

/** Sends requests for a simulator to it, and all others to the previous dispatcher. */
function interceptingDispatcher(previous: Dispatcher, createAgent: CreateAgent): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    const route =
      options.origin === undefined
        ? null
        : findRoute(
            requestUrl(
              typeof options.origin === 'string' ? options.origin.replace(/\/+$/, '') : options.origin.origin,
              options.path,
            ),
          )
    if (route === null) return previous.dispatch(options, handler)
    const call = asFetchCall(options, handler)
    if (call === null) return agentOf(route, previous, createAgent).dispatch(options, handler)
    void answerFetch(route, call, (body, answer) => answerOverHttp({ route, call, body, answer }, createAgent))
    return true
  }
  const patched = new Proxy(previous, {
    get: (target, key) => (key === 'dispatch' ? dispatch : boundTo(target, Reflect.get(target, key, target))),
  })
  previousOf.set(patched, previous)
  return patched
}

interface Answered {
  readonly route: InterceptedRoute
  readonly call: FetchCall
  readonly body: Uint8Array
  readonly answer: ApiResponse
}

/** Sends one request over a connection of its own, whose other end has the answer. */
function answerOverHttp({ route, call, body, answer }: Answered, createAgent: CreateAgent): void {
  const simulator = { baseUrl: route.simulator.baseUrl, handle: () => answer }
  const agent = createAgent({ pipelining: NEW_CONNECTIONS, connect: memoryConnector({ ...route, simulator }) })
  agent.dispatch({ ...call.options, body: call.options.body && body }, call.handler)
  void agent.close()
}

/** Methods with private fields work on the dispatcher itself only. */
const boundTo = (target: object, value: unknown): unknown =>
  typeof value === 'function' && value !== target.constructor ? value.bind(target) : value

interface RouteAgent {
  readonly previous: Dispatcher
  readonly pipelining: number
  readonly agent: Dispatcher
}

const agents = new WeakMap<InterceptedRoute, RouteAgent[]>()

function agentOf(route: InterceptedRoute, previous: Dispatcher, createAgent: CreateAgent): Dispatcher {
  const ofRoute = agents.get(route) ?? []
  const pipelining = hasFakeTimers() ? NEW_CONNECTIONS : KEPT_CONNECTIONS
  const known = ofRoute.find(one => one.previous === previous && one.pipelining === pipelining)
  if (known !== undefined) return known.agent
  const agent = createAgent({ pipelining, connect: memoryConnector(route) })
  agents.set(route, [...ofRoute, { previous, pipelining, agent }])
  return agent
}

/** As 1, but the next request in a row uses the connection again. With 1, undici opens another one for it. */
const KEPT_CONNECTIONS = 0.5

/** Before it uses a connection again, undici waits for a turn of the event loop, which may never come under fake timers. */
const NEW_CONNECTIONS = 0

/** Undici requires that the connection arrives after the call returns. */
const memoryConnector =
  (route: InterceptedRoute): buildConnector.connector =>
  (_, done) =>
    afterThisCall(() => done(null, connectTo(route) as never))

/** Closes the idle connections of these routes. Requests in flight still get their answer. */
export function closeUndiciAgents(routes: readonly InterceptedRoute[]): void {
  for (const route of routes) for (const { agent } of agents.get(route) ?? []) void agent.close()
}
