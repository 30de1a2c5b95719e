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
  /** Receives each promise that a webhook function gives to `waitUntil`. */
  readonly onBackgroundWork?: (work: Promise<unknown>) => void
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

/** What a webhook that is a function receives with each event, as a function platform passes it. */
export interface WebhookContext {
  /**
   * Lets work continue after the answer. `settled` and `assertClean` wait for it, at most 30 seconds. A promise that
   * rejects, or takes longer, fails the test or the scenario.
   */
  waitUntil(work: Promise<unknown>): void
  /** Does nothing, because there is no other server to which the request could go. */
  passThroughOnException(): void
  /** Always empty. */
  readonly props: object
}

type WebhookFunction = (request: Request, context: WebhookContext) => Response | Promise<Response>

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
  const context: WebhookContext = {
    waitUntil: work => outgoing.onBackgroundWork?.(Promise.resolve(work)),
    passThroughOnException() {},
    props: {},
  }
  const received = Promise.resolve().then(() => {
    if (signal.aborted) throw cancelled()
    return callHandler(() => webhook(request, context), over.signal)
  })
  return withTimeout(received, timeoutMs, signal).finally(() => over.abort())
}

async function callHandler(handler: () => Response | Promise<Response>, over: AbortSignal): Promise<Received> {
  const response = await handler()
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
  return error instanceof TransportError ? error : new TransportError({ code: 'function_threw', ...thrownText(error) })
}

/** The message of what a function of the user threw, and where it did. */
export function thrownText(error: unknown): { readonly detail: string; readonly place?: string } {
  const ownMessage = textPart(error, 'message') ?? String(error)
  const { code, message } = rootCause(error ?? '')
  const why = message === String(error) || ownMessage.includes(message) ? ownMessage : `${ownMessage}: ${message}`
  const detail = code === undefined || why.includes(code) ? why : `${why} (${code})`
  const place = placeIn(textPart(error, 'stack'))
  return place === null ? { detail } : { detail, place }
}

/** `file:///app/webhook.ts:12:5`, the first frame outside of Node. */
function placeIn(stack = ''): string | null {
  const frame = stack.split('\n').find(line => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/\bnode:/.test(line))
  return frame?.replace(/^\s+at (?:async )?(?:.*\()?|\)$/g, '') ?? null
}
