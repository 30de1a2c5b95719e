/** Serves the platform over `node:http`. No behaviour of a client can end the process. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { nextMacrotask, oncePerTurn } from '../base/runtime/clock.ts'
import { type BodyPieces, isInPieces } from '../base/runtime/pieces.ts'
import { sendFaultyResponse } from '../platform/api/faulty-responses.ts'
import type { Api } from '../platform/api/handle.ts'
import { type ApiRequest, type ApiResponse, internalErrorResponse } from '../platform/api/messages.ts'
import type { Maybe } from '../platform/rules/engines.ts'
import { ignoreBodyOf, receiveBodyOf } from './body-request.ts'

const EMPTY = new Uint8Array(0)

/** Receives an error of the simulator that was thrown while it answered. */
type OnThrown = (error: unknown) => void

/** A request, and where its answer goes. */
interface Exchange {
  readonly call: ApiRequest
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** `bodyLimit` returns the maximum length of a request body, in bytes. */
export function createNodeAdapter(api: Api, bodyLimit: () => number, onThrown: OnThrown = () => {}) {
  const answer = createAnswer(api, onThrown)
  return createListener(bodyLimit, exchange => answer([exchange]))
}

/**
 * The same for a server with many connections: it handles all requests that arrive in one turn of the event loop, and
 * then sends their answers. Equal work in a row takes a third less time: its code stays in the caches of the processor,
 * and a client with many connections is awakened less often.
 */
export function createBatchAdapter(api: Api, bodyLimit: () => number, onThrown: OnThrown) {
  return createListener(bodyLimit, oncePerTurn(createAnswer(api, onThrown)))
}

function createListener(bodyLimit: () => number, receive: (exchange: Exchange) => void) {
  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const received = (body: Uint8Array, tooLarge: boolean) =>
      receive({ call: callOf(request, body, tooLarge), request, response })
    if (request.method === 'GET' || request.method === 'HEAD') {
      ignoreBodyOf(request)
      received(EMPTY, false)
    } else receiveBodyOf(request, bodyLimit(), received)
  }
}

type TextHeaders = Readonly<Record<string, string>>

/** Node joins headers that come twice, except `Set-Cookie`, which is no header of a request. */
function textHeaders(headers: IncomingHttpHeaders): TextHeaders {
  const { 'set-cookie': cookies } = headers
  const joined = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') }
  return joined as TextHeaders
}

/** The headers of the latest request, because clients repeat most of them with every call, and the journal stores all. */
let latest: TextHeaders = {}
let latestCount = 0

/**
 * The same headers, with the texts of the latest request in place of equal ones. It reads names with `Object.keys`, because
 * V8 drops its optimized code for `for in` over such objects again and again under load.
 */
export function sharedHeaders(headers: TextHeaders): TextHeaders {
  const names = Object.keys(headers)
  if (names.length === latestCount && names.every(name => headers[name] === latest[name])) return latest
  const values: Record<string, string> = {}
  for (const name of names) values[name] = (headers[name] === latest[name] ? latest : headers)[name] ?? ''
  latest = values
  latestCount = names.length
  return values
}

const callOf = (request: IncomingMessage, body: Uint8Array, tooLarge: boolean): ApiRequest => ({
  method: request.method ?? 'GET',
  target: request.url ?? '/',
  headers: sharedHeaders(textHeaders(request.headers)),
  body,
  tooLarge,
})

/** Reports an error of the simulator, and returns its answer. */
type Failed = (error: unknown) => ApiResponse

/** Handles all calls, and then sends the answers that are ready. */
function createAnswer(api: Api, onThrown: OnThrown) {
  const failed: Failed = error => {
    onThrown(error)
    return internalErrorResponse(error)
  }
  return (exchanges: readonly Exchange[]): void => {
    const answers = exchanges.map(({ call }) => handled(api, call, failed))
    exchanges.forEach((exchange, at) => {
      const answer = answers[at]
      if (answer instanceof Promise) answer.catch(failed).then(ready => sendNow(ready, exchange, failed))
      else if (answer !== undefined) sendNow(answer, exchange, failed)
    })
  }
}

function handled(api: Api, call: ApiRequest, failed: Failed): Maybe<ApiResponse> {
  try {
    return api(call)
  } catch (error) {
    return failed(error)
  }
}

function sendNow(answer: ApiResponse, exchange: Exchange, failed: Failed): void {
  try {
    send(answer, exchange)?.catch(error => resend(failed(error), exchange))
  } catch (error) {
    resend(failed(error), exchange)
  }
}

/** Sends an answer in place of one that could not be sent. */
function resend(answer: ApiResponse, exchange: Exchange): void {
  if (exchange.response.headersSent) exchange.response.destroy()
  else void send(answer, exchange)
}

/** Writes plain ASCII, which most answers are, without encoding it again. Returns a promise only for a slow answer. */
function send(answer: ApiResponse, { request, response }: Exchange): Promise<void> | undefined {
  if (response.destroyed) return
  const { status, headers, body, isAscii, wire } = answer
  if (wire !== undefined) return sendFaultyResponse(answer, wire, request, response)
  const length = typeof body === 'string' && !isAscii ? Buffer.byteLength(body) : body.length
  if (request.method !== 'HEAD' && status !== 204) headers['content-length'] = String(length)
  response.writeHead(status, headers)
  if (typeof body === 'string') response.end(body, length === body.length ? 'latin1' : 'utf8')
  else if (isInPieces(body)) return sendPieces(body, response)
  else response.end(body)
}

/** Sends each piece when the client has read the ones before it. */
async function sendPieces({ pieces }: BodyPieces, response: ServerResponse): Promise<void> {
  for (const piece of pieces) {
    if (!response.write(piece)) await writable(response)
    await nextMacrotask()
    if (response.destroyed) return
  }
  response.end()
}

/** Resolves when the response accepts more, or never will. */
const writable = (response: ServerResponse): Promise<void> =>
  new Promise(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
