/** Decides who may call: hosts and pages before a request is routed, then API keys with their scopes (A1-A3) and rate limit; and which key signs events (A4). */

import { isLoopbackName } from '../../base/text/hosts.ts'
import type { Scope } from '../contract/endpoint-routes.ts'
import { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from '../contract/errors.ts'
import { defaultKnobs, type Knobs, type Rate } from '../contract/knobs.ts'
import { Refusal } from '../rules/refusal.ts'
import type { PlatformContext } from '../rules/state.ts'
import type { ApiRequest, ApiResponse } from './messages.ts'

export interface Grant {
  readonly botId: number
  readonly scopes: readonly Scope[]
  /** A replaced key that still works until then (`keys.graceful`), on the simulator's clock. */
  readonly untilMs: number | null
}

/** A key that was replaced and still works for a while. */
export interface ReplacedKey extends Grant {
  readonly key: string
  readonly untilMs: number
}

export interface Keyring {
  /** Returns what the key allows, or throws a refusal; sets the state of the key in `call`. */
  authorize(header: string | undefined, scope: Scope, nowMs: number, call: Authorized): Grant
  signingKey(botId: number): string
  /** The key that signed events of the bot before the last change of it; null when it was not changed. */
  earlierSigningKey(botId: number): string | null
  /** Is called after a change of the key knobs. */
  refresh(knobs: Knobs, nowMs: number): void
  /** Invalidates replaced keys: their end lies on a clock that a reset may set back. */
  forgetReplaced(): void
  replaced(): ReplacedKey[]
  restoreReplaced(keys: readonly ReplacedKey[]): void
  /** Whether the key is valid here, or was valid until it was replaced. */
  knows(key: string): boolean
  /** Whether the key is valid now. */
  accepts(key: string, nowMs: number): boolean
  /** Sets the function that explains an unknown key in a sentence; it returns null when it cannot. */
  setUnknownKeyExplainer(explain: (key: string) => string | null): void
  botIds(): readonly number[]
}

export interface Authorized {
  auth: AuthState | 'not_checked'
}

export type AuthState = 'valid' | 'missing' | 'malformed' | 'unknown' | 'wrong_scope'

export function createKeyring(mainBotId: () => number, initial: Knobs): Keyring {
  let grants = grantsFrom(mainBotId(), initial)
  let signing = signingFrom(mainBotId(), initial)
  const earlierSigning = new Map<number, string>()
  let explainUnknownKey = (_key: string): string | null => null
  return {
    authorize(header, scope, nowMs, call) {
      const key = keyIn(header)
      if (key === null) {
        call.auth = header === undefined || header === '' ? 'missing' : 'malformed'
        throw unauthorized(
          call.auth === 'missing'
            ? 'The header Authorization: Bearer <API_KEY> is missing.'
            : 'The header must read Authorization: Bearer <API_KEY>.',
        )
      }
      const grant = grants.get(key)
      if (!isValid(grant, nowMs)) {
        call.auth = 'unknown'
        throw unauthorized(explainUnknownKey(key) ?? 'The API key is not known here.')
      }
      if (!grant.scopes.includes(scope)) {
        call.auth = 'wrong_scope'
        const message =
          scope === 'read_chats'
            ? "This key has no 'Read chats' scope. The transcript endpoint takes a bot API key (Connect -> API Keys), not the handover key."
            : 'This is not a handover key. The handover endpoints take the key of the handover settings page.'
        throw new Refusal('missing_scope', message, { field: 'Authorization' })
      }
      call.auth = 'valid'
      return grant
    },
    signingKey: botId => signing.get(botId) ?? signing.get(mainBotId())!,
    earlierSigningKey: botId => earlierSigning.get(botId) ?? null,
    refresh(knobs, nowMs) {
      const old = grants
      for (const [botId, key] of signingFrom(mainBotId(), knobs)) {
        const before = signing.get(botId)
        if (before !== undefined && before !== key) earlierSigning.set(botId, before)
      }
      grants = grantsFrom(mainBotId(), knobs)
      signing = signingFrom(mainBotId(), knobs)
      const grace = knobs['keys.graceful']
      if (grace !== null) keepOld(grants, old, nowMs + grace)
    },
    forgetReplaced() {
      for (const [key, grant] of grants) if (grant.untilMs !== null) grants.delete(key)
    },
    replaced: () =>
      [...grants].flatMap(([key, grant]) =>
        grant.untilMs === null ? [] : [{ ...grant, key, untilMs: grant.untilMs }],
      ),
    restoreReplaced(keys) {
      for (const { key, ...grant } of keys) if (!grants.has(key)) grants.set(key, grant)
    },
    knows: key => grants.has(key),
    accepts: (key, nowMs) => isValid(grants.get(key), nowMs),
    setUnknownKeyExplainer(explain) {
      explainUnknownKey = explain
    },
    botIds: () => [...signing.keys()],
  }
}

const isValid = (grant: Grant | undefined, nowMs: number): grant is Grant =>
  grant !== undefined && (grant.untilMs === null || nowMs < grant.untilMs)

function keepOld(grants: Map<string, Grant>, old: Map<string, Grant>, untilMs: number): void {
  for (const [key, grant] of old) if (!grants.has(key)) grants.set(key, { ...grant, untilMs: grant.untilMs ?? untilMs })
}

/** Names each API key by its role, because the key itself is a secret. */
export function keyRoles(knobs: Knobs): { readonly role: string; readonly key: string }[] {
  const more = moreKeys(knobs).map(([key], index) => ({ role: `more ${index + 1}`, key }))
  return [{ role: 'handover', key: knobs['keys.handover'] }, { role: 'bot', key: knobs['keys.bot'] }, ...more]
}

/** The keys of `keys.more`, each with the bot it is for. */
export function moreKeys(knobs: Knobs): [key: string, botId: number][] {
  return knobs['keys.more'].map(pair => {
    const at = pair.lastIndexOf(':')
    return [pair.slice(0, at), Number(pair.slice(at + 1))]
  })
}

function grantsFrom(botId: number, knobs: Knobs): Map<string, Grant> {
  const both: Scope[] = ['handover', 'read_chats']
  const shared = knobs['keys.shared'] === 'on' || knobs['keys.handover'] === knobs['keys.bot']
  const grants = new Map<string, Grant>()
  for (const [key, bot] of moreKeys(knobs)) grants.set(key, { botId: bot, scopes: both, untilMs: null })
  grants.set(knobs['keys.bot'], { botId, scopes: shared ? both : ['read_chats'], untilMs: null })
  grants.set(knobs['keys.handover'], { botId, scopes: shared ? both : ['handover'], untilMs: null })
  return grants
}

const signingFrom = (botId: number, knobs: Knobs): Map<number, string> =>
  new Map([...moreKeys(knobs).map(([key, bot]): [number, string] => [bot, key]), [botId, knobs['keys.handover']]])

const unauthorized = (message: string) => new Refusal('unauthorized', message, { field: 'Authorization' })

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

/** The key in a header, or null. */
export const keyIn = (header: string | undefined): string | null => BEARER.exec(header ?? '')?.[1] ?? null

export interface RateLimit {
  /** Counts one call; throws `RateLimited` when the limit is exceeded. */
  take(key: string, rate: Rate | null, nowMs: number): void
  windows(): ReadonlyMap<string, Window>
  /** Replaces all counted calls by `windows`. */
  reset(windows?: Iterable<readonly [key: string, window: Window]>): void
}

interface Window {
  readonly start: number
  calls: number
}

export class RateLimited extends Refusal {
  readonly retryAfter: number
  constructor(rate: Rate, waitMs: number) {
    super('rate_limited', `More than ${rate.calls} calls in ${rate.windowMs} ms.`)
    this.retryAfter = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

export function createRateLimit(): RateLimit {
  let windows = new Map<string, Window>()
  return {
    take(key, rate, nowMs) {
      if (rate === null) return
      const current = windows.get(key)
      const fresh = current === undefined || nowMs >= current.start + rate.windowMs
      const window = fresh ? { start: nowMs, calls: 0 } : current
      windows.set(key, window)
      if (++window.calls > rate.calls) throw new RateLimited(rate, window.start + rate.windowMs - nowMs)
    },
    windows: () => windows,
    reset(windowsKept = []) {
      windows = new Map(windowsKept)
    },
  }
}

/** The value of `access-control-allow-origin`; null when the page may not read the answer. */
function allowedOrigin({ headers: { origin } }: ApiRequest, listed: Knobs['api.cors']): string | null {
  if (listed.includes('*')) return '*'
  return origin !== undefined && isTrustedOrigin(origin, listed) ? origin : null
}

const EXPOSED = [UNSPECIFIED_HEADER, FAULT_HEADER, INTERNAL_HEADER, 'retry-after'].join(', ')

/** Adds the headers with which browsers let a trusted page read the answer. Headers of a fault stay as they are. */
export function withCors(response: ApiResponse, request: ApiRequest, listed: Knobs['api.cors']): ApiResponse {
  const { headers } = response
  const allowed = allowedOrigin(request, listed)
  if (allowed !== '*') headers.vary ??= 'Origin'
  if (allowed === null) return response
  headers['access-control-allow-origin'] ??= allowed
  headers['access-control-expose-headers'] ??= EXPOSED
  return response
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

// Who calls: hosts and pages

/** Who may use one part of a server. */
export interface CallerPolicy {
  /** A page of another site can reach this machine under a name of its own (DNS rebinding). `host` is the header as received. */
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
  host === undefined || policy.acceptsHost(host) ? null : { code: 'foreign_host', value: host }

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
  readonly keyring: Keyring
  readonly callers: CallerRules
}): CallerPolicy {
  const { platform, keyring, callers } = parts
  /** The latest header that names this server: a client sends the same with each request. */
  let known: string | null = null
  return {
    acceptsHost(host) {
      if (host === known) return true
      if (!callers.acceptsHost(host)) return isListedHost(host, platform.knobs['api.cors'])
      known = host
      return true
    },
    acceptsOrigin: origin => isTrustedOrigin(origin, platform.knobs['api.cors']),
    acceptsReads: true,
    acceptsTunnels: true,
    isGuarded: () => !callers.knownKeys.some(key => keyring.accepts(key, platform.nowMs())),
  }
}

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null)

/** Loopback pages and those in `api.cors`. The origin `null` of sandboxed pages and files is only in `*`. */
function isTrustedOrigin(origin: string, listed: Knobs['api.cors']): boolean {
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
