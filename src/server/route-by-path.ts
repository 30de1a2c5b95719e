/** Two listeners behind one port, by path: the control API under /_sim, the platform everywhere else. */
import type { ServerResponse } from 'node:http'
import { internal } from '../api/answers.ts'
import { pathOf } from '../api/routes.ts'
import type { Listener } from './http.ts'

export interface Listeners {
  readonly platform: Listener
  readonly home: Listener
  /** Loaded when first asked for: starting up does not pay for it. */
  control(): Promise<Listener>
  /** The path part of the base URL, without a final slash: what a proxy may have left in front. */
  basePath(): string
}

const CONTROL = '/_sim'

export function createDispatch(rooms: Listeners): Listener {
  const control = lazily(rooms.control)
  return (request, response) => {
    const target = stripBase(request.url ?? '/', rooms.basePath())
    const path = target.charCodeAt(0) === SLASH ? target : pathOf(target)
    request.url = target
    if (isControl(path)) return control(request, response)
    if (isHome(path)) return rooms.home(request, response)
    rooms.platform(request, response)
  }
}

const SLASH = 47

const isControl = (path: string) =>
  path.startsWith(CONTROL) && (path.length === CONTROL.length || '/?#'.includes(path[CONTROL.length]!))

const isHome = (path: string) => path === '/' || path.startsWith('/?') || path === '/favicon.ico'

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
  const { status, headers, body } = internal(error)
  response.writeHead(status, headers).end(body)
}
