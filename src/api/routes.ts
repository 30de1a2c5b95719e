/** Finds the endpoint of a path: both aliases, with and without the trailing slash (V2, `api.trailingSlash`). */
import { ALIASES, type Alias, ENDPOINTS, type EndpointId } from '../contract/endpoints.ts'
import type { Knobs } from '../contract/knobs.ts'
import { Refusal } from '../platform/refusal.ts'

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
  for (const { id, path } of Object.values(ENDPOINTS)) {
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

export function matchRoute(path: string, knobs: Knobs): ApiRoute {
  const versions = knobs['api.versions']
  const key = versions.length === 0 ? '' : versions.join()
  const table = tables.get(key) ?? tableFor(versions)
  if (!tables.has(key)) tables.set(key, table)
  const route = table.get(path) ?? matchChat(path)
  if (route === null) throw unknownPath(path)
  return route
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
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

function unknownPath(path: string): Refusal {
  const list = Object.values(ENDPOINTS).map(endpoint => `${endpoint.method} ${endpoint.path}`)
  const message = `No endpoint at ${path}. The nine endpoints: ${list.join(', ')} (takeover is an alias of handover).`
  return new Refusal('path_not_found', message, /^\/api\/v\d+\//.test(path) ? { assumed: ['api.versions'] } : {})
}

/** Path without query and fragment; absolute-form targets lose their origin, doubled slashes stay. */
export function pathOf(target: string): string {
  let path = target
  if (path.charCodeAt(0) !== 47) path = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/'
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}
