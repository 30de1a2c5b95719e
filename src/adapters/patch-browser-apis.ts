/** Answers `fetch` and `XMLHttpRequest` of jsdom and happy-dom from intercepted simulators. */
import { FetchInterceptor } from '@mswjs/interceptors/fetch'
import { XMLHttpRequestInterceptor } from '@mswjs/interceptors/XMLHttpRequest'
import { createFetchAdapter } from './fetch.ts'
import { findRoute, type InterceptedRoute, requestUrl } from './intercepted-routes.ts'

/**
 * Patches both where a page would have them. There a connection is too late: the page asks the other origin first
 * whether it permits the request (CORS), which the platform does not answer. Returns a function that removes the patches.
 */
export function patchBrowserApis(): () => void {
  if (typeof globalThis.XMLHttpRequest === 'undefined') return () => {}
  const interceptors = [new FetchInterceptor(), new XMLHttpRequestInterceptor()]
  for (const interceptor of interceptors) {
    // An instance shared with msw would let msw reject what it does not handle, and would end with msw.
    Reflect.set(interceptor, 'symbol', Symbol('handover-sim'))
    interceptor.apply()
    interceptor.on('request', onRequest)
  }
  return () => {
    for (const interceptor of interceptors) interceptor.dispose()
  }
}

interface RequestEvent {
  readonly request: Request
  readonly controller: {
    respondWith(response: Response): void
    errorWith(reason: object): void
  }
}

/** A request without a response goes on to its own address. */
async function onRequest({ request, controller }: RequestEvent): Promise<void> {
  const route = findRoute(requestUrl('', request.url))
  if (route === null) return
  await respond(route, request).then(
    response => controller.respondWith(response),
    error => controller.errorWith(error),
  )
}

const respond = ({ simulator, path }: InterceptedRoute, request: Request): Promise<Response> =>
  createFetchAdapter({
    api: exchange => simulator.handle(exchange),
    basePath: () => path,
    bodyLimit: () => Number.POSITIVE_INFINITY,
    epoch: () => 0,
  })(request)
