/** How webhook bytes leave: a port, its real version over undici, and one for a plain function. */
import { wallTimer } from './clock.ts'

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

/** Why nothing usable came back, in words a developer can act on. */
export class TransportFailure {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
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
        if (signal.aborted) throw new TransportFailure(CANCELLED)
        return handler(request)
      }),
      timeoutMs,
      signal,
    )
    if (!isResponse(response)) throw new TransportFailure('the webhook function did not return a Response')
    if (response.bodyUsed) throw new TransportFailure(USED_UP)
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

const USED_UP =
  'the webhook function returned a Response whose body was read before: it has to make a new one each time'

/** Whatever ends it, nothing is left behind that would keep the process. */
function withTimeout<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = () => {
      timer.cancel()
      signal.removeEventListener('abort', stop)
    }
    const give = (why: TransportFailure) => {
      end()
      reject(why)
    }
    const stop = () => give(new TransportFailure(CANCELLED))
    const timer = wallTimer(timeoutMs, () => give(timedOut(timeoutMs)))
    signal.addEventListener('abort', stop, { once: true })
    work.then(
      value => {
        end()
        resolve(value)
      },
      error => give(thrown(error)),
    )
  })
}

/** Whatever it threw is the function's own: a connection refused is one that it tried to make. */
function thrown(error: unknown): TransportFailure {
  if (error instanceof TransportFailure) return error
  const { message: own = String(error), stack } = (error ?? {}) as Partial<Error>
  const { code, message } = rootCause(error ?? '')
  const why = message === String(error) || own.includes(message) ? own : `${own}: ${message}`
  const named = code === undefined || why.includes(code) ? why : `${why} (${code})`
  return new TransportFailure(`the webhook function threw: ${named}${placeIn(stack)}`)
}

/** Where, because nobody else will say: ` at file:///app/webhook.ts:12:5`. */
function placeIn(stack: unknown): string {
  const lines = typeof stack === 'string' ? stack.split('\n') : []
  const frame = lines.find(line => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/\bnode:/.test(line))
  return frame === undefined ? '' : ` at ${frame.replace(/^\s+at (?:async )?(?:.*\()?|\)$/g, '')}`
}

export const CANCELLED = 'cancelled by a reset'
export const timedOut = (ms: number) => new TransportFailure(`timeout: no complete answer within ${ms} ms`)

/** Words for the codes Node and undici use. */
export function asFailure(error: unknown, target: string): TransportFailure {
  if (error instanceof TransportFailure) return error
  const { code, name, message } = rootCause(error)
  if (name === 'HTTPParserError')
    return new TransportFailure(`not HTTP: ${target} answered something else (${message})`)
  const said = WORDS[code ?? '']
  if (said) return new TransportFailure(`${said.replace('{target}', target)} (${code})`)
  if (code && /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code))
    return new TransportFailure(`TLS: ${message} (${code})`)
  return new TransportFailure(`${target}: ${message}${code ? ` (${code})` : ''}`)
}

function rootCause(error: unknown): { code: string | undefined; name: string | undefined; message: string } {
  let at = error as { code?: string; name?: string; message?: string; cause?: unknown; errors?: unknown[] }
  for (let depth = 0; depth < 5 && !at.code && (at.cause || at.errors); depth++)
    at = (at.errors?.[0] ?? at.cause) as typeof at
  return { code: at.code, name: at.name, message: at.message ?? String(error) }
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused: nothing listens at {target}',
  ENOTFOUND: 'DNS: no such host for {target}',
  EAI_AGAIN: 'DNS: no answer for {target}',
  ECONNRESET: 'connection reset by {target} before a complete answer',
  EPIPE: 'connection closed by {target} before a complete answer',
  UND_ERR_SOCKET: 'connection closed by {target} before a complete answer',
  ETIMEDOUT: 'timeout: no connection to {target}',
  UND_ERR_CONNECT_TIMEOUT: 'timeout: no connection to {target}',
  EHOSTUNREACH: 'no route to {target}',
  ENETUNREACH: 'no route to {target}',
  ERR_SSL_WRONG_VERSION_NUMBER: 'TLS: {target} does not speak HTTPS',
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
