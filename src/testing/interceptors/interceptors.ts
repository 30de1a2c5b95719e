/** `handover-sim/interceptors`: answers the HTTP clients of this process from a simulator, without a port. */
import { FetchInterceptor } from '@mswjs/interceptors/fetch/web'
import { HttpRequestInterceptor } from '@mswjs/interceptors/http'
import { SocketInterceptor } from '@mswjs/interceptors/net'
import { XMLHttpRequestInterceptor } from '@mswjs/interceptors/XMLHttpRequest/web'
import { activeRoutes, createRoutes, findRoute, type Intercepted, isInterceptedAddress } from './intercepted-routes.ts'

export type { Intercepted }

/** An active interception. It ends with `stop()`, or with the block of `using`. */
export interface Interception extends Disposable {
  /** Sends requests to their own address again. Requests in flight still get their answer. */
  stop(): void
}

type LibraryInterceptor = SocketInterceptor | HttpRequestInterceptor | FetchInterceptor | XMLHttpRequestInterceptor

/** Removes what is applied while at least one interception is active. */
const undo: (() => void)[] = []

/**
 * Answers requests of `fetch`, undici, `node:http` and `node:https`, of clients built on them, such as axios and got, and
 * of `XMLHttpRequest` in jsdom and happy-dom, when they go to the base URL of a simulator. Other requests are not changed.
 * Needs Node 22 or newer; throws in Bun and Deno.
 *
 * @throws TypeError for a value that is not a simulator, for options, for an empty list, and for two simulators with the same base URL.
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
export function intercept(simulators: Intercepted | readonly Intercepted[]): Interception
export function intercept(simulators: Intercepted | readonly Intercepted[], index?: unknown): Interception {
  checkRuntime()
  // A number is the position that `map` and `forEach` pass.
  if (typeof index === 'object')
    throw new TypeError(
      'intercept takes one argument and no options; several simulators are a list: intercept([one, two]).',
    )
  const list: readonly Intercepted[] = Array.isArray(simulators) ? simulators : [simulators]
  // Rejects an empty list, and two simulators at the same address, because the second would never
  // answer.
  if (list.length === 0)
    throw new TypeError('intercept takes at least one simulator, received an empty list: intercept(createSimulator()).')
  const urls = new Set<string>()
  for (const simulator of list) {
    if (typeof simulator?.baseUrl !== 'string' || typeof simulator.fetch !== 'function')
      throw new TypeError('intercept takes a simulator, or a list of simulators.')
    const { baseUrl } = simulator
    if (!URL.canParse(baseUrl))
      throw new TypeError(`The base URL of a simulator must be a URL, received ${JSON.stringify(baseUrl)}.`)
    const url = new URL(baseUrl).href.replace(/\/+$/, '')
    if (urls.has(url)) throw new TypeError(`Two simulators answer at ${url}: give one of them another baseUrl.`)
    urls.add(url)
  }

  const routes = createRoutes(list)
  if (activeRoutes.length === 0) applyInterceptors()
  activeRoutes.unshift(routes)
  const stop = () => {
    if (!activeRoutes.includes(routes)) return
    activeRoutes.splice(activeRoutes.indexOf(routes), 1)
    if (activeRoutes.length === 0) disposeInterceptors()
  }
  return { stop, [Symbol.dispose]: stop }
}

/** The HTTP clients of Bun and Deno do not use the sockets that are replaced: they would not be answered. */
function checkRuntime(): void {
  const { node = '0', bun, deno } = globalThis.process?.versions ?? {}
  if (bun === undefined && deno === undefined && Number.parseInt(node, 10) >= 22) return
  let runtime = `Node ${node}`
  if (bun !== undefined) runtime = `Bun ${bun}`
  else if (deno !== undefined) runtime = `Deno ${deno}`
  throw new Error(
    `handover-sim/interceptors needs Node 22 or newer, and this is ${runtime}. Pass sim.fetch to your code, use msw 2 with handover-sim/msw, or a simulator with a port: startSimulator().`,
  )
}

const PAGE_GLOBALS = ['Document', 'XMLHttpRequest', 'XMLHttpRequestUpload']

