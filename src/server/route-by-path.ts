/** Routes the requests of one port by path: the control API, the index page, and the platform for everything else. */
import type { ServerResponse } from 'node:http'
import { internalErrorResponse } from '../api/responses.ts'
import { pathOf } from '../api/routes.ts'
import { VERSION } from '../contract/version.ts'
import type { Listener } from './http.ts'

export interface Listeners {
  readonly platform: Listener
  readonly indexPage: Listener
  /** Loaded with the first request, so that the start does not wait for it. */
  control(): Promise<Listener>
  /** The path of the base URL without a final slash; a proxy may leave it in front of every path. */
  basePath(): string
}

const CONTROL = '/_sim'

export function createPathRouter(listeners: Listeners): Listener {
  const control = lazily(listeners.control)
  return (request, response) => {
    const target = stripBase(request.url ?? '/', listeners.basePath())
    const path = target.charCodeAt(0) === SLASH ? target : pathOf(target)
    request.url = target
    if (isControl(path)) return control(request, response)
    if (isIndexPage(path)) return listeners.indexPage(request, response)
    listeners.platform(request, response)
  }
}

const SLASH = 47

const isControl = (path: string) =>
  path.startsWith(CONTROL) && (path.length === CONTROL.length || '/?#'.includes(path.charAt(CONTROL.length)))

const isIndexPage = (path: string) => path === '/' || path.startsWith('/?') || path === '/favicon.ico'

const stripBase = (target: string, base: string) =>
  base !== '' && target.startsWith(`${base}/`) ? target.slice(base.length) : target

function lazily(load: () => Promise<Listener>): Listener {
  let loaded: Listener | null = null
  let loading: Promise<Listener> | null = null
  return (request, response) => {
    if (loaded !== null) return loaded(request, response)
    loading ??= load()
    loading.then(
      listener => {
        loaded = listener
        listener(request, response)
      },
      error => fail(error, response),
    )
  }
}

function fail(error: unknown, response: ServerResponse): void {
  const { status, headers, body } = internalErrorResponse(error)
  response.writeHead(status, headers).end(body)
}

const text = (url: string) => `handover-sim ${VERSION}: a chatbot platform's handover API and its end user, simulated.

platform API    ${url}/api/v2/handover/...  ${url}/api/v1/chats/{chatId}
                described at ${url}/_sim/platform-openapi.json
control API     ${url}/_sim
                described at ${url}/_sim/openapi.json
`

/** Answers `/favicon.ico` as well: browsers request it, and it must not be journaled as an invalid API call. */
export function createIndexPage(url: () => string): Listener {
  return (request, response) => {
    request.resume()
    if (request.url === '/favicon.ico') return void response.writeHead(204).end()
    const reading = request.method === 'GET' || request.method === 'HEAD'
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...(reading ? {} : { allow: 'GET, HEAD' }) }
    response.writeHead(reading ? 200 : 405, headers)
    response.end(request.method === 'HEAD' ? '' : text(url()))
  }
}
