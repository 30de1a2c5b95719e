/** Sends responses that an API fault loses or slows down, over a socket and in-process. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { paced } from '../../base/runtime/clock.ts'
import type { ApiResponse, ResponseWire } from './messages.ts'

type Lost = Extract<ResponseWire, { kind: 'lost' }>
type Slow = Extract<ResponseWire, { kind: 'slow' }>

export function sendFaultyResponse(
  apiResponse: ApiResponse,
  wire: ResponseWire,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  if (wire.kind === 'slow') return sendSlowly(apiResponse, wire, response)
  if (wire.how === 'reset') request.socket.resetAndDestroy()
  else request.socket.destroy()
}

export const toBytes = (body: ApiResponse['body']): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body

async function sendSlowly({ status, headers, body }: ApiResponse, wire: Slow, response: ServerResponse): Promise<void> {
  const bytes = toBytes(body)
  const closed = new AbortController()
  response.on('close', () => closed.abort())
  response.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
  response.flushHeaders()
  const stop = AbortSignal.any([closed.signal, wire.stop])
  for await (const piece of paced(bytes, wire.overMs, stop)) response.write(piece)
  if (stop.aborted) response.destroy()
  else response.end()
}

/** Returns the error with which `fetch` rejects when the connection is closed or reset. */
export function lostResponseError({ how }: Lost): TypeError {
  const [message, code] = how === 'reset' ? ['read ECONNRESET', 'ECONNRESET'] : ['other side closed', 'UND_ERR_SOCKET']
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
}

/** `clientSignal` aborts when the caller gives up. */
type SlowInProcess = Slow & { readonly clientSignal: AbortSignal }

/** Returns a response with a `content-length`, as over a socket, so that the reader notices an incomplete body. */
export function slowResponse(
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array,
  wire: SlowInProcess,
): Response {
  return new Response(slowBody(bytes, wire), { status, headers: { ...headers, 'content-length': `${bytes.length}` } })
}

function slowBody(bytes: Uint8Array, { overMs, stop, clientSignal }: SlowInProcess): ReadableStream<Uint8Array> {
  const cancelled = new AbortController()
  const pieces = paced(bytes, overMs, AbortSignal.any([stop, clientSignal, cancelled.signal]))
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (value !== undefined) controller.enqueue(value)
        else if (clientSignal.aborted) controller.error(clientSignal.reason)
        else if (stop.aborted)
          controller.error(
            new TypeError('terminated', { cause: lostResponseError({ kind: 'lost', how: 'closed' }).cause }),
          )
        else if (done) controller.close()
      },
      cancel: () => cancelled.abort(),
    },
    { highWaterMark: 0 },
  )
}
