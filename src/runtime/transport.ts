/** How webhook bytes leave: a port, its real version over undici, and one for a plain function. */
import { wallTimer } from './clock.ts'
import { cancelled, rootCause, TransportError, timedOut } from './connection-failure.ts'

export interface Outgoing {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Needs a connection of its own; a function has none and gets an ordinary `Request`. */
  readonly wire?: Wire
}

/** How the bytes travel, when it is to be unusual. */
export interface Wire {
  /** On the wall; 0: all at once. */
  readonly dripMs: number
  readonly chunked: boolean
  /** Names of headers as they are given, not as they are usually written. */
  readonly headerCase: boolean
  readonly resetAfterAnswer: boolean
}

export interface Received {
  readonly status: number
  readonly headers: Record<string, string>
  /** At most `KEPT_BODY_CHARS` of it. */
  readonly body: string
  readonly truncated: boolean
}

export type Transport = (request: Outgoing) => Promise<Received>

export const KEPT_BODY_CHARS = 16_384

/** Beyond this an answer is cut off rather than read to its end. */
export const MAX_BODY_BYTES = 1_048_576

/** `cut`: there was more than was read. */
export function receivedFrom(
  status: number,
  headers: Record<string, string>,
  chunks: readonly Buffer[],
  cut: boolean,
): Received {
  const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')
  const body = text.length > KEPT_BODY_CHARS ? text.slice(0, KEPT_BODY_CHARS) : text
  return { status, headers, body, truncated: cut || body.length !== text.length }
}

/** Webhooks go straight to a function, as an ordinary `Request`. */
export function functionTransport(handler: (request: Request) => Response | Promise<Response>): Transport {
  return async ({ url, headers, body, timeoutMs, signal }) => {
    const request = new Request(url, { method: 'POST', headers, body })
    const response = await withTimeout(
      Promise.resolve().then(() => {
        if (signal.aborted) throw cancelled()
        return handler(request)
      }),
      timeoutMs,
      signal,
    )
    if (!isResponse(response)) throw new TransportError({ code: 'function_returned_no_response' })
    if (response.bodyUsed) throw new TransportError({ code: 'function_reused_response' })
    const text = await withTimeout(response.text(), timeoutMs, signal)
    const kept = text.slice(0, KEPT_BODY_CHARS)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: kept,
      truncated: kept !== text,
    }
  }
}

/** Not by its class: a test runner or a polyfill may have one of its own. */
const isResponse = (given: unknown): boolean => {
  const { status, text } = (given ?? {}) as Partial<Response>
  return typeof status === 'number' && typeof text === 'function'
}

/** Whatever ends it, nothing is left behind that would keep the process. */
function withTimeout<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = () => {
      timer.cancel()
      signal.removeEventListener('abort', stop)
    }
    const fail = (error: TransportError) => {
      end()
      reject(error)
    }
    const stop = () => fail(cancelled())
    const timer = wallTimer(timeoutMs, () => fail(timedOut(timeoutMs)))
    signal.addEventListener('abort', stop, { once: true })
    work.then(
      value => {
        end()
        resolve(value)
      },
      error => fail(thrown(error)),
    )
  })
}

/** The error of the function itself, also when it is a connection that the function tried to open. */
function thrown(error: unknown): TransportError {
  if (error instanceof TransportError) return error
  const { message: own = String(error), stack } = (error ?? {}) as Partial<Error>
  const { code, message } = rootCause(error ?? '')
  const why = message === String(error) || own.includes(message) ? own : `${own}: ${message}`
  const detail = code === undefined || why.includes(code) ? why : `${why} (${code})`
  const place = placeIn(stack)
  return new TransportError({ code: 'function_threw', detail, ...(place === null ? {} : { place }) })
}

/** `file:///app/webhook.ts:12:5`, the first frame outside of Node. */
function placeIn(stack: unknown): string | null {
  const lines = typeof stack === 'string' ? stack.split('\n') : []
  const frame = lines.find(line => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/\bnode:/.test(line))
  return frame?.replace(/^\s+at (?:async )?(?:.*\()?|\)$/g, '') ?? null
}

/** Loaded with the first delivery, so that starting up does not pay for it. */
export function httpTransport(): Transport & { close(): Promise<void> } {
  let loading: Promise<typeof import('./undici-transport.ts')> | null = null
  let loaded: import('./undici-transport.ts').UndiciTransport | null = null
  const load = async () => {
    loading ??= import('./undici-transport.ts')
    const { createUndiciTransport } = await loading
    loaded ??= createUndiciTransport()
    return loaded
  }
  const send: Transport = request => {
    if (request.wire !== undefined)
      return import('./odd-transport.ts').then(odd => odd.sendOddly(request, request.wire!))
    return loaded ? loaded.send(request) : load().then(transport => transport.send(request))
  }
  return Object.assign(send, { close: async () => loaded?.close() })
}
