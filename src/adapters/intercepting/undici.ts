/** Clients of undici: Node's own `fetch`, and an installed undici with its global dispatcher. */
import { runInThisContext } from 'node:vm'
import { Agent, type buildConnector, Dispatcher } from 'undici'
import { connectTo } from './connect.ts'
import { findRoute, type Route, requestUrl } from './routes.ts'

/** Where every version of undici, the one inside Node too, keeps its dispatcher. */
const PLACES = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

type Realm = Record<symbol, Dispatcher | undefined>

/** Returns the way back. */
export function catchUndici(): () => void {
  void globalThis.Response // Node loads its undici, and with it the dispatcher, when one of its classes is first asked for
  const undo = [...new Set([globalThis, outermost()])].flatMap(realm => PLACES.map(place => replace(realm, place)))
  return () => {
    for (const back of undo) back()
  }
}

/** A test runner may run tests in a context of their own, while `fetch` is that of the outermost one. */
const outermost = () => runInThisContext('Response, globalThis') as typeof globalThis

function replace(realm: object, place: symbol): () => void {
  const holder = realm as Realm
  const previous = holder[place]
  if (previous === undefined) return () => {}
  const router = new RequestRouter(previous)
  holder[place] = router
  return () => {
    if (holder[place] === router) holder[place] = previous
  }
}

/** Sends what belongs to a simulator there, and everything else where it would have gone. */
class RequestRouter extends Dispatcher {
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

const agents = new WeakMap<Route, Agent>()

function agentOf(route: Route): Agent {
  const known = agents.get(route)
  if (known !== undefined) return known
  // Undici does not expect a connection within the call that asks for it. A promise, because tests may stop timers.
  const connect: buildConnector.connector = (_, done) =>
    void Promise.resolve().then(() => done(null, connectTo(route) as never))
  const agent = new Agent({ connect })
  agents.set(route, agent)
  return agent
}

/** What is in flight still gets its answer; connections that wait for more are closed. */
export function releaseUndici(routes: readonly Route[]): void {
  for (const route of routes) void agents.get(route)?.close()
}
