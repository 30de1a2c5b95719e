/**
 * Answers usual requests of `fetch` without HTTP, in half of the time. Others, and those whose answer a fault changes, go
 * over HTTP in memory.
 */
import { channel } from 'node:diagnostics_channel'
import { STATUS_CODES } from 'node:http'
import type { Dispatcher } from 'undici'
import { httpDate } from '../../base/runtime/clock.ts'
import { type ApiRequest, type ApiResponse, internalErrorResponse } from '../../platform/api/messages.ts'
import { type InterceptedRoute, relativeTo } from './intercepted-routes.ts'
import { noteThrown } from './memory-servers.ts'

/** What `fetch` of Node 20 to 24, and of undici 5 to 7, dispatches. `onResponseStarted` is its own: it times responses. */
interface FetchHandler {
  onConnect(abort: (reason: Error) => void): void
  onResponseStarted(): void
  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean
  onData(bytes: Buffer): boolean
  onComplete(trailers: string[]): void
  onError(error: unknown): void
}

interface FetchOptions {
  readonly origin: string
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncGenerator<Uint8Array> | null
}

/** Both are those that the caller dispatched, so that they can be dispatched again. */
export interface FetchCall {
  readonly options: Dispatcher.DispatchOptions & FetchOptions
  readonly handler: Dispatcher.DispatchHandler & FetchHandler
}

/** Tools that trace requests subscribe to these channels; undici publishes requests that it sends itself. */
const TRACES = ['request:create', 'request:headers', 'request:error', 'client:sendHeaders', 'client:connected'].map(
  name => channel(`undici:${name}`),
)

/** Returns null for a request of another client or another form, for one that upgrades its connection, and for a traced one. */
export function asFetchCall(
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): FetchCall | null {
  if (TRACES.some(({ hasSubscribers }) => hasSubscribers)) return null
  return isFetchHandler(handler) && isUsual(options) ? { options, handler } : null
}

const METHODS = ['onConnect', 'onResponseStarted', 'onHeaders', 'onData', 'onComplete', 'onError']

const isFetchHandler = (handler: Dispatcher.DispatchHandler): handler is FetchCall['handler'] =>
  METHODS.every(name => typeof Reflect.get(handler, name) === 'function')

const isUsual = (options: Dispatcher.DispatchOptions): options is FetchCall['options'] =>
  typeof options.origin === 'string' &&
  !options.upgrade &&
  isTextRecord(options.headers) &&
  (options.body === null || Object.prototype.toString.call(options.body) === '[object AsyncGenerator]')

const isTextRecord = (headers: unknown): boolean =>
  typeof headers === 'object' && headers !== null && Object.values(headers).every(value => typeof value === 'string')

/** Sends a request over HTTP in memory, and answers it with this answer. */
type AnswerOverHttp = (body: Uint8Array, answer: ApiResponse) => void

/** The request reaches the API with its whole body, unless `fetch` was aborted before. */
export async function answerFetch(route: InterceptedRoute, call: FetchCall, overHttp: AnswerOverHttp): Promise<void> {
  const { options, handler } = call
  let isOver = false
  const fail = (error: unknown) => {
    if (!isOver) handler.onError(error)
    isOver = true
  }
  try {
    const body = await readBody(options.body)
    handler.onConnect(fail)
    const answer = isOver ? null : await answerOf(route, options, body)
    if (answer === null || isOver) return
    isOver = true
    if (answer.wire !== undefined) overHttp(body, answer)
    else deliver(answer, answer.body, call)
  } catch (error) {
    handler.onError(error)
  }
}

async function readBody(body: FetchOptions['body']): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  if (body !== null) for await (const part of body) parts.push(part)
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
}

async function answerOf(route: InterceptedRoute, options: FetchOptions, body: Uint8Array): Promise<ApiResponse> {
  const { simulator, path } = route
  const { method } = options
  try {
    return await simulator.handle({ method, target: relativeTo(path, options.path), headers: headersOf(options), body })
  } catch (error) {
    noteThrown(simulator, error)
    return internalErrorResponse(error)
  }
}

/** The headers that a server receives. `fetch` itself adds the length of a body that is no stream. */
function headersOf({ origin, headers, body }: FetchOptions): ApiRequest['headers'] {
  const received: Record<string, string> = { host: new URL(origin).host, connection: 'keep-alive' }
  for (const name in headers) received[name.toLowerCase()] = headers[name] ?? ''
  if (body !== null && received['content-length'] === undefined) received['transfer-encoding'] = 'chunked'
  return received
}

const nothing = () => {}

function deliver({ status, headers }: ApiResponse, body: string | Uint8Array, call: FetchCall): void {
  const { options, handler } = call
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  const length = options.method === 'HEAD' || status === 204 ? {} : { 'content-length': String(bytes.length) }
  const sent = { ...headers, ...length, date: httpDate(), connection: 'keep-alive' }
  const raw = Object.entries(sent).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value, 'latin1')])
  handler.onResponseStarted()
  handler.onHeaders(status, raw, nothing, STATUS_CODES[status] ?? '')
  if (bytes.length > 0) handler.onData(bytes)
  handler.onComplete([])
}
