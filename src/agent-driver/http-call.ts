/** Executes a verb as one HTTP call. Does not retry it, and follows no redirect. */
import { Agent, type Dispatcher } from 'undici'
import { connectionFailure } from '../runtime/connection-failure.ts'
import { type InterpolationScope, interpolate, lookUp, PLACEHOLDER } from '../scenario/interpolation.ts'
import { isError, systemCodeOf } from '../text/error-text.ts'
import { CallError, type CallOutcome, failed, MAX_CHARS, startOf, unreachable, withTimeLimit } from './call-outcome.ts'
import type { HttpVerb } from './driver.ts'

/** A call is not repeated, so idle connections are closed before the help desk may close them. */
const IDLE_MS = 1_000

export const createAgent = (): Agent =>
  new Agent({ connections: null, pipelining: 1, keepAliveTimeout: IDLE_MS, headersTimeout: 0, bodyTimeout: 0 })

/** `POST http://127.0.0.1:3100/desk/c1/accept` */
export const describeHttp = (verb: HttpVerb, scope: InterpolationScope): string =>
  `${verb.method} ${addressOf(verb, scope)}`

export async function callHttp(
  verb: HttpVerb,
  scope: InterpolationScope,
  agent: Agent,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const url = addressOf(verb, scope)
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return failed({ code: 'not_an_address', address: url })
  const options = { ...placeOf(url), method: verb.method, ...bodyOf(verb, scope) }
  try {
    return await withTimeLimit({ timeoutMs: verb.timeoutMs, call: 'http', signal }, inner =>
      exchange(agent, options, inner),
    )
  } catch (error) {
    return failedRequest(error, new URL(url).host)
  }
}

function bodyOf({ json, headers }: HttpVerb, scope: InterpolationScope) {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, String(interpolate(text, scope))]),
  )
  if (json === undefined) return { headers: filled, body: null }
  return { headers: { 'content-type': 'application/json', ...filled }, body: JSON.stringify(interpolate(json, scope)) }
}

function placeOf(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/** Collects the answer without a stream, which would take longer than the rest of the call. */
function exchange(agent: Agent, options: Dispatcher.DispatchOptions, signal: AbortSignal): Promise<CallOutcome> {
  return new Promise((resolve, reject) => {
    agent.dispatch(options, new AnswerReader({ resolve, reject }, signal))
  })
}

interface Settle {
  resolve(outcome: CallOutcome): void
  reject(error: unknown): void
}

type Controller = Dispatcher.DispatchController

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #settle: Settle
  readonly #signal: AbortSignal
  readonly #chunks: Buffer[] = []
  #size = 0
  #status = 0
  #location: string | undefined

  constructor(settle: Settle, signal: AbortSignal) {
    this.#settle = settle
    this.#signal = signal
  }

  onRequestStart(controller: Controller): void {
    const stop = () => controller.abort(new Error('cancelled'))
    if (this.#signal.aborted) stop()
    else this.#signal.addEventListener('abort', stop, { once: true })
  }

  onResponseStart(_controller: Controller, status: number, { location }: Record<string, unknown>): void {
    this.#status = status
    this.#location = location === undefined ? undefined : String(location)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#size += chunk.length
    this.#chunks.push(chunk)
    if (this.#size <= MAX_CHARS) return
    const status = this.#status
    this.#settle.resolve({ ...failed({ code: 'too_long', status }), status })
    controller.abort(new Error('answer too long'))
  }

  onResponseEnd(): void {
    this.#settle.resolve(outcomeOf(this.#status, this.#location, Buffer.concat(this.#chunks).toString('utf8')))
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.#settle.reject(error)
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
