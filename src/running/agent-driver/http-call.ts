/** Executes a verb as one HTTP call. Does not retry it, and follows no redirect. */
import type { Client, Dispatcher } from 'undici'
import { wallTimer } from '../../base/runtime/clock.ts'
import { connectionFailure } from '../../base/runtime/connection-failure.ts'
import { createHttpClients, type HttpClients } from '../../base/runtime/http-clients.ts'
import { onAbort } from '../../base/runtime/on-abort.ts'
import { isError, systemCodeOf } from '../../base/text/error-text.ts'
import { type InterpolationScope, interpolate, lookUp, PLACEHOLDER } from '../../evaluation/scenario/interpolation.ts'
import type { DriverFailure } from '../../platform/journal/run-failures.ts'
import { CallError, type CallOutcome, failed, MAX_CHARS, startOf, unreachable } from './call-outcome.ts'
import type { HttpVerb } from './driver.ts'

/** A call is not repeated, so idle connections are closed before the help desk may close them. */
const IDLE_MS = 1_000

/** `POST http://127.0.0.1:3100/desk/c1/accept` */
export const describeHttp = (verb: HttpVerb, scope: InterpolationScope): string =>
  `${verb.method} ${addressOf(verb, scope)}`

/** The HTTP calls of a driver. They share connections. */
export class HttpCalls {
  readonly #clients = createHttpClients({ idleMs: IDLE_MS })
  readonly #closed = new AbortController()

  /** Fails after the time limit of the verb, and when `signal` aborts. */
  async call(verb: HttpVerb, scope: InterpolationScope, signal: AbortSignal): Promise<CallOutcome> {
    const address = addressOf(verb, scope)
    if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return failed({ code: 'not_an_address', address })
    const url = new URL(address)
    const request = { path: url.pathname + url.search, method: verb.method, ...bodyOf(verb, scope) }
    if (signal.aborted || this.#closed.signal.aborted) return failed({ code: 'run_ended' })
    return new Promise(resolve => {
      const exchange = new HttpExchange(url, resolve, this.#clients)
      exchange.endAfter(verb.timeoutMs, [signal, this.#closed.signal])
      exchange.send(request)
    })
  }

  /** Interrupts the pending calls. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#clients.close()
  }
}

function bodyOf({ json, headers }: HttpVerb, scope: InterpolationScope) {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, String(interpolate(text, scope))]),
  )
  if (json === undefined) return { headers: filled, body: null }
  return { headers: { 'content-type': 'application/json', ...filled }, body: JSON.stringify(interpolate(json, scope)) }
}

/** One call and its answer, collected without a stream, which would take longer than the rest of the call. */
class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #url: URL
  readonly #resolve: (outcome: CallOutcome) => void
  readonly #clients: HttpClients
  readonly #client: Client
  readonly #chunks: Buffer[] = []
  #endings: (() => void)[] = []
  #settled = false
  #size = 0
  #status = 0
  #location: string | undefined

  constructor(url: URL, resolve: (outcome: CallOutcome) => void, clients: HttpClients) {
    this.#url = url
    this.#resolve = resolve
    this.#clients = clients
    this.#client = clients.take(url.origin)
  }

  endAfter(timeoutMs: number, signals: readonly AbortSignal[]): void {
    const timer = wallTimer(timeoutMs, () => this.#stop({ code: 'call_timeout', timeout_ms: timeoutMs, call: 'http' }))
    const follow = (signal: AbortSignal) => onAbort(signal, () => this.#stop({ code: 'run_ended' }))
    this.#endings = [() => timer.cancel(), ...signals.map(follow)]
  }

  send(request: Dispatcher.DispatchOptions): void {
    try {
      this.#client.dispatch(request, this)
    } catch (error) {
      this.onResponseError(null, error)
    }
  }

  #stop(failure: DriverFailure): void {
    this.#fail(failed(failure))
  }

  /** Settles before closing, because closing reports an error of its own. */
  #fail(outcome: CallOutcome): void {
    if (this.#settle(outcome)) this.#clients.destroy(this.#client, new Error('cancelled'))
  }

  #settle(outcome: CallOutcome): boolean {
    if (this.#settled) return false
    this.#settled = true
    for (const end of this.#endings) end()
    this.#resolve(outcome)
    return true
  }

  /** Required by undici. */
  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, { location }: Readonly<Record<string, unknown>>): void {
    this.#status = status
    this.#location = location === undefined ? undefined : String(location)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#size += chunk.length
    this.#chunks.push(chunk)
    if (this.#size <= MAX_CHARS) return
    const status = this.#status
    this.#fail({ ...failed({ code: 'too_long', status }), status })
  }

  onResponseEnd(): void {
    const outcome = outcomeOf(this.#status, this.#location, Buffer.concat(this.#chunks).toString('utf8'))
    if (this.#settle(outcome)) this.#clients.giveBack(this.#client)
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#fail(failedRequest(error, this.#url.host))
  }
}

function outcomeOf(status: number, location: string | undefined, text: string): CallOutcome {
  if (status >= 200 && status < 300) return { outcome: 'ok', status, text }
  const redirect = location === undefined ? {} : { location }
  return { ...failed({ code: 'status', status, ...redirect, body: startOf(text) }), status, text }
}

/** An answer that is not HTTP comes from a program, so the help desk is reachable. */
function failedRequest(error: unknown, host: string): CallOutcome {
  if (isError(error) && systemCodeOf(error) === 'UND_ERR_INVALID_ARG')
    return failed({ code: 'not_sendable', detail: error.message })
  const failure = connectionFailure(error, host)
  return failure.code === 'not_http' ? failed(failure) : unreachable(failure)
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Interpolates `base` as it is. Percent-encodes what stands in `path`, so that an id cannot lead to another address. */
export function addressOf({ base, path }: { base: string; path: string }, scope: InterpolationScope): string {
  const start = asText(interpolate(base, scope)).replace(/\/+$/, '')
  const rest = path.replace(PLACEHOLDER, (_, name: string | undefined) =>
    name === undefined ? '$(' : encoded(name, asText(lookUp(name, scope))),
  )
  return start + rest
}

/** Refuses a segment of dots: clients resolve it as a step in the path, also when it is percent-encoded. */
function encoded(name: string, value: string): string {
  if (/^\.\.?$/.test(value)) throw new CallError({ code: 'unsafe_path_value', name, value })
  return encodeURIComponent(value.toWellFormed())
}