/** Applies all interceptors or none. */
function applyInterceptors(): void {
  try {
    const interceptors: (HttpRequestInterceptor | FetchInterceptor | XMLHttpRequestInterceptor)[] = [
      new HttpRequestInterceptor(),
    ]
    // A page asks another origin for permission (CORS) before it connects, so there the functions of the page are replaced.
    // A polyfill of XMLHttpRequest for Node needs no page, and its requests are those of node:http.
    if (PAGE_GLOBALS.every(name => name in globalThis))
      interceptors.push(new FetchInterceptor(), new XMLHttpRequestInterceptor())
    exemptInternalConnections()
    exposeFetchClasses()
    for (const interceptor of interceptors) {
      apply(interceptor)
      interceptor.on('request', respond)
    }
    const sockets = SocketInterceptor.singleton(SocketInterceptor)
    apply(sockets)
    sockets.on('connection', passHttp2)
    undo.push(() => sockets.removeListener('connection', passHttp2))
  } catch (error) {
    disposeInterceptors()
    throw error
  }
}

/** Of `@mswjs/interceptors`, for all its copies in a process: connections that no copy may intercept. */
interface InternalConnections {
  run<Result>(connect: () => Result): Result
  /** Whether a connection is internal. Answers yes only once for each. */
  consume(): boolean
}

/**
 * Exempts an internal connection from all copies of the library: ours, and that of msw 3 or nock 15. The library exempts it
 * from one copy only, so that two copies would pass a TLS connection to another address to each other without end.
 */
function exemptInternalConnections(): void {
  const shared: InternalConnections | undefined = Reflect.get(globalThis, '__MSW_INTERNAL_CONNECTION_CONTEXT')
  if (shared === undefined) return
  const { run, consume } = shared
  let isConnecting = false
  shared.run = connect =>
    run(() => {
      isConnecting = true
      try {
        return connect()
      } finally {
        isConnecting = false
      }
    })
  // Asks the library in any case, so that it exempts no later connection.
  shared.consume = () => consume() || isConnecting
  undo.push(() => Object.assign(shared, { run, consume }))
}

/** Adds the classes of `fetch`, which the library reads from the globals, where Jest with jsdom hides them. */
function exposeFetchClasses(): void {
  for (const [name, value] of Object.entries({ Headers, Request, Response })) {
    if (name in globalThis) continue
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    undo.push(() => Reflect.deleteProperty(globalThis, name))
  }
}

function apply(interceptor: LibraryInterceptor): void {
  interceptor.apply(undo)
  undo.push(() => interceptor.dispose(undo))
}

function disposeInterceptors(): void {
  for (const remove of undo.splice(0).reverse()) remove()
}

interface ConnectionEvent {
  readonly connectionOptions: object
  readonly controller: { passthrough(): void }
}

/**
 * The library waits for the first bytes of a request, and never sees those of an HTTP/2 session. Opens a connection that
 * offers only HTTP/2 if it goes to another address, and fails one to a simulator.
 */
function passHttp2({ connectionOptions, controller }: ConnectionEvent): void {
  const options: { host?: string; port?: number | string; ALPNProtocols?: unknown } = connectionOptions
  if (String(options.ALPNProtocols) !== 'h2') return
  const address = `${options.host ?? 'localhost'}:${options.port}`
  if (!isInterceptedAddress(address)) return controller.passthrough()
  throw new Error(
    `handover-sim/interceptors does not answer HTTP/2 sessions (${address}). Use HTTP/1.1, or startSimulator().`,
  )
}

interface RequestEvent {
  readonly request: Request
  readonly controller: {
    respondWith(response: Response): void
    errorWith(reason?: object | Error): void
  }
}

/** A request without a route is not answered, and goes to its own address. */
async function respond({ request, controller }: RequestEvent): Promise<void> {
  const route = URL.canParse(request.url) ? findRoute(request.url) : undefined
  if (route === undefined) return
  try {
    await controller.respondWith(await withLength(await route.simulator.fetch(request)))
  } catch (error) {
    // `fetch` reports a lost connection as an error whose cause is that of the socket.
    controller.errorWith(error instanceof Error && error.cause instanceof Error ? error.cause : Object(error))
  }
}

/** Adds the length of the body, without which a client closes the connection after each response. */
async function withLength(response: Response): Promise<Response> {
  const { status, headers, body } = response
  if (body === null || headers.has('content-length')) return response
  const bytes = await response.arrayBuffer()
  headers.set('content-length', String(bytes.byteLength))
  return new Response(bytes, { status, headers })
}
