/** Sends webhook requests that a fault changes on the wire, each over its own connection. */
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { type Timer, wallTimer } from './clock.ts'
import { cancelled, connectionFailure, TransportError, timedOut } from './connection-failure.ts'
import { paced } from './paced.ts'
import { MAX_BODY_BYTES, type Outgoing, type Received, receivedFrom, type WireFaults } from './transport.ts'

export const sendFaulty = (outgoing: Outgoing, wire: WireFaults): Promise<Received> =>
  new Promise((resolve, reject) => {
    if (outgoing.signal.aborted) reject(cancelled())
    else new FaultyRequest(outgoing, wire, resolve, reject).run()
  })

/** Settles with the first of answer, error, timeout and cancellation. */
class FaultyRequest {
  #outgoing: Outgoing
  #wire: WireFaults
  #resolve: (received: Received) => void
  #reject: (failure: TransportError) => void
  #request: ClientRequest
  #over = new AbortController()
  #timer: Timer | null = null

  constructor(
    outgoing: Outgoing,
    wire: WireFaults,
    resolve: (r: Received) => void,
    reject: (f: TransportError) => void,
  ) {
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

  /** Starts at the end of the body, because a body that drips takes its own time. */
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

function open({ url, headers, body }: Outgoing, { chunked, resetAfterAnswer }: WireFaults): ClientRequest {
  const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Buffer.byteLength(body) }
  // Keeps the connection open, so that it can be reset after the answer.
  const connection = resetAfterAnswer ? { Connection: 'keep-alive' } : {}
  const send = url.startsWith('https:') ? overHttps : overHttp
  return send(url, { method: 'POST', agent: false, headers: { ...headers, ...length, ...connection } })
}

const CHUNKS = 3

async function write(request: ClientRequest, { body }: Outgoing, wire: WireFaults, stop: AbortSignal): Promise<void> {
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
 * Closes a connection that cannot be reset: one with TLS, and one that the other side is closing already, as with
 * HTTP/1.0. Resetting the latter fails, and Node would then poll the rest of the connection for ever.
 */
function reset({ socket }: ClientRequest): void {
  try {
    if (socket?.readyState === 'open') socket.resetAndDestroy()
    else socket?.destroy()
  } catch {
    socket?.destroy()
  }
}
