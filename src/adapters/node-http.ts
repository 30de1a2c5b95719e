/** The platform over `node:http`: bytes in, one call, bytes out. Whatever a client does, the process survives it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { internal } from '../api/answers.ts'
import type { Answer, Exchange } from '../api/exchange.ts'
import type { Api } from '../api/handle.ts'
import { sendOddly } from './faulty-responses.ts'

const EMPTY = new Uint8Array(0)

export function createNodeAdapter(api: Api, limit: () => number) {
  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' || request.method === 'HEAD') {
      request.resume()
      return answer(api, exchangeOf(request, EMPTY, false), request, response)
    }
    collect(request, limit(), (body, tooLarge) => answer(api, exchangeOf(request, body, tooLarge), request, response))
  }
}

/** A declared length says it before the first byte. */
export const declaresTooMuch = (request: IncomingMessage, limit: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > limit

/** Keeps at most `limit` bytes. A larger body is answered at once; a body that breaks off is never answered. */
function collect(request: IncomingMessage, limit: number, done: (body: Uint8Array, tooLarge: boolean) => void): void {
  if (declaresTooMuch(request, limit)) return refuse(request, done)
  let first: Buffer | null = null
  let more: Buffer[] | null = null
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) {
      request.off('data', onData).off('end', onEnd)
      refuse(request, done)
    } else if (first === null) first = chunk
    else if (more === null) more = [first, chunk]
    else more.push(chunk)
  }
  const onEnd = () => done(more === null ? (first ?? EMPTY) : Buffer.concat(more), false)
  request.on('data', onData).on('end', onEnd)
}

/** How much of a refused body is still read, so that a client which only reads afterwards gets its answer. */
const DRAINED_BYTES = 64 * 1_048_576

function refuse(request: IncomingMessage, done: (body: Uint8Array, tooLarge: boolean) => void): void {
  let left = DRAINED_BYTES
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  done(EMPTY, true)
}

const exchangeOf = (request: IncomingMessage, body: Uint8Array, tooLarge: boolean): Exchange => ({
  method: request.method ?? 'GET',
  target: request.url ?? '/',
  headers: request.headers as Record<string, string>,
  body,
  tooLarge,
})

function answer(api: Api, exchange: Exchange, request: IncomingMessage, response: ServerResponse): void {
  const fail = (error: unknown) => send(internal(error), request, response)
  try {
    const result = api(exchange)
    if (!(result instanceof Promise)) return send(result, request, response)
    result.then(ready => send(ready, request, response)).catch(fail)
  } catch (error) {
    fail(error)
  }
}

/** Plain ASCII, which most answers are, is written without looking at each character again. */
function send(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (response.destroyed) return
  const { status, headers, body, wire } = answer
  if (wire !== undefined) return sendOddly(answer, wire, request, response)
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (request.method !== 'HEAD' && status !== 204) headers['content-length'] = String(length)
  response.writeHead(status, headers)
  if (typeof body !== 'string') response.end(body)
  else response.end(body, length === body.length ? 'latin1' : 'utf8')
}
