/** Answers that do not go out as usual: lost, or slow in coming. The same over a socket and in-process. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer, AnswerWire } from '../api/exchange.ts'
import { paced } from '../runtime/paced.ts'

type Lost = Extract<AnswerWire, { kind: 'lost' }>
type Slow = Extract<AnswerWire, { kind: 'slow' }>

export function sendOddly(answer: Answer, wire: AnswerWire, request: IncomingMessage, response: ServerResponse): void {
  if (wire.kind === 'slow') return void trickle(answer, wire, response)
  if (wire.how === 'reset') request.socket.resetAndDestroy()
  else request.socket.destroy()
}

const encoder = new TextEncoder()
export const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === 'string' ? encoder.encode(body) : body

async function trickle({ status, headers, body }: Answer, wire: Slow, response: ServerResponse): Promise<void> {
  const bytes = bytesOf(body)
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  response.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
  response.flushHeaders()
  const stop = AbortSignal.any([gone.signal, wire.stop])
  for await (const piece of paced(bytes, wire.overMs, stop)) response.write(piece)
  if (stop.aborted) response.destroy()
  else response.end()
}

/** As `fetch` fails when the other side goes away. */
export function lostFetch({ how }: Lost): TypeError {
  const [message, code] = how === 'reset' ? ['read ECONNRESET', 'ECONNRESET'] : ['other side closed', 'UND_ERR_SOCKET']
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
}

/** `given`: who reads it may give up, and is told what gave up. */
export type SlowlyRead = Slow & { readonly given: AbortSignal }

/** With its length, as over a socket: whoever reads it can tell when it breaks off. */
export function slowResponse(
  status: number,
  headers: Record<string, string>,
  bytes: Uint8Array,
  wire: SlowlyRead,
): Response {
  return new Response(slowBody(bytes, wire), { status, headers: { ...headers, 'content-length': `${bytes.length}` } })
}

function slowBody(bytes: Uint8Array, { overMs, stop, given }: SlowlyRead): ReadableStream<Uint8Array> {
  const left = new AbortController()
  const pieces = paced(bytes, overMs, AbortSignal.any([stop, given, left.signal]))
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (value !== undefined) controller.enqueue(value)
        else if (given.aborted) controller.error(given.reason)
        else if (stop.aborted) controller.error(terminated())
        else if (done) controller.close()
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 0 },
  )
}

const terminated = () => new TypeError('terminated', { cause: lostFetch({ kind: 'lost', how: 'closed' }).cause })
