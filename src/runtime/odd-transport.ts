/** Webhook deliveries that are unusual on the wire: one connection each, written by hand. Loaded when first needed. */
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { type Timer, wallTimer } from './clock.ts'
import { cancelled, connectionFailure, TransportError, timedOut } from './connection-failure.ts'
import { paced } from './paced.ts'
import { MAX_BODY_BYTES, type Outgoing, type Received, receivedFrom, type Wire } from './transport.ts'

export const sendOddly = (outgoing: Outgoing, wire: Wire): Promise<Received> =>
  new Promise((resolve, reject) => {
    if (outgoing.signal.aborted) reject(cancelled())
    else new OddRequest(outgoing, wire, resolve, reject).run()
  })

/** The first of answer, error, timeout and cancellation settles it. */
class OddRequest {
  #outgoing: Outgoing
  #wire: Wire
  #resolve: (received: Received) => void
  #reject: (failure: TransportError) => void
  #request: ClientRequest
  #over = new AbortController()
  #timer: Timer | null = null

  constructor(outgoing: Outgoing, wire: Wire, resolve: (r: Received) => void, reject: (f: TransportError) => void) {
    this.#outgoing = outgoing
    this.#wire = wire
    this.#resolve = resolve
    this.#reject = reject
    this.#request = open(outgoing, wire)
  }

  run(): void {
    const failed = (error: Error) =>
      this.#fail(new TransportError(connectionFailure(error, new URL(this.#outgoing.url).host)))
    this.#outgoing.signal.addEventListener('abort', this.#onAbort)
    this.#request.on('error', failed)
    this.#request.on('response', response => collect(response, received => this.#done(received), failed))
    void write(this.#request, this.#outgoing, this.#wire, this.#over.signal).then(() => this.#startTimer())
  }

  /** Runs from the end of the body: one that drips takes its time by itself. */
  #startTimer(): void {
    const { timeoutMs } = this.#outgoing
    if (!this.#over.signal.aborted) this.#timer = wallTimer(timeoutMs, () => this.#fail(timedOut(timeoutMs)))
  }

  #onAbort = () => this.#fail(cancelled())

  #fail(failure: TransportError): void {
    if (!this.#settle()) return
    this.#reject(failure)
    this.#request.destroy()
  }

  #done(received: Received): void {
    if (!this.#settle()) return
    this.#resolve(received)
    if (this.#wire.resetAfterAnswer) reset(this.#request)
    else this.#request.destroy()
  }

  #settle(): boolean {
    if (this.#over.signal.aborted) return false
    this.#over.abort()
    this.#timer?.cancel()
    this.#outgoing.signal.removeEventListener('abort', this.#onAbort)
    return true
  }
}

function open({ url, headers, body }: Outgoing, { chunked, resetAfterAnswer }: Wire): ClientRequest {
  const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Buffer.byteLength(body) }
  // Kept open, so that there is something to reset when the answer has come.
  const connection = resetAfterAnswer ? { Connection: 'keep-alive' } : {}
  const send = url.startsWith('https:') ? overHttps : overHttp
  return send(url, { method: 'POST', agent: false, headers: { ...headers, ...length, ...connection } })
}

const CHUNKS = 3

async function write(request: ClientRequest, { body }: Outgoing, wire: Wire, stop: AbortSignal): Promise<void> {
  const bytes = Buffer.from(body)
  if (wire.dripMs > 0) {
    request.flushHeaders()
    for await (const piece of paced(bytes, wire.dripMs, stop)) request.write(piece)
  } else if (wire.chunked) {
    const size = Math.max(1, Math.ceil(bytes.length / CHUNKS))
    for (let at = 0; at < bytes.length; at += size) request.write(bytes.subarray(at, at + size))
  } else request.write(bytes)
  if (!stop.aborted) request.end()
}

function collect(response: IncomingMessage, done: (received: Received) => void, fail: (error: Error) => void): void {
  const { statusCode = 0, headers: raw } = response
  const headers = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]))
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
    else done(receivedFrom(statusCode, headers, chunks, true))
  })
  response.on('end', () => done(receivedFrom(statusCode, headers, chunks, false)))
  response.on('error', fail)
}

/**
 * Only a plain TCP connection can be reset; one under TLS is closed. So is one the other side is closing already, as
 * HTTP/1.0 does: a reset fails there, and Node would turn round on the rest of the connection for ever.
 */
function reset({ socket }: ClientRequest): void {
  try {
    if (socket?.readyState === 'open') socket.resetAndDestroy()
    else socket?.destroy()
  } catch {
    socket?.destroy()
  }
}
