/** Defines how webhook requests are sent: over HTTP, or to a function. */
import { cut } from '../text/cut.ts'
import { wallTimer } from './clock.ts'
import { cancelled, rootCause, TransportError, textPart, timedOut } from './connection-failure.ts'

/** Header lines by name; a list is sent as several lines. */
export type HeaderLines = Readonly<Record<string, string | string[]>>

export interface Outgoing {
  readonly url: string
  /** Default: POST. */
  readonly method?: string | undefined
  readonly headers: HeaderLines
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Not applied when the webhook is a function. */
  readonly wire?: WireFaults | null
}

/** Faults of how the bytes travel. */
export interface WireFaults {
  /** Milliseconds of the wall clock; 0: all at once. */
  readonly dripMs: number
  readonly chunked: boolean
  /** Sends the header names in their given case. */
  readonly headerCase: boolean
  readonly resetAfterResponse: boolean
}

export interface Received {
  readonly status: number
  readonly headers: Record<string, string>
  /** At most `KEPT_BODY_CHARS` of it. */
  readonly body: string
  readonly truncated: boolean
}

/** Sends a request, and resolves with the answer; rejects with `TransportError`. */
export type Transport = (request: Outgoing) => Promise<Received>

/** A transport that has open connections. */
export type HttpTransport = Transport & { close(): Promise<void> }

export const KEPT_BODY_CHARS = 16_384

/** The rest of a longer answer is not read. */
export const MAX_BODY_BYTES = 1_048_576

type WebhookFunction = (request: Request) => Response | Promise<Response>

/** Passes each request to a function as a `Request`. */
export const functionTransport =
  (webhook: WebhookFunction): Transport =>
  outgoing =>
    callFunction(webhook, outgoing)

async function callFunction(webhook: WebhookFunction, outgoing: Outgoing): Promise<Received> {
  const { url, method = 'POST', headers, body, timeoutMs, signal } = outgoing
  const lines = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const line of [value].flat()) lines.append(name, line)
  // As bytes, because `Request` adds a Content-Type for a text. It accepts no body with GET and HEAD.
  const bytes = method === 'GET' || method === 'HEAD' ? null : new TextEncoder().encode(body)
  const request = new Request(url, { method, headers: lines, body: bytes })
  const over = new AbortController()
  const received = Promise.resolve().then(() => {
    if (signal.aborted) throw cancelled()
    return callHandler(webhook, request, over.signal)
  })
  return withTimeout(received, timeoutMs, signal).finally(() => over.abort())
}

async function callHandler(handler: WebhookFunction, request: Request, over: AbortSignal): Promise<Received> {
  const response = await handler(request)
  if (!isResponse(response)) throw new TransportError({ code: 'function_returned_no_response' })
  if (response.bodyUsed) throw new TransportError({ code: 'function_reused_response' })
  const { text, isCut } = await readText(response, over)
  const body = cut(text, KEPT_BODY_CHARS)
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body,
    truncated: isCut || body !== text,
  }
}

/** Reads at most `MAX_BODY_BYTES`, and nothing more when `over` aborts. */
async function readText(response: Response, over: AbortSignal): Promise<{ text: string; isCut: boolean }> {
  // Responses of some polyfills have a stream of Node.
  if (typeof response.body?.getReader !== 'function') return { text: await response.text(), isCut: false }
  const reader = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  over.addEventListener('abort', stop)
  const decoder = new TextDecoder()
  let text = ''
  for (let size = 0; size <= MAX_BODY_BYTES; ) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isCut: false }
    size += value.length
    text += decoder.decode(value, { stream: true })
  }
  stop()
  return { text, isCut: true }
}

/** Does not check the class, because test runners and polyfills have their own. */
const isResponse = (given: unknown): boolean =>
  typeof given === 'object' &&
  given !== null &&
  'status' in given &&
  typeof given.status === 'number' &&
  'text' in given &&
  typeof given.text === 'function'

/** Leaves no timer or listener behind that would keep the process alive. */
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
      error => fail(functionError(error)),
    )
  })
}

/** The error of the webhook function itself, also when it is a connection that the function tried to open. */
export function functionError(error: unknown): TransportError {
  if (error instanceof TransportError) return error
  const own = textPart(error, 'message') ?? String(error)
  const { code, message } = rootCause(error ?? '')
  const why = message === String(error) || own.includes(message) ? own : `${own}: ${message}`
  const detail = code === undefined || why.includes(code) ? why : `${why} (${code})`
  const place = placeIn(textPart(error, 'stack'))
  return new TransportError({ code: 'function_threw', detail, ...(place === null ? {} : { place }) })
}

/** `file:///app/webhook.ts:12:5`, the first frame outside of Node. */
function placeIn(stack = ''): string | null {
  const frame = stack.split('\n').find(line => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/\bnode:/.test(line))
  return frame?.replace(/^\s+at (?:async )?(?:.*\()?|\)$/g, '') ?? null
}
