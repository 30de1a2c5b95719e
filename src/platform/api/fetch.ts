/** Serves the platform through a function with the signature of `fetch`, without a socket. */

import { bytesOf, lostResponseError, slowResponse } from './faulty-responses.ts'
import type { Api } from './handle.ts'
import { type ApiResponse, resetResponse } from './messages.ts'

const NO_BYTES = new Uint8Array(0)
const NO_BODY = new Set([101, 204, 205, 304])

type FetchAdapter = (input: Request | string | URL, init?: RequestInit) => Promise<Response>

interface FetchAdapterPorts {
  readonly api: Api
  baseUrl(): string
  /** The maximum length of a request body, in bytes. */
  bodyLimit(): number
  /** A number that grows with every reset: a reset while the body is read cancels the call. */
  epoch(): number
}

/** The adapter routes by path only: it ignores the origin of a URL, and removes the path of the base URL. */
export function createFetchAdapter({ api, baseUrl, bodyLimit, epoch }: FetchAdapterPorts): FetchAdapter {
  return async function fetch(input, init) {
    const begun = epoch()
    const request = requestOf(input, init)
    const signal = signalOf(request)
    if (signal.aborted) throw signal.reason
    const target = targetOf(request.url, baseUrl())
    const body = request.body === null ? NO_BYTES : new Uint8Array(await request.arrayBuffer())
    if (begun !== epoch()) return toResponse(resetResponse(), signal)
    const headers = Object.fromEntries(request.headers)
    const answer = api({ method: request.method, target, headers, body, tooLarge: body.length > bodyLimit() })
    return toResponse(answer instanceof Promise ? await unlessAborted(answer, signal) : answer, signal)
  }
}

/** Parses only addresses that do not begin with the base URL as it is written. */
function targetOf(address: string, baseUrl: string): string {
  if (address.startsWith(baseUrl) && address.charAt(baseUrl.length) === '/') {
    return address.slice(baseUrl.length).replace(/#.*/, '')
  }
  const { pathname, search } = new URL(address)
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
  const isBelow = basePath !== '' && pathname.startsWith(`${basePath}/`)
  return (isBelow ? pathname.slice(basePath.length) : pathname) + search
}

/** Uses a `Request` as it is, because it may belong to another realm. */
const requestOf = (input: Request | string | URL, init: RequestInit | undefined): Request =>
  init === undefined && typeof input === 'object' && 'arrayBuffer' in input ? input : new Request(input, init)

const NEVER = new AbortController().signal

/** The request of a polyfill may have no signal. */
const signalOf = ({ signal }: { readonly signal?: AbortSignal | null }): AbortSignal => signal ?? NEVER

/** Rejects when the caller aborts, as with a socket; the platform still processes the call. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Throws as `fetch` does when the response is lost. */
function toResponse({ status, headers, body, wire }: ApiResponse, clientSignal: AbortSignal): Response {
  if (wire?.kind === 'lost') throw lostResponseError(wire)
  const empty = NO_BODY.has(status) || body.length === 0
  if (wire?.kind === 'slow' && !empty) return slowResponse(status, headers, bytesOf(body), { ...wire, clientSignal })
  if (empty) return new Response(null, { status, headers })
  return new Response(body as BodyInit, { status, headers })
}
