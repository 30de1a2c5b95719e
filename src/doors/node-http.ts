/** The platform over `node:http`: bytes in, one call, bytes out. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer, Exchange } from '../api/exchange.ts'
import type { Api } from '../api/handle.ts'

const EMPTY = new Uint8Array(0)

export function createNodeDoor(api: Api, limit: () => number) {
  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'GET' || request.method === 'HEAD') {
      request.resume()
      return answer(api, exchangeOf(request, EMPTY, false), request, response)
    }
    collect(request, limit(), (body, tooLarge) => answer(api, exchangeOf(request, body, tooLarge), request, response))
  }
}

/** Reads at most `limit` bytes; the rest of a larger body is read and dropped, so that the client gets its answer. */
function collect(request: IncomingMessage, limit: number, done: (body: Uint8Array, tooLarge: boolean) => void): void {
  let first: Buffer | null = null
  let more: Buffer[] | null = null
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) first = more = null
    else if (first === null) first = chunk
    else (more ??= [first]).push(chunk)
  })
  request.on('end', () => {
    if (size > limit) return done(EMPTY, true)
    done(more === null ? (first ?? EMPTY) : Buffer.concat(more), false)
  })
}

const exchangeOf = (request: IncomingMessage, body: Uint8Array, tooLarge: boolean): Exchange => ({
  method: request.method ?? 'GET',
  target: request.url ?? '/',
  headers: request.headers as Record<string, string>,
  body,
  tooLarge,
})

function answer(api: Api, exchange: Exchange, request: IncomingMessage, response: ServerResponse): void {
  const result = api(exchange)
  if (result instanceof Promise) result.then(ready => send(ready, request, response))
  else send(result, request, response)
}

function send({ status, headers, body }: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (response.destroyed) return
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (request.method !== 'HEAD' && status !== 204) headers['content-length'] = String(length)
  response.writeHead(status, headers)
  response.end(body)
}
