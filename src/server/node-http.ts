/** Serves the platform over `node:http`. No behaviour of a client can end the process. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Maybe } from '../base/runtime/activity.ts'
import { afterWaitingEvents } from '../base/runtime/clock.ts'
import { sendFaultyResponse } from '../platform/api/faulty-responses.ts'
import type { Api } from '../platform/api/handle.ts'
import { type ApiResponse, internalErrorResponse } from '../platform/api/messages.ts'

const EMPTY = new Uint8Array(0)

/** The maximum number of bytes read from a refused body, so that a client that sends first can receive the answer. */
const DRAINED_BYTES = 64 * 1_048_576

/** Checks the declared length, before the first byte arrives. */
export const declaresTooMuch = (request: IncomingMessage, limit: number): boolean =>
  Number(request.headers['content-length'] ?? 0) > limit

/**
 * `bodyLimit` returns the maximum length of a request body, in bytes; `onThrown` receives an error of the simulator that
 * was thrown while it answered.
 */
export function createNodeAdapter(api: Api, bodyLimit: () => number, onThrown: (error: unknown) => void = () => {}) {
  const failed = (error: unknown): ApiResponse => {
    onThrown(error)
    return internalErrorResponse(error)
  }

  let waiting: [ApiResponse, IncomingMessage, ServerResponse][] = []

  /**
   * Sends the answers of one turn of the event loop together, which wakes a client with many connections once instead of
   * for each answer: 1.3 times the answers in a second with 50 connections.
   */
  function respond(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    if (waiting.push([answer, request, response]) > 1) return
    afterWaitingEvents(() => {
      const ready = waiting
      waiting = []
      for (const [answer, request, response] of ready) sendOrFail(answer, request, response)
    })
  }

  function sendOrFail(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): void {
    // An answer in place of one that could not be sent.
    const resend = (error: unknown) => {
      const instead = failed(error)
      if (response.headersSent) response.destroy()
      else void send(instead, request, response)
    }
    try {
      send(answer, request, response)?.catch(resend)
    } catch (error) {
      resend(error)
    }
  }

  return function onRequest(request: IncomingMessage, response: ServerResponse): void {
    receiveBody(request, bodyLimit(), (body, tooLarge) => {
      // Node joins headers that come twice, except `Set-Cookie`, which is no header of a request.
      const { headers: received } = request
      const cookies = received['set-cookie']
      const headers = (cookies === undefined ? received : { ...received, 'set-cookie': cookies.join(', ') }) as Record<
        string,
        string
      >
      let answer: Maybe<ApiResponse>
      try {
        answer = api({ method: request.method ?? 'GET', target: request.url ?? '/', headers, body, tooLarge })
      } catch (error) {
        answer = failed(error)
      }
      if (answer instanceof Promise) answer.catch(failed).then(ready => respond(ready, request, response))
      else respond(answer, request, response)
    })
  }
}

/** Calls `done` once, with at most `limit` bytes: at once for a larger body, and never for an incomplete one. */
function receiveBody(
  request: IncomingMessage,
  limit: number,
  done: (body: Uint8Array, tooLarge: boolean) => void,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') {
    request.resume()
    return done(EMPTY, false)
  }
  const parts: Buffer[] = []
  let size = 0
  let isRefused = false
  const refuse = () => {
    isRefused = true
    parts.length = 0
    done(EMPTY, true)
  }
  request.on('data', (part: Buffer) => {
    size += part.length
    if (!isRefused && size > limit) refuse()
    if (!isRefused) parts.push(part)
    else if (size > limit + DRAINED_BYTES) request.destroy()
  })
  request.on('end', () => {
    if (!isRefused) done(parts.length === 1 ? parts[0]! : Buffer.concat(parts), false)
  })
  if (declaresTooMuch(request, limit)) refuse()
}

/** Returns a promise only for a slow answer. */
function send(answer: ApiResponse, request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
  if (response.destroyed) return
  const { status, headers, body, wire } = answer
  if (wire !== undefined) return sendFaultyResponse(answer, wire, request, response)
  if (request.method !== 'HEAD' && status !== 204)
    headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
  response.writeHead(status, headers)
  response.end(body)
}
