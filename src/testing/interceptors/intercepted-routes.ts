/** Stores which simulators are intercepted, and finds the one of a URL. */

/** The part of a simulator that `intercept` needs: its address, and the function that answers a request. */
export interface Intercepted {
  readonly baseUrl: string
  fetch(request: Request): Promise<Response>
}

export interface InterceptedRoute {
  readonly origin: string
  /** Without a final slash. */
  readonly path: string
  readonly simulator: Intercepted
}

/** The routes of each active interception; the latest comes first. */
export const activeRoutes: (readonly InterceptedRoute[])[] = []

/** Returns the routes of these simulators, the longest base URL first. Throws for a base URL that is no URL. */
export function createRoutes(simulators: readonly Intercepted[]): readonly InterceptedRoute[] {
  const routes: InterceptedRoute[] = []
  for (const simulator of simulators) {
    const { origin, pathname } = new URL(simulator.baseUrl)
    routes.push({ origin, path: pathname.replace(/\/+$/, ''), simulator })
  }
  return routes.sort((a, b) => b.path.length - a.path.length)
}

/** Prefers the latest interception, and within it the longest base URL. */
export function findRoute(address: string): InterceptedRoute | undefined {
  const { origin, pathname } = new URL(address)
  for (const route of activeRoutes.flat())
    if (route.origin === origin && `${pathname}/`.startsWith(`${route.path}/`)) return route
  return undefined
}

export function isIntercepted(baseUrl: string): boolean {
  const route = URL.canParse(baseUrl) ? findRoute(baseUrl) : undefined
  return route !== undefined && route.path === new URL(baseUrl).pathname.replace(/\/+$/, '')
}

/** Whether simulators are intercepted at this address, for instance `bot.example.test:443`. */
export function isInterceptedAddress(address: string): boolean {
  for (const { origin } of activeRoutes.flat()) {
    const { hostname, port, protocol } = new URL(origin)
    const standardPort = protocol === 'https:' ? 443 : 80
    if (`${hostname.replace(/^\[|\]$/g, '')}:${port || standardPort}` === address) return true
  }
  return false
}
