/** Holds one call while it is handled, and finds its endpoint (V2, `api.trailingSlash`). */

import { elapsedMs } from '../../base/runtime/clock.ts'
import { didYouMean, suggest } from '../../base/text/error-text.ts'
import { ALIASES, type Alias, ENDPOINT_ROUTES, type EndpointId } from '../contract/endpoint-routes.ts'
import type { Knobs } from '../contract/knobs.ts'
import type { AppliedApiFaults, FaultRegistry } from '../faults/registry.ts'
import type { FaultContent, NoteContent, ShownMessage } from '../journal/entry.ts'
import type { JournalSource } from '../journal/entry-source.ts'
import { REFUSAL_TEXTS, Refusal } from '../rules/refusal.ts'
import { createTransaction, type Effect, type Transaction } from '../rules/transaction.ts'
import type { UserPorts } from '../rules/user-actions.ts'
import type { CallRecords } from './call-record.ts'
import type { CallerRules } from './callers.ts'
import type { AuthState, Keyring, RateLimit } from './keyring.ts'
import type { ApiRequest } from './messages.ts'
import type { TranscriptCache } from './transcripts.ts'

/** What the API needs from other parts of the simulator. */
export interface ApiPorts extends Omit<UserPorts, 'commit'> {
  readonly keyring: Keyring
  readonly callers: CallerRules
  readonly rateLimit: RateLimit
  /** Whether answers carry the header that names assumptions. */
  readonly markers: boolean
  readonly records: CallRecords
  readonly transcripts: TranscriptCache
  readonly faults: Pick<FaultRegistry, 'mayChangeCalls' | 'takeApi'>
  /** Appends the call, the faults applied to it, and then what it caused. */
  commitCall(call: JournalSource, effects: readonly Effect[], faults?: readonly FaultContent[]): void
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
  /** The JSON of `response`, when it is known. */
  responseText: string | null
  /** The answer is a transcript that would stop other calls while it is written. */
  hasLongAnswer: boolean
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
  epoch: ports.epoch(),
  route: null,
  auth: 'not_checked',
  body: undefined,
  valueCount: 0,
  response: undefined,
  responseText: null,
  hasLongAnswer: false,
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
  /** The trailing slash is as the platform writes it. */
  readonly slashAsWritten: boolean
  /** The path as the platform writes it, for this alias. */
  readonly canonical: string
}

const CHAT_PREFIX = '/api/v1/chats/'

function tableFor(versions: readonly string[]): Map<string, ApiRoute> {
  const table = new Map<string, ApiRoute>()
  for (const { id, path } of Object.values(ENDPOINT_ROUTES)) {
    if (id === 'chat') continue
    for (const version of ['v2', ...versions]) {
      for (const alias of ALIASES)
        addSpellings(table, id, alias, path.replace('/v2/handover/', `/${version}/${alias}/`))
    }
  }
  return table
}

function addSpellings(table: Map<string, ApiRoute>, id: EndpointId, alias: Alias, canonical: string): void {
  const other = canonical.endsWith('/') ? canonical.slice(0, -1) : `${canonical}/`
  table.set(canonical, { id, alias, canonical, slashAsWritten: true })
  table.set(other, { id, alias, canonical, slashAsWritten: false })
}

const tables = new Map<string, Map<string, ApiRoute>>()

/** Throws a refusal when the path has no endpoint. */
export function matchRoute(path: string, knobs: Knobs): ApiRoute {
  const route = findApiRoute(path, knobs)
  if (route === null) throw unknownPath(path)
  return route
}

export function findApiRoute(path: string, knobs: Knobs): ApiRoute | null {
  const versions = knobs['api.versions']
  const key = versions.length === 0 ? '' : versions.join()
  const table = tables.get(key) ?? tableFor(versions)
  if (!tables.has(key)) tables.set(key, table)
  return table.get(path) ?? matchChat(path)
}

function matchChat(path: string): ApiRoute | null {
  if (!path.startsWith(CHAT_PREFIX)) return null
  const slashed = path.endsWith('/')
  const raw = path.slice(CHAT_PREFIX.length, slashed ? -1 : undefined)
  if (raw === '' || raw.includes('/')) return null
  const canonical = CHAT_PREFIX + raw
  return { id: 'chat', alias: null, chatId: decode(raw), canonical, slashAsWritten: !slashed }
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
  const list = Object.values(ENDPOINT_ROUTES).map(endpoint => `${endpoint.method} ${endpoint.path}`)
  const message = REFUSAL_TEXTS.pathUnknown(path, nearPath(path), list.join(', '))
  return new Refusal('path_not_found', message, /^\/api\/v\d+\//.test(path) ? { assumed: ['api.versions'] } : {})
}

/** The path that ends alike, because a missing or other beginning is the usual mistake; otherwise a similar one. */
function nearPath(path: string): string {
  const paths = Object.values(ENDPOINT_ROUTES).map(endpoint => endpoint.path)
  const alike = paths.find(one => lastPart(one) === lastPart(path))
  return alike === undefined ? suggest(path, paths) : didYouMean(alike)
}

const lastPart = (path: string) => path.replace(/\/$/, '').split('/').at(-1)

/** Path without query and fragment; absolute-form targets lose their origin, doubled slashes stay. */
export function pathOf(target: string): string {
  let path = target
  if (path.charCodeAt(0) !== 47) path = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/'
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}
