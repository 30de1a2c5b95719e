/** Answers `fetch` and `XMLHttpRequest` of jsdom and happy-dom from intercepted simulators. */
import { FetchInterceptor } from '@mswjs/interceptors/fetch'
import { XMLHttpRequestInterceptor } from '@mswjs/interceptors/XMLHttpRequest'
import { createFetchAdapter } from '../../platform/api/fetch.ts'
import { findRoute, type InterceptedRoute, requestUrl } from './intercepted-routes.ts'

/**
 * Patches both where a page would have them. There a connection is too late: the page asks the other origin first
 * whether it permits the request (CORS), and the platform permits it only to some pages. Returns a function that removes the patches.
 */
export function patchBrowserApis(): () => void {
  // A polyfill for Node needs no page, and its requests are those of `node:http`.
  if (!PAGE_GLOBALS.every(name => name in globalThis)) return () => {}
  const restoreHeaders = ignoreMarks(globalThis.XMLHttpRequest.prototype)
  const remove = [
    apply(new FetchInterceptor(), answer),
    apply(new XMLHttpRequestInterceptor(), async event => {
      if (!(await answer(event))) passedOn.add(event.requestId)
    }),
  ]
  return () => {
    for (const dispose of remove) dispose()
    restoreHeaders()
    passedOn.clear()
  }
}

function apply(
  interceptor: FetchInterceptor | XMLHttpRequestInterceptor,
  onRequest: (event: RequestEvent) => Promise<unknown>,
) {
  // An instance shared with msw would let msw reject what it does not handle, and would end with msw.
  Reflect.set(interceptor, 'symbol', Symbol('handover-sim'))
  interceptor.apply()
  interceptor.on('request', onRequest)
  return () => interceptor.dispose()
}

const PAGE_GLOBALS = ['Document', 'XMLHttpRequest', 'XMLHttpRequestUpload']

/** The ids of requests that go on to their own address. */
const passedOn = new Set<unknown>()

/** The interceptor adds a header to requests that it passes on. It would reach the server, and cause a CORS preflight. */
function ignoreMarks(prototype: XMLHttpRequest): () => void {
  const { setRequestHeader } = prototype
  const patched = function (this: XMLHttpRequest, name: string, value: string) {
    if (name !== 'x-interceptors-internal-request-id' || !passedOn.delete(value))
      setRequestHeader.call(this, name, value)
  }
  prototype.setRequestHeader = patched
  return () => {
    if (prototype.setRequestHeader === patched) prototype.setRequestHeader = setRequestHeader
  }
}

interface RequestEvent {
  readonly request: Request
  readonly requestId: string
  readonly controller: {
    respondWith(response: Response): void
    errorWith(reason: object): void
  }
}

/** Returns false for a request that goes on to its own address. */
async function answer({ request, controller }: RequestEvent): Promise<boolean> {
  const route = findRoute(requestUrl('', request.url))
  if (route === null) return false
  await respond(route, request).then(
    response => controller.respondWith(response),
    error => controller.errorWith(error),
  )
  return true
}

const respond = ({ simulator, origin, path }: InterceptedRoute, request: Request): Promise<Response> =>
  createFetchAdapter({
    api: exchange => simulator.handle(exchange),
    baseUrl: () => origin + path,
    bodyLimit: () => Number.POSITIVE_INFINITY,
    epoch: () => 0,
  })(request)
