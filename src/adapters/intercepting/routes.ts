/** Which simulator a URL belongs to while interceptions stand. */
import type { Answer, Exchange } from '../../api/exchange.ts'

/** What a simulator needs to have for this: where it answers, and the answer. */
export interface Intercepted {
  readonly baseUrl: string
  handle(exchange: Exchange): Answer | Promise<Answer>
}

export interface Route {
  readonly origin: string
  /** Without a final slash. */
  readonly path: string
  readonly simulator: Intercepted
}

/** One set of routes per interception; the latest comes first. */
const standing: (readonly Route[])[] = []

export const anyStanding = (): boolean => standing.length > 0

export function addRoutes(simulators: readonly Intercepted[]): readonly Route[] {
  const routes = simulators.map(routeOf).sort((a, b) => b.path.length - a.path.length)
  standing.unshift(routes)
  return routes
}

/** Whether they still stood. */
export function removeRoutes(routes: readonly Route[]): boolean {
  const at = standing.indexOf(routes)
  return at >= 0 && standing.splice(at, 1).length > 0
}

function routeOf(simulator: Intercepted): Route {
  const { origin, pathname } = new URL(simulator.baseUrl)
  return { origin, path: pathname.replace(/\/+$/, ''), simulator }
}

/** The latest interception wins; within one the longest base URL. */
export function findRoute(url: URL | null): Route | null {
  if (url === null) return null
  for (const routes of standing) {
    const found = routes.find(route => route.origin === url.origin && isUnder(url.pathname, route.path))
    if (found !== undefined) return found
  }
  return null
}

const isUnder = (path: string, base: string) => path === base || path.startsWith(`${base}/`)

/** The URL of a request line; one to a proxy has the whole of it as its path. Null for what is no URL. */
export function requestUrl(origin: string, path: string): URL | null {
  const text = /^https?:\/\//i.test(path) ? path : `${origin}${path.startsWith('/') ? '' : '/'}${path}`
  return URL.canParse(text) ? new URL(text) : null
}
