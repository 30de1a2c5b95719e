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
export const createRoutes = (simulators: readonly Intercepted[]): readonly InterceptedRoute[] =>
  simulators
    .map(simulator => {
      const { origin, pathname } = new URL(simulator.baseUrl)
      return { origin, path: pathname.replace(/\/+$/, ''), simulator }
    })
    .sort((a, b) => b.path.length - a.path.length)

/** Prefers the latest interception, and within it the longest base URL. */
export function findRoute(address: string): InterceptedRoute | undefined {
  const { origin, pathname } = new URL(address)
  return activeRoutes.flat().find(route => route.origin === origin && `${pathname}/`.startsWith(`${route.path}/`))
}

export const isIntercepted = (baseUrl: string): boolean => {
  const route = URL.canParse(baseUrl) ? findRoute(baseUrl) : undefined
  return route !== undefined && route.path === new URL(baseUrl).pathname.replace(/\/+$/, '')
}

/** Whether simulators are intercepted at this address, for instance `bot.example.test:443`. */
export const isInterceptedAddress = (address: string): boolean =>
  activeRoutes.some(routes => routes.some(({ origin }) => hostAndPort(new URL(origin)) === address))

const hostAndPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? 443 : 80)}`
