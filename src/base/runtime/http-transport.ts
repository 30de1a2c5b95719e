/** Sends webhook requests over HTTP: with undici, or over a connection of their own when a fault changes the bytes. */
import { type ClientRequest, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { Client, Dispatcher } from 'undici'
import { createSlots } from './activity.ts'
import { afterThisCall, paced, type Timer, wallTimer } from './clock.ts'
import { cancelled, connectionFailure, TransportError, timedOut } from './connection-failure.ts'
import { createHttpClients, type HttpClients, type OpenSocket } from './http-clients.ts'
import { connectionLimit } from './node.ts'
import { onAbort } from './on-abort.ts'
import {
  type AnswerHandler,
  type HttpTransport,
  MAX_BODY_BYTES,
  type Outgoing,
  receivedFrom,
  type Transport,
  type WireFaults,
} from './transport.ts'

/** Connections to webhooks at a time, of all simulators that share a transport; at most this share of the open files. */
const MAX_CONNECTIONS = connectionLimit(384, 3 / 7)

/** Idle connections close after this time. */
const IDLE_MS = 10_000

/** Requests beyond `MAX_CONNECTIONS` wait in order; their time limit begins when they are sent. */
export function createHttpTransport(openSocket?: OpenSocket): HttpTransport {
  const slots = createSlots(MAX_CONNECTIONS)
  const clients = createHttpClients({ openSocket, idleMs: IDLE_MS })
  const placeOf = createPlaces()
  const send: Transport = (outgoing, handler) =>
    slots.take(() => start({ clients, placeOf, openSocket }, outgoing, { handler, release: slots.release }))
  return Object.assign(send, { close: clients.close })
}

interface Sending {
  readonly clients: HttpClients
  readonly placeOf: (url: string) => UrlPlace
  readonly openSocket: OpenSocket | undefined
}

function start(sending: Sending, outgoing: Outgoing, settle: Settle): void {
  if (outgoing.signal.aborted) {
    settle.release()
    afterThisCall(() => settle.handler.failed(cancelled()))
  } else if (!outgoing.wire) new UndiciExchange(outgoing, settle, sending).run()
  else new FaultyExchange(outgoing, outgoing.wire, settle, sending.openSocket).run()
}

interface UrlPlace {
  readonly origin: string
  readonly path: string
}

const MAX_PLACES = 1000

/** Parses each URL once, because deliveries go to very few. */
function createPlaces(): (url: string) => UrlPlace {
  const places = new Map<string, UrlPlace>()
  return url => {
    const known = places.get(url)
    if (known !== undefined) return known
    if (places.size >= MAX_PLACES) places.clear()
    const { origin, pathname, search } = new URL(url)
    const place = { origin, path: pathname + search }
    places.set(url, place)
    return place
  }
}

interface Settle {
  readonly handler: AnswerHandler
  /** Called once, before the handler. */
  release(): void
}

/** Headers as undici and Node give them. */
type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** One request and its answer. Settles with the first of answer, error, timeout and cancellation. */
abstract class Exchange {
  readonly outgoing: Outgoing
  #settle: Settle
  #stopFollowing: () => void
  #settled = false
  #timer: Timer | null = null
  #status = 0
  #headers: Record<string, string> = {}
  #chunks: Buffer[] = []
  #size = 0

  constructor(outgoing: Outgoing, settle: Settle) {
    this.outgoing = outgoing
    this.#settle = settle
    this.#stopFollowing = onAbort(outgoing.signal, () => this.#fail(cancelled()))
  }

  /** Called once settled. `reason` is null when the answer was read to its end. */
  protected abstract close(reason: Error | null): void

  protected startTimer(): void {
    const { timeoutMs } = this.outgoing
    if (!this.#settled) this.#timer = wallTimer(timeoutMs, () => this.#fail(timedOut(timeoutMs)))
  }

  protected start(status: number, headers: ResponseHeaders): void {
    this.#status = status
    // A final answer replaces an informational one.
    this.#headers = {}
    for (const name in headers) this.#headers[name] = String(headers[name])
  }

  protected receive(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size <= MAX_BODY_BYTES) this.#chunks.push(chunk)
    else this.end(new Error('answer too long'))
  }

  protected end(tooLong: Error | null = null): void {
    if (!this.#settleOnce()) return
    this.close(tooLong)
    this.#settle.handler.received(receivedFrom(this.#status, this.#headers, this.#chunks, tooLong !== null))
  }

  failWith(error: unknown): void {
    this.#fail(new TransportError(connectionFailure(error, new URL(this.outgoing.url).host)))
  }

  /** Settles before closing, because closing reports an error of its own. Undici may fail during the call that sends. */
  #fail(failure: TransportError): void {
    if (!this.#settleOnce()) return
    this.close(failure)
    afterThisCall(() => this.#settle.handler.failed(failure))
  }

  #settleOnce(): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.#timer?.cancel()
    this.#stopFollowing()
    this.#settle.release()
    return true
  }
}

class UndiciExchange extends Exchange implements Dispatcher.DispatchHandler {
  #sending: Sending
  #client: Client | null = null

  constructor(outgoing: Outgoing, settle: Settle, sending: Sending) {
    super(outgoing, settle)
    this.#sending = sending
  }

  run(): void {
    const { url, method = 'POST', headers, body } = this.outgoing
    this.startTimer()
    try {
      const { origin, path } = this.#sending.placeOf(url)
      const client = this.#sending.clients.take(origin)
      this.#client = client
      client.dispatch({ path, method: method as Dispatcher.HttpMethod, headers, body }, this)
    } catch (error) {
      this.failWith(error)
    }
  }

  protected override close(reason: Error | null): void {
    if (this.#client === null) return
    if (reason === null) this.#sending.clients.giveBack(this.#client)
    else this.#sending.clients.destroy(this.#client, reason)
  }

  /** Required by undici. */
  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: ResponseHeaders): void {
    this.start(status, headers)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.receive(chunk)
  }

  onResponseEnd(): void {
    this.end()
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.failWith(error)
  }
}

class FaultyExchange extends Exchange {
  #wire: WireFaults
  #request: ClientRequest
  #closed = new AbortController()

  constructor(outgoing: Outgoing, wire: WireFaults, settle: Settle, openSocket: OpenSocket | undefined) {
    super(outgoing, settle)
    this.#wire = wire
    this.#request = open(outgoing, wire, openSocket)
  }

  /** Starts the timer at the end of the body, because a body that drips takes its own time. */
  run(): void {
    const failed = (error: Error) => this.failWith(error)
    this.#request.on('error', failed)
    this.#request.on('response', response => {
      this.start(response.statusCode ?? 0, response.headers)
      response.on('data', (chunk: Buffer) => this.receive(chunk))
      response.on('end', () => this.end())
      response.on('error', failed)
    })
    void write(this.#request, this.outgoing, this.#wire, this.#closed.signal).then(() => this.startTimer())
  }

  protected override close(reason: Error | null): void {
    this.#closed.abort()
    if (this.#wire.resetAfterAnswer && !(reason instanceof TransportError)) reset(this.#request)
    else this.#request.destroy()
  }
}

function open(
  { url, method = 'POST', headers, body }: Outgoing,
  { chunked, resetAfterAnswer }: WireFaults,
  openSocket: OpenSocket | undefined,
): ClientRequest {
  const length = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Buffer.byteLength(body) }
  // Keeps the connection open, so that it can be reset after the answer.
  const connection = resetAfterAnswer ? { Connection: 'keep-alive' } : {}
  const encrypted = url.startsWith('https:')
  const connect = openSocket
    ? { createConnection: () => openSocket(encrypted), defaultPort: encrypted ? 443 : 80 }
    : { agent: false }
  const send = encrypted ? overHttps : overHttp
  return send(url, { method, ...connect, headers: { ...headers, ...length, ...connection } })
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
