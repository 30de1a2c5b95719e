/** Sends webhook requests over HTTP with undici's dispatch interface, keep-alive and one timer per request. */
import { Agent, type Dispatcher } from 'undici'
import { wallTimer } from './clock.ts'
import { cancelled, connectionFailure, TransportError, timedOut } from './connection-failure.ts'
import { MAX_BODY_BYTES, type Outgoing, type Received, receivedFrom } from './transport.ts'

export interface UndiciTransport {
  send(request: Outgoing): Promise<Received>
  close(): Promise<void>
}

export function createUndiciTransport(): UndiciTransport {
  const agent = new Agent({
    connections: null, // unlimited, so that no chat waits for the answer of another
    pipelining: 1,
    keepAliveTimeout: 10_000,
    connect: { timeout: 10_000 },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    send: request => new Promise((resolve, reject) => dispatch(agent, request, resolve, reject)),
    close: () => agent.destroy(),
  }
}

const origins = new Map<string, { origin: string; path: string; target: string }>()

/** Caches parsed URLs, because deliveries go to very few. */
function addressOf(url: string) {
  let known = origins.get(url)
  if (known === undefined) {
    const parsed = new URL(url)
    known = { origin: parsed.origin, path: parsed.pathname + parsed.search, target: parsed.host }
    if (origins.size > 1000) origins.clear()
    origins.set(url, known)
  }
  return known
}

function dispatch(
  agent: Agent,
  request: Outgoing,
  resolve: (received: Received) => void,
  reject: (failure: TransportError) => void,
): void {
  if (request.signal.aborted) return reject(cancelled())
  const { origin, path, target } = addressOf(request.url)
  const answer = new Answer(request, target, resolve, reject)
  try {
    agent.dispatch({ origin, path, method: 'POST', headers: request.headers, body: request.body }, answer)
  } catch (error) {
    answer.onResponseError(null, error)
  }
}

type Controller = Dispatcher.DispatchController

/** Collects one answer. Settles with the first of end, error, timeout and cancellation. */
class Answer implements Dispatcher.DispatchHandler {
  #request: Outgoing
  #target: string
  #resolve: (received: Received) => void
  #reject: (failure: TransportError) => void
  #timer: { cancel(): void }
  #controller: Controller | null = null
  #failure: TransportError | null = null
  #status = 0
  #headers: Record<string, string> = {}
  #chunks: Buffer[] = []
  #size = 0
  #settled = false

  constructor(request: Outgoing, target: string, resolve: (r: Received) => void, reject: (f: TransportError) => void) {
    this.#request = request
    this.#target = target
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = wallTimer(request.timeoutMs, () => this.#fail(timedOut(request.timeoutMs)))
    request.signal.addEventListener('abort', this.#onAbort)
  }

  #onAbort = () => this.#fail(cancelled())

  /** Settles before aborting, because aborting reports an error of its own. */
  #fail(failure: TransportError): void {
    if (!this.#settle()) return
    this.#failure = failure
    this.#reject(failure)
    this.#controller?.abort(failure)
  }

  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.#timer.cancel()
    this.#request.signal.removeEventListener('abort', this.#onAbort)
    return true
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#failure) controller.abort(this.#failure)
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status
    for (const name in headers) this.#headers[name] = String(headers[name])
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size <= MAX_BODY_BYTES) this.#chunks.push(chunk)
    else this.#done(true)
  }

  onResponseEnd(): void {
    this.#done(false)
  }

  onResponseError(_controller: Controller | null, error: unknown): void {
    if (this.#settle()) this.#reject(new TransportError(connectionFailure(error, this.#target)))
  }

  #done(cut: boolean): void {
    if (!this.#settle()) return
    if (cut) this.#controller?.abort(new Error('answer too long'))
    this.#resolve(receivedFrom(this.#status, this.#headers, this.#chunks, cut))
  }
}
