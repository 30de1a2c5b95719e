/** From requests as msw hands them over to the simulator and back. Knows no version of msw. */

/** What a simulator needs to have for this: where it answers, and the answer. */
export interface Answering {
  readonly baseUrl: string
  fetch(request: Request): Promise<Response>
}

/** The part of msw's `http` that both versions have in common. */
export interface HttpNamespace<Handler> {
  all(path: RegExp, resolver: (info: { readonly request: Request }) => Promise<Response>): Handler
}

export const createHandlers = <Handler>(http: HttpNamespace<Handler>, simulator: Answering): Handler[] => [
  http.all(under(simulator.baseUrl), ({ request }) => answer(simulator, request)),
]

/** The base URL itself and every path below it, with any method. */
function under(baseUrl: string): RegExp {
  const { origin, pathname } = new URL(baseUrl)
  const literal = (origin + pathname.replace(/\/+$/, '')).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal}(?:/.*)?$`)
}

/** An answer that gets lost on the way is a network error, which is how msw wants to be told. */
const answer = (simulator: Answering, request: Request): Promise<Response> =>
  simulator.fetch(request).catch(() => Response.error())
