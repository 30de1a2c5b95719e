/** `simulator.fetch(Request)`: the platform without a socket. */

import { wasReset } from '../api/answers.ts'
import type { Answer } from '../api/exchange.ts'
import type { Api } from '../api/handle.ts'
import { bytesOf, lostFetch, slowResponse } from './odd-answers.ts'

const NO_BODY = new Set([101, 204, 205, 304])

/**
 * Paths below the base URL's own path; a request to elsewhere is still answered, by its path. A call that a reset
 * overtakes while its body is read never was: `epoch` grows with every reset.
 */
export function createFetchDoor(api: Api, basePath: () => string, limit: () => number, epoch: () => number) {
  return async function fetch(request: Request): Promise<Response> {
    const begun = epoch()
    const url = new URL(request.url)
    const prefix = basePath()
    const path =
      prefix !== '' && url.pathname.startsWith(`${prefix}/`) ? url.pathname.slice(prefix.length) : url.pathname
    const body = new Uint8Array(await request.arrayBuffer())
    if (begun !== epoch()) return toResponse(wasReset())
    const headers = Object.fromEntries(request.headers)
    return toResponse(
      await api({ method: request.method, target: path + url.search, headers, body, tooLarge: body.length > limit() }),
    )
  }
}

/** Throws as `fetch` does when there is no answer. */
function toResponse({ status, headers, body, wire }: Answer): Response {
  if (wire?.kind === 'lost') throw lostFetch(wire)
  const empty = NO_BODY.has(status) || body.length === 0
  if (wire?.kind === 'slow' && !empty) return slowResponse(status, headers, bytesOf(body), wire)
  return new Response(empty ? null : (body as BodyInit), { status, headers })
}
