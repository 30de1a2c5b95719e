/** `handover-sim/interceptors`: answers the HTTP clients of this process from a simulator, without a port. */

import {
  addRoutes,
  canonicalUrl,
  hasRoutes,
  type Intercepted,
  interceptedRoutesOf,
  removeRoutes,
} from './intercepted-routes.ts'
import { closeUnusedConnections } from './memory-servers.ts'
import { patchBrowserApis } from './patch-browser-apis.ts'
import { patchNodeHttp } from './patch-node-http.ts'
import { patchSockets } from './patch-sockets.ts'
import { closeUndiciAgents, patchUndici } from './patch-undici.ts'

export type { Intercepted }

/** An active interception. It ends with `stop()`, or with the block of `using`. */
export interface Interception extends Disposable {
  /** Sends requests to their own address again. Requests in flight still get their answer. */
  stop(): void
}

const patches: (() => void)[] = []

/**
 * Answers requests of `fetch`, undici, `node:http`, `node:https` and `node:http2`, of clients built on them, such as axios
 * and got, and of `XMLHttpRequest` in jsdom and happy-dom, when they go to the base URL of a simulator. Other requests are
 * not changed. Needs Node.
 *
 * @throws TypeError for a value that is not a simulator, for an empty list, and for two simulators with the same base URL.
 * @example
 * import { createSimulator } from 'handover-sim'
 * import { intercept } from 'handover-sim/interceptors'
 *
 * const sim = createSimulator({ baseUrl: 'https://bot.example.test' })
 * const interception = intercept(sim)
 * const response = await fetch('https://bot.example.test/api/v1/chats/c1')
 * console.log(response.status) // 401
 * interception.stop()
 */
export function intercept(simulators: Intercepted | readonly Intercepted[]): Interception {
  const all = isList(simulators) ? simulators : [simulators]
  checkSimulators(all)
  const routes = interceptedRoutesOf(all)
  if (!hasRoutes()) applyPatches()
  addRoutes(routes)
  const stop = () => {
    if (!removeRoutes(routes)) return
    try {
      closeUndiciAgents(routes)
      closeUnusedConnections()
    } finally {
      if (!hasRoutes()) removePatches()
    }
  }
  return { stop, [Symbol.dispose]: stop }
}

/** Applies all patches or none. */
function applyPatches(): void {
  try {
    for (const patch of [patchSockets, patchNodeHttp, patchUndici, patchBrowserApis]) patches.push(patch())
  } catch (error) {
    removePatches()
    throw error
  }
}

const isList = (simulators: Intercepted | readonly Intercepted[]): simulators is readonly Intercepted[] =>
  Array.isArray(simulators)

/** Rejects an empty list, and two simulators at the same address, because the second would never answer. */
function checkSimulators(simulators: readonly Intercepted[]): void {
  if (simulators.length === 0)
    throw new TypeError('intercept takes at least one simulator, received an empty list: intercept(createSimulator()).')
  if (simulators.some(simulator => typeof simulator?.baseUrl !== 'string'))
    throw new TypeError('intercept takes a simulator, or a list of simulators.')
  const invalid = simulators.find(({ baseUrl }) => !URL.canParse(baseUrl))
  if (invalid !== undefined)
    throw new TypeError(`The base URL of a simulator must be a URL, received ${JSON.stringify(invalid.baseUrl)}.`)
  const urls = simulators.map(({ baseUrl }) => canonicalUrl(baseUrl))
  const duplicate = urls.find((url, index) => urls.indexOf(url) < index)
  if (duplicate === undefined) return
  throw new TypeError(`Two simulators answer at ${duplicate}: give one of them another baseUrl.`)
}

function removePatches(): void {
  for (const remove of patches.splice(0).reverse()) remove()
}
