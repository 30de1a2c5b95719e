/** Lets an application of this process be the webhook, without a port: Express, Nest, Fastify, `node:http`, `fetch`. */
import { isMap } from '../../base/objects.ts'
import type { NodeListener } from '../../base/runtime/http-transport.ts'
import type { WebhookContext } from '../../base/runtime/transport.ts'
import { anything, DEFAULTS, describeValue, invalidOption, optionKind, type Shape, validateOptions } from './options.ts'

/** Options of `fromNode` and `fromFastify`. */
export interface WebhookAdapterOptions {
  /** The path to which events are posted. Default `/webhook`. */
  readonly path?: string
}

/** The option `webhook` for an application with a request listener of `node:http`. */
export interface ListenerWebhook {
  readonly url: string
  readonly listener: NodeListener
}

/** Options of `fromFetch`. */
export interface FetchAdapterOptions extends WebhookAdapterOptions {
  /** What a worker receives as `env`: bindings and secrets. Default `{}`. */
  readonly env?: unknown
}

/** An application that answers a `Request` with a `Response`. */
interface FetchApplication {
  fetch(request: Request, env: unknown, context: WebhookContext): Response | Promise<Response>
}

type FetchFunction = FetchApplication['fetch']

/** The option `webhook` for an application that answers a `Request` with a `Response`. */
export interface FetchWebhook extends FetchApplication {
  readonly url: string
  readonly env?: unknown
}

/** The part of a server of `node:http` that passes a request to its listeners. */
interface RequestEmitter {
  emit(event: 'request', ...args: Parameters<NodeListener>): boolean
}

/** The part of a Nest application that creates and returns the application of Express or Fastify inside. */
interface NestApplication {
  init(): Promise<unknown>
  getHttpAdapter(): { getInstance(): unknown }
}

/** The part of a Fastify application that starts its plugins and answers a request. */
interface FastifyApplication {
  ready(): PromiseLike<unknown>
  routing(...args: Parameters<NodeListener>): void
}

/**
 * Makes an Express or Nest application, a server or a request listener of `node:http` the webhook. Each event arrives as
 * a request of `node:http` with the bytes that were signed, over a connection in memory. A Nest application is
 * initialized with the first event.
 *
 * @throws InvalidOptionError for another value, and for a path that does not begin with `/`.
 * @example
 * import { createServer } from 'node:http'
 * import { createSimulator, fromNode } from 'handover-sim'
 *
 * const app = createServer((request, response) => response.end('ok'))
 * const sim = createSimulator({ webhook: fromNode(app, { path: '/hooks/platform' }) })
 */
export function fromNode(
  application: NodeListener | RequestEmitter | NestApplication,
  options: WebhookAdapterOptions = {},
): ListenerWebhook {
  const listener = listenerOf(application)
  if (listener === null) throw unknownApplication('fromNode', EXPECTED.node, application)
  return { url: urlFrom('fromNode', options), listener }
}

/**
 * Makes a Fastify application the webhook. Its plugins are loaded with the first event. Otherwise as `fromNode`.
 *
 * @throws InvalidOptionError for another value, and for a path that does not begin with `/`.
 * @example
 * const app = {
 *   ready: async () => {},
 *   routing: (_request: unknown, response: { end(): void }) => response.end(),
 * }
 * const other = createSimulator({ webhook: fromFastify(app) })
 */
export function fromFastify(application: FastifyApplication, options: WebhookAdapterOptions = {}): ListenerWebhook {
  if (!isFastify(application)) throw unknownApplication('fromFastify', EXPECTED.fastify, application)
  return { url: urlFrom('fromFastify', options), listener: fastifyListener(application) }
}

/**
 * Makes a function from `Request` to `Response`, or an application with such a method `fetch`, the webhook: Hono, a route
 * handler of Next.js, a worker. It is called as a worker is, with `(request, env, context)`.
 *
 * @throws InvalidOptionError for another value, and for a path that does not begin with `/`.
 * @example
 * const other = createSimulator({ webhook: fromFetch(async request => new Response(await request.text())) })
 */
export function fromFetch(
  application: FetchFunction | FetchApplication,
  options: FetchAdapterOptions = {},
): FetchWebhook {
  const { env } = options
  const url = urlFrom('fromFetch', options, { env: anything })
  if (typeof application === 'function') return { url, env, fetch: (...given) => application(...given) }
  if (typeof application?.fetch === 'function') return { url, env, fetch: (...given) => application.fetch(...given) }
  throw unknownApplication('fromFetch', EXPECTED.fetch, application)
}

/** An Express application is a function. Nest returns one, or a Fastify application. */
function listenerOf(application: unknown): NodeListener | null {
  if (isListener(application)) return application
  if (isNest(application)) return nestListener(application)
  if (isFastify(application)) return fastifyListener(application)
  return isEmitter(application) ? (...args) => application.emit('request', ...args) : null
}

const isListener = (value: unknown): value is NodeListener => typeof value === 'function'
const has = (value: unknown, ...methods: string[]) =>
  isMap(value) && methods.every(name => typeof value[name] === 'function')
const isEmitter = (value: unknown): value is RequestEmitter => has(value, 'emit', 'listen')
const isNest = (value: unknown): value is NestApplication => has(value, 'init', 'getHttpAdapter')
const isFastify = (value: unknown): value is FastifyApplication => has(value, 'ready', 'routing')

const fastifyListener =
  (application: FastifyApplication): NodeListener =>
  async (request, response) => {
    await application.ready()
    application.routing(request, response)
  }

/** Nest would initialize an application again for an event that arrives while the first one waits for it. */
function nestListener(application: NestApplication): NodeListener {
  let ready: Promise<unknown> | null = null
  return async (request, response) => {
    ready ??= application.init()
    await ready
    const inner = application.getHttpAdapter().getInstance()
    const listener = listenerOf(inner)
    if (listener === null) throw unknownApplication('fromNode', EXPECTED.nest, inner)
    return listener(request, response)
  }
}

const PATH: Shape = {
  path: optionKind('a path such as /webhook', value => typeof value === 'string' && value.startsWith('/')),
}

/** The URL of the webhook. Checks the options, of which `more` are those beside the path. */
export function urlFrom(what: string, options: WebhookAdapterOptions, more: Shape = {}): string {
  validateOptions(what, options, { ...PATH, ...more })
  return options.path === undefined ? DEFAULTS.webhookUrl : new URL(options.path, DEFAULTS.webhookUrl).href
}

const EXPECTED = {
  node: 'an Express or Nest application, a server of node:http, or a function (request, response)',
  nest: 'a Nest application of Express or Fastify',
  fastify: 'a Fastify application',
  fetch: 'a function from Request to Response, or an object with such a function as fetch',
}

/** The error for a value that is no application of its kind. */
export const unknownApplication = (what: string, expected: string, value: unknown) =>
  invalidOption('webhook', `${what} takes ${expected}, got ${describeValue(value)}.`)
