/** Decides which pages may read answers (`api.cors`), and which callers may use API keys that others know. */

import { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from '../contract/errors.ts'
import { defaultKnobs, type Knobs } from '../contract/knobs.ts'
import type { ApiPorts } from './call.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'

const LOOPBACK = /^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether a host name in lower case, without a port, always leads to this machine. */
export const isLoopbackName = (name: string): boolean => LOOPBACK.test(name)

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

/** Loopback pages and those in `api.cors`. The origin `null` of sandboxed pages and files is only in `*`. */
function isTrustedOrigin(origin: string, listed: Knobs['api.cors']): boolean {
  if (listed.includes('*')) return true
  const url = parsed(origin)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return isLoopbackName(url.hostname) || listed.some(one => parsed(one)?.origin === url.origin)
}

/** The value of `access-control-allow-origin`; null when the page may not read the answer. */
function allowedOrigin({ headers: { origin } }: ApiRequest, listed: Knobs['api.cors']): string | null {
  if (listed.includes('*')) return '*'
  return origin !== undefined && isTrustedOrigin(origin, listed) ? origin : null
}

const EXPOSED = [UNSPECIFIED_HEADER, FAULT_HEADER, INTERNAL_HEADER, 'retry-after'].join(', ')

/** Adds the headers with which browsers let a trusted page read the answer. Headers of a fault stay as they are. */
export function withCors(answer: ApiResponse, request: ApiRequest, listed: Knobs['api.cors']): ApiResponse {
  const { headers } = answer
  const allowed = allowedOrigin(request, listed)
  if (allowed !== '*') headers.vary ??= 'Origin'
  if (allowed === null) return answer
  headers['access-control-allow-origin'] ??= allowed
  headers['access-control-expose-headers'] ??= EXPOSED
  return answer
}

export function preflightResponse(request: ApiRequest, methods: string, listed: Knobs['api.cors']): ApiResponse {
  if (allowedOrigin(request, listed) === null) return { status: 204, headers: {}, body: '' }
  const headers = {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '600',
  }
  return { status: 204, headers, body: '' }
}

/** What a simulator knows about its callers. The server replaces it; in-process, every host is accepted. */
export interface CallerRules {
  /** Whether a `Host` header names this server. */
  acceptsHost(host: string): boolean
  /** Keys that others know: the published defaults, and those that follow from a seed and a name. */
  knownKeys: readonly string[]
}

export function createCallerRules(): CallerRules {
  const knobs = defaultKnobs()
  return { acceptsHost: () => true, knownKeys: [knobs['keys.handover'], knobs['keys.bot']] }
}

/** A caller that may not use keys which others know: a page of another site, or a client of a host name that could be one. */
export interface ForeignCaller {
  readonly code: 'foreign_host' | 'foreign_origin'
  /** The header as received; null when a browser sent none. */
  readonly value: string | null
}

const READING = new Set(['GET', 'HEAD'])

/** Returns the function that finds foreign callers. It takes no time for a client that repeats its `Host`. */
export function createCallerCheck({ platform, keyring, callers }: ApiPorts) {
  let lastHost: string | undefined

  function isOwnHost(host: string): boolean {
    if (!callers.acceptsHost(host)) return isListedHost(host, platform.knobs['api.cors'])
    lastHost = host
    return true
  }

  function find({ method, headers }: ApiRequest): ForeignCaller | null {
    const { host, origin = null } = headers
    if (host !== undefined && !isOwnHost(host)) return { code: 'foreign_host', value: host }
    const trusted =
      origin === null
        ? READING.has(method) || !isCrossSite(headers)
        : isTrustedOrigin(origin, platform.knobs['api.cors'])
    return trusted ? null : { code: 'foreign_origin', value: origin }
  }

  const opensWithKnownKey = () => callers.knownKeys.some(key => keyring.accepts(key, platform.nowMs()))

  return (request: ApiRequest): ForeignCaller | null => {
    const { headers } = request
    if (headers.origin === undefined && headers.host === lastHost && !isCrossSite(headers)) return null
    const caller = find(request)
    return caller !== null && opensWithKnownKey() ? caller : null
  }
}

const isCrossSite = (headers: ApiRequest['headers']): boolean => headers['sec-fetch-site'] === 'cross-site'

/** An origin in `api.cors` also names a host; its port does not matter, because containers map ports. */
function isListedHost(host: string, listed: Knobs['api.cors']): boolean {
  const name = parsed(`http://${host}`)?.hostname
  return listed.some(one => one === '*' || (name !== undefined && parsed(one)?.hostname === name))
}

const quoted = JSON.stringify

const FOREIGN_TEXTS = {
  foreign_host: (host: string) =>
    `handover-sim refused this request: ${quoted(host)} in its Host header is not known as a name of this server, and the API keys in force are published, so that a web page could use them under such a name.`,
  foreign_origin: (origin: string) =>
    `handover-sim refused this request: it comes from a web page of ${origin}, and the API keys in force are published, so that every web page knows them.`,
  anotherSite: 'another site',
  hostFix: (host: string) =>
    `Set keys of your own (keys.handover and keys.bot: --api-key and --bot-api-key), or list the host in the knob api.cors: --set api.cors=http://${host}.`,
  originFix:
    'Set keys of your own (keys.handover and keys.bot: --api-key and --bot-api-key), or list the origin of the page in the knob api.cors: --set api.cors=https://desk.example.test.',
}

/** The body of a refusal: the form of errors of handover-sim, never that of the platform. */
export function foreignCallerBody({ code, value }: ForeignCaller) {
  const isHost = code === 'foreign_host'
  const shown = isHost ? (value ?? '') : value === null ? FOREIGN_TEXTS.anotherSite : quoted(value)
  const hint = isHost ? FOREIGN_TEXTS.hostFix(shown) : FOREIGN_TEXTS.originFix
  return { handover_sim: { code, message: FOREIGN_TEXTS[code](shown), hint } }
}
