/** Serves the platform over `node:http`. No behaviour of a client can end the process. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api/handle.ts'
import { type ApiRequest, type ApiResponse, internalErrorResponse } from '../api/messages.ts'
import { nextMacrotask } from '../runtime/clock.ts'
import { type BodyPieces, isInPieces } from '../runtime/pieces.ts'
import { ignoreBodyOf, receiveBodyOf } from './body-request.ts'
import { sendFaultyResponse } from './faulty-responses.ts'

const EMPTY = new Uint8Array(0)

/** Receives an error of the simulator that was thrown while it answered. */
type OnThrown = (error: unknown) => void

/** `bodyLimit` returns the maximum length of a request body, in bytes. */
export function createNodeAdapter(api: Api, bodyLimit: () => number, onThrown: OnThrown = () => {}) {
  const answer = createAnswer(api, onThrown)
  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' || request.method === 'HEAD') {
      ignoreBodyOf(request)
      return answer(exchangeOf(request, EMPTY, false), request, response)
    }
    receiveBodyOf(request, bodyLimit(), (body, tooLarge) =>
      answer(exchangeOf(request, body, tooLarge), request, response),
    )
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

/** The same headers, with the texts of the latest request in place of equal ones. */
function shared(headers: TextHeaders): TextHeaders {
  if (isEqual(headers, latest)) return latest
  const values: Record<string, string> = {}
  for (const name in headers) values[name] = (headers[name] === latest[name] ? latest : headers)[name] ?? ''
  latest = values
  return values
}

function isEqual(one: TextHeaders, other: TextHeaders): boolean {
  let count = 0
  for (const name in one) {
    if (one[name] !== other[name]) return false
    count++
  }
  for (const _ in other) count--
  return count === 0
}

const exchangeOf = (request: IncomingMessage, body: Uint8Array, tooLarge: boolean): ApiRequest => ({
  method: request.method ?? 'GET',
  target: request.url ?? '/',
  headers: shared(textHeaders(request.headers)),
  body,
  tooLarge,
})

function createAnswer(api: Api, onThrown: OnThrown) {
  return (exchange: ApiRequest, request: IncomingMessage, response: ServerResponse): void => {
    const fail = (error: unknown) => {
      onThrown(error)
      if (response.headersSent) response.destroy()
      else void send(internalErrorResponse(error), request, response)
    }
    try {
      const result = api(exchange)
      if (result instanceof Promise) result.then(ready => send(ready, request, response)).catch(fail)
      else send(result, request, response)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

/** Writes plain ASCII, which most answers are, without encoding it again. Returns a promise only for a slow answer. */
function send(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
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
