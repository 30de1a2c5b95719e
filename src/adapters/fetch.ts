/** `simulator.fetch`: the platform without a socket, called as `fetch` is. */
import { wasReset } from '../api/answers.ts'
import type { Answer } from '../api/exchange.ts'
import type { Api } from '../api/handle.ts'
import { bytesOf, lostFetch, slowResponse } from './faulty-responses.ts'

const NO_BODY = new Set([101, 204, 205, 304])

export type FetchAdapter = (input: Request | string | URL, init?: RequestInit) => Promise<Response>

/**
 * Paths below the base URL's own path; a request to elsewhere is still answered, by its path. A call that a reset
 * overtakes while its body is read never was: `epoch` grows with every reset.
 */
export function createFetchAdapter(
  api: Api,
  basePath: () => string,
  limit: () => number,
  epoch: () => number,
): FetchAdapter {
  return async function fetch(input, init) {
    const begun = epoch()
    const request = requestOf(input, init)
    const signal = signalOf(request)
    const url = new URL(request.url)
    const prefix = basePath()
    const path =
      prefix !== '' && url.pathname.startsWith(`${prefix}/`) ? url.pathname.slice(prefix.length) : url.pathname
    if (signal.aborted) throw signal.reason
    const body = new Uint8Array(await request.arrayBuffer())
    if (begun !== epoch()) return toResponse(wasReset(), signal)
    const headers = Object.fromEntries(request.headers)
    const exchange = { method: request.method, target: path + url.search, headers, body }
    const answer = api({ ...exchange, tooLarge: body.length > limit() })
    return toResponse(answer instanceof Promise ? await unlessAborted(answer, signal) : answer, signal)
  }
}

/** A `Request` is taken as it is: it may be of another realm than ours. */
const requestOf = (input: Request | string | URL, init: RequestInit | undefined): Request =>
  init === undefined && typeof input === 'object' && 'arrayBuffer' in input ? input : new Request(input, init)

const NEVER = new AbortController().signal

/** One that a polyfill made may have none. */
const signalOf = ({ signal }: { readonly signal?: AbortSignal | null }): AbortSignal => signal ?? NEVER

/** Who calls gives up, as with a socket; the platform has the call all the same. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Throws as `fetch` does when there is no answer. */
function toResponse({ status, headers, body, wire }: Answer, given: AbortSignal): Response {
  if (wire?.kind === 'lost') throw lostFetch(wire)
  const empty = NO_BODY.has(status) || body.length === 0
  if (wire?.kind === 'slow' && !empty) return slowResponse(status, headers, bytesOf(body), { ...wire, given })
  return new Response(empty ? null : (body as BodyInit), { status, headers })
}
