/** Decides, before a request is routed, whether its caller may use this server: the platform, the control API, the page, or a proxy. */
import { hostIn, isLoopbackName } from '../../base/text/hosts.ts'
import { defaultKnobs, type Knobs } from '../contract/knobs.ts'
import type { PlatformContext } from '../rules/state.ts'
import type { ApiRequest } from './messages.ts'

/** Who may use one part of a server. */
export interface CallerPolicy {
  /** A page of another site can reach this machine under a name of its own (DNS rebinding). `host` is in lower case, without a port. */
  acceptsHost(host: string): boolean
  /** Whether a page of this origin may call; `host` is the `Host` header. */
  acceptsOrigin(origin: string, host: string): boolean
  /** Whether a page of another site may read where its browser hides the origin, as with links and images. */
  readonly acceptsReads: boolean
  /** Some tunnels write a loopback name as `Host`; what is behind them then counts as foreign. */
  readonly acceptsTunnels: boolean
  /** Whether callers need a secret that no web page knows. Then they may come from anywhere. */
  isGuarded(): boolean
}

export interface ForeignCaller {
  readonly code: 'foreign_host' | 'foreign_origin' | 'through_tunnel'
  /** The header as received, or the name of the header of a tunnel; null when a browser sent no origin. */
  readonly value: string | null
}

/** The caller that a policy refuses; null when it may call. */
export function findForeignCaller(
  { headers, method }: Pick<ApiRequest, 'headers' | 'method'>,
  policy: CallerPolicy,
): ForeignCaller | null {
  const caller = foreignHost(headers, policy) ?? foreignPage(headers, method, policy) ?? tunnel(headers, policy)
  return caller === null || policy.isGuarded() ? null : caller
}

type Headers = ApiRequest['headers']

const foreignHost = ({ host }: Headers, policy: CallerPolicy): ForeignCaller | null =>
  host === undefined || policy.acceptsHost(hostIn(host)) ? null : { code: 'foreign_host', value: host }

const READING = new Set(['GET', 'HEAD'])

function foreignPage(headers: Headers, method: string, policy: CallerPolicy): ForeignCaller | null {
  const { host = '', origin } = headers
  if (origin !== undefined) return policy.acceptsOrigin(origin, host) ? null : { code: 'foreign_origin', value: origin }
  if (headers['sec-fetch-site'] !== 'cross-site' || (policy.acceptsReads && READING.has(method))) return null
  return { code: 'foreign_origin', value: null }
}

/** Headers that tunnels and reverse proxies add. */
const FORWARDING: readonly string[] = ['x-forwarded-for', 'x-forwarded-host', 'forwarded']

function tunnel(headers: Headers, policy: CallerPolicy): ForeignCaller | null {
  const name = policy.acceptsTunnels ? undefined : FORWARDING.find(header => headers[header] !== undefined)
  return name === undefined ? null : { code: 'through_tunnel', value: name }
}

// The platform

/** What a simulator knows about its callers. The server replaces it; in-process, every host is accepted. */
export interface CallerRules {
  acceptsHost: CallerPolicy['acceptsHost']
  /** Keys that others know: the published defaults, and those that follow from a seed and a name. */
  knownKeys: readonly string[]
}

export function createCallerRules(): CallerRules {
  const knobs = defaultKnobs()
  return { acceptsHost: () => true, knownKeys: [knobs['keys.handover'], knobs['keys.bot']] }
}

/** The API keys guard the platform as soon as others do not know them. */
export function platformPolicy(parts: {
  readonly platform: PlatformContext
  readonly keyring: { accepts(key: string, nowMs: number): boolean }
  readonly callers: CallerRules
}): CallerPolicy {
  const { platform, keyring, callers } = parts
  return {
    acceptsHost: host => callers.acceptsHost(host) || isListedHost(host, platform.knobs['api.cors']),
    acceptsOrigin: origin => isTrustedOrigin(origin, platform.knobs['api.cors']),
    acceptsReads: true,
    acceptsTunnels: true,
    isGuarded: () => !callers.knownKeys.some(key => keyring.accepts(key, platform.nowMs())),
  }
}

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

/** Loopback pages and those in `api.cors`. The origin `null` of sandboxed pages and files is only in `*`. */
export function isTrustedOrigin(origin: string, listed: Knobs['api.cors']): boolean {
  if (listed.includes('*')) return true
  const url = parsed(origin)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return isLoopbackName(url.hostname) || listed.some(listedOrigin => parsed(listedOrigin)?.origin === url.origin)
}

/** An origin in `api.cors` also names a host; its port does not matter, because containers map ports. */
function isListedHost(host: string, listed: Knobs['api.cors']): boolean {
  const name = parsed(`http://${host}`)?.hostname
  return listed.some(origin => origin === '*' || (name !== undefined && parsed(origin)?.hostname === name))
}

/** The body of a refusal: the form of errors of handover-sim, never that of the platform. */
export function foreignCallerBody({ code, value }: ForeignCaller) {
  if (code === 'foreign_host') {
    const message = `handover-sim refused this request: ${JSON.stringify(value)} in its Host header is not known as a name of this server, and the API keys in force are published, so that a web page could use them under such a name.`
    const hint = `Set keys of your own (keys.handover and keys.bot: --api-key and --bot-api-key), or list the host in the knob api.cors: --set api.cors=http://${value}.`
    return { handover_sim: { code, message, hint } }
  }
  const origin = value === null ? 'another site' : JSON.stringify(value)
  const message = `handover-sim refused this request: it comes from a web page of ${origin}, and the API keys in force are published, so that every web page knows them.`
  const hint =
    'Set keys of your own (keys.handover and keys.bot: --api-key and --bot-api-key), or list the origin of the page in the knob api.cors: --set api.cors=https://desk.example.test.'
  return { handover_sim: { code, message, hint } }
}
