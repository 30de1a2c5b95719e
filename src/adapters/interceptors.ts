/** `handover-sim/interceptors`: any HTTP client of this process gets its answers from a simulator, without a port. */
import { catchNodeHttp } from './intercepting/node-http.ts'
import { addRoutes, anyStanding, type Intercepted, removeRoutes } from './intercepting/routes.ts'
import { catchUndici, releaseUndici } from './intercepting/undici.ts'

export type { Intercepted }

export interface Interception extends Disposable {
  /** Requests go where they went before. Those in flight still get their answer. */
  stop(): void
}

let patches: (() => void)[] = []

/**
 * Catches what `fetch`, undici, `node:http`, `node:https` and the clients built on them send to the base URL of a
 * simulator, or of several. Everything else goes its way. Ends with `stop()`, or with the block under `using`.
 */
export function intercept(simulators: Intercepted | readonly Intercepted[]): Interception {
  const all = Array.isArray(simulators) ? (simulators as readonly Intercepted[]) : [simulators as Intercepted]
  checkSimulators(all)
  if (!anyStanding()) patches = [catchNodeHttp(), catchUndici()]
  const routes = addRoutes(all)
  const stop = () => {
    if (!removeRoutes(routes)) return
    releaseUndici(routes)
    if (!anyStanding()) unpatch()
  }
  return { stop, [Symbol.dispose]: stop }
}

/** One of two at the same address would never be asked. */
function checkSimulators(simulators: readonly Intercepted[]): void {
  if (simulators.some(simulator => typeof simulator?.baseUrl !== 'string'))
    throw new TypeError('intercept takes a simulator, or a list of simulators.')
  const urls = simulators.map(({ baseUrl }) => baseUrl.replace(/\/+$/, ''))
  const twice = urls.find((url, index) => urls.indexOf(url) < index)
  if (twice === undefined) return
  throw new TypeError(`Two simulators answer at ${twice}: give one of them another baseUrl.`)
}

function unpatch(): void {
  for (const undo of patches.splice(0)) undo()
}
