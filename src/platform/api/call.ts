/** Holds one call while it is handled, and finds its endpoint (V2, `api.trailingSlash`). */

import { elapsedMs } from '../../base/runtime/clock.ts'
import { didYouMean, suggest } from '../../base/text/error-text.ts'
import { type Alias, ENDPOINT_ROUTES, type EndpointId } from '../contract/endpoint-routes.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { AppliedApiFaults, FaultRegistry } from '../faults/registry.ts'
import type { ApiContent, FaultContent, NoteContent, ShownMessage } from '../journal/entry.ts'
import { Refusal } from '../rules/refusal.ts'
import { createTransaction, type Effect, type Transaction } from '../rules/state.ts'
import type { UserPorts } from '../rules/user-actions.ts'
import type { AuthState, CallerRules, Keyring, RateLimit } from './access.ts'
import type { ApiRequest, Marker } from './messages.ts'

/** What the API needs from other parts of the simulator. */
export interface ApiPorts extends Omit<UserPorts, 'commit'> {
  readonly keyring: Keyring
  readonly callers: CallerRules
  readonly rateLimit: RateLimit
  readonly marked: Marker
  readonly faults: Pick<FaultRegistry, 'active' | 'takeApi'>
  /** Appends the call, whose estimated memory is `size`, the faults applied to it, and then what it caused. */
  commitCall(call: ApiContent, size: number, effects: readonly Effect[], faults: readonly FaultContent[]): void
  /** Seq of the latest webhook event of a chat. */
  lastEvent(chatId: string): number | null
  /** Wall-clock latency, cut short by a reset. */
  delay(ms: number): Promise<void>
  /** Aborted by the next reset. */
  resetSignal(): AbortSignal
}

export interface ApiCall {
  readonly ports: ApiPorts
  readonly request: ApiRequest
  readonly started: number
  readonly transaction: Transaction
  readonly epoch: number
  route: ApiRoute | null
  auth: AuthState | 'not_checked'
  body: unknown
  /** About how many values `body` has. */
  valueCount: number
  response: unknown
  /** Null for nearly every call. */
  shownToUser: ShownMessage | null
  /** Null for nearly every call. */
  faults: AppliedApiFaults | null
  internalError: NoteContent | null
}

export const createCall = (ports: ApiPorts, request: ApiRequest): ApiCall => ({
  ports,
  request,
  started: elapsedMs(),
  transaction: createTransaction(),
  epoch: ports.epoch.count,
  route: null,
  auth: 'not_checked',
  body: undefined,
  valueCount: 0,
  response: undefined,
  shownToUser: null,
  faults: null,
  internalError: null,
})

export function chatIdOf({ route, body }: Pick<ApiCall, 'route' | 'body'>): string | undefined {
  if (route?.chatId !== undefined) return route.chatId
  if (typeof body !== 'object' || body === null || !('chat_id' in body)) return undefined
  const id = body.chat_id
  return typeof id === 'string' && id !== '' ? id : undefined
}

export interface ApiRoute {
  readonly id: EndpointId
  readonly alias: Alias | null
  /** Percent-decoded; only the chat transcript has one. */
  readonly chatId?: string
  /** The path ends as the platform writes it: with a slash or without. */
  readonly hasCanonicalSlash: boolean
  /** The path as the platform writes it, for this alias. */
  readonly canonical: string
}

const CHAT_PREFIX = '/api/v1/chats/'
const HANDOVER_PATH = /^\/api\/(\w+)\/(handover|takeover)\/(\w+)(\/?)$/

/** The handover endpoints by the last part of their path. */
const HANDOVER_ENDPOINTS = new Map(
  Object.values(ENDPOINT_ROUTES)
    .filter(({ id }) => id !== 'chat')
    .map(({ id, path }) => [lastPart(path), { id, slash: path.endsWith('/') ? '/' : '' }]),
)

/** Throws a refusal when the path has no endpoint. */
export function matchRoute(path: string, knobs: Knobs): ApiRoute {
  const route = findApiRoute(path, knobs)
  if (route === null) throw unknownPath(path)
  return route
}

export function findApiRoute(path: string, knobs: Knobs): ApiRoute | null {
  const [, version = '', alias, name = '', slash] = HANDOVER_PATH.exec(path) ?? []
  const endpoint = HANDOVER_ENDPOINTS.get(name)
  if (endpoint !== undefined && (version === 'v2' || knobs['api.versions'].includes(version))) {
    const canonical = `/api/${version}/${alias}/${name}${endpoint.slash}`
    return { id: endpoint.id, alias: alias as Alias, canonical, hasCanonicalSlash: slash === endpoint.slash }
  }
  if (!path.startsWith(CHAT_PREFIX)) return null
  const slashed = path.endsWith('/')
  const raw = path.slice(CHAT_PREFIX.length, slashed ? -1 : undefined)
  if (raw === '' || raw.includes('/')) return null
  return { id: 'chat', alias: null, chatId: decode(raw), canonical: CHAT_PREFIX + raw, hasCanonicalSlash: !slashed }
}

function decode(raw: string): string {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

function unknownPath(path: string): Refusal {
  const near = nearPath(path)
  let message = `No endpoint at ${path}${near}`
  // A list beside the right path would only be in its way.
  if (near === '.') {
    const list = Object.values(ENDPOINT_ROUTES).map(endpoint => `${endpoint.method} ${endpoint.path}`)
    message += ` The nine endpoints: ${list.join(', ')} (takeover is an alias of handover).`
  }
  return new Refusal('path_not_found', message, /^\/api\/v\d+\//.test(path) ? { assumed: ['api.versions'] } : {})
}

/** The path that ends alike, because a missing or other beginning is the usual mistake; otherwise a similar one. */
function nearPath(path: string): string {
  const paths = [...Object.values(ENDPOINT_ROUTES).map(endpoint => endpoint.path), '/_sim/livez', '/_sim/readyz']
  const alike = paths.find(candidate => lastPart(candidate) === lastPart(path))
  return alike === undefined ? suggest(path, paths) : didYouMean(alike)
}

function lastPart(path: string): string {
  return path.replace(/\/$/, '').split('/').at(-1)!
}

/** Path without query and fragment; absolute-form targets lose their origin, doubled slashes stay. */
export function pathOf(target: string): string {
  let path = target
  if (path.charCodeAt(0) !== 47) path = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/'
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}
