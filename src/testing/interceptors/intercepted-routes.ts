/** Stores which simulators are intercepted, and finds the one of a URL. */
import type { ApiRequest, ApiResponse } from '../../platform/api/messages.ts'
import type { Journal } from '../../platform/journal/journal.ts'

/** The part of a simulator that `intercept` needs: its address, and the function that answers a request. */
export interface Intercepted {
  readonly baseUrl: string
  /** Receives errors of the simulator itself. */
  readonly journal?: Pick<Journal, 'append'>
  handle(exchange: ApiRequest): ApiResponse | Promise<ApiResponse>
}

export interface InterceptedRoute {
  readonly origin: string
  /** Without a final slash. */
  readonly path: string
  readonly simulator: Intercepted
}

/** The routes of each active interception; the latest comes first. */
const active: (readonly InterceptedRoute[])[] = []

export const hasRoutes = (): boolean => active.length > 0

export const isIntercepted = (baseUrl: string): boolean =>
  active.some(routes => routes.some(({ simulator }) => canonicalUrl(simulator.baseUrl) === canonicalUrl(baseUrl)))

/** The address as it is compared: host in lower case, without a default port and without a final slash. */
export const canonicalUrl = (baseUrl: string): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).href.replace(/\/+$/, '') : baseUrl

/** The longest base URL first. Throws for a base URL that is no URL. */
export const interceptedRoutesOf = (simulators: readonly Intercepted[]): readonly InterceptedRoute[] =>
  simulators.map(routeOf).sort((a, b) => b.path.length - a.path.length)

export const addRoutes = (routes: readonly InterceptedRoute[]): void => void active.unshift(routes)

/** Returns false if the routes were removed before. */
export function removeRoutes(routes: readonly InterceptedRoute[]): boolean {
  const index = active.indexOf(routes)
  return index >= 0 && active.splice(index, 1).length > 0
}

function routeOf(simulator: Intercepted): InterceptedRoute {
  const { origin, pathname } = new URL(simulator.baseUrl)
  return { origin, path: pathname.replace(/\/+$/, ''), simulator }
}

/** Prefers the latest interception, and within it the longest base URL. */
export function findRoute(url: URL | null): InterceptedRoute | null {
  if (url === null) return null
  for (const routes of active) {
    const found = routes.find(
      route =>
        route.origin === url.origin && (url.pathname === route.path || url.pathname.startsWith(`${route.path}/`)),
    )
    if (found !== undefined) return found
  }
  return null
}

const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** Returns the URL of a request line; a request to a proxy has the whole URL as its path. Null for an invalid URL. */
export function requestUrl(origin: string, path: string): URL | null {
  const text = ABSOLUTE.test(path) ? path : `${origin}${path.startsWith('/') ? '' : '/'}${path}`
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** Removes the origin, which a request to a proxy has, and the path of the base URL. */
export function relativeTo(basePath: string, target: string): string {
  const local = target.replace(ABSOLUTE, '')
  const rest = basePath !== '' && local.startsWith(basePath) ? local.slice(basePath.length) : local
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Returns the origin of an address, if simulators are intercepted there; otherwise null. */
export function originOf(protocol: string, host: string, port: number | string): string | null {
  const url = requestUrl(`${protocol}//${host.includes(':') ? `[${host}]` : host}:${port}`, '/')
  return url !== null && hasOrigin(url.origin) ? url.origin : null
}

export const hasOrigin = (origin: string): boolean =>
  active.some(routes => routes.some(route => route.origin === origin))
