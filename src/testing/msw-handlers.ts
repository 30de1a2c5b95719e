/** Creates msw handlers that answer from a simulator, for msw 2 and 3, and checks the Node that the installed msw needs. */

/** The part of a simulator that `handlers` needs: its address, and the function that answers a request. */
export interface Answering {
  readonly baseUrl: string
  fetch(request: Request): Promise<Response>
}

/** The part of msw's `http` that versions 2 and 3 share. */
interface HttpNamespace<Handler> {
  all(path: RegExp, resolver: (info: { readonly request: Request }) => Promise<Response>): Handler
}

export const createHandlers = <Handler>(http: HttpNamespace<Handler>, simulator: Answering): Handler[] => {
  // Matches the base URL and every path below it.
  const { origin, pathname } = new URL(simulator.baseUrl)
  const literal = (origin + pathname.replace(/\/+$/, '')).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return [
    http.all(new RegExp(`^${literal}(?:/.*)?$`), ({ request }) => {
      // Answers a lost response with the error response that msw turns into a network error.
      return simulator.fetch(request).catch(() => Response.error())
    }),
  ]
}

/** Returns `http` of the installed msw. Throws if its version is not supported. */
export function requireHttp<Handler>(msw: { readonly http?: HttpNamespace<Handler> }): HttpNamespace<Handler> {
  const version = globalThis.process?.versions?.node === undefined ? undefined : installedMsw()?.version
  const { http } = msw
  if (
    http !== undefined &&
    (version === undefined || (compareVersions(version, '2.10') >= 0 && compareVersions(version, '4') < 0))
  )
    return http
  throw new Error(
    `handover-sim/msw needs msw 2.10 or newer, below 4, and ${version === undefined ? 'an older one' : version} is installed. Install one: npm install --save-dev msw@3`,
  )
}

interface Manifest {
  readonly version: string
  readonly engines?: { readonly node?: string }
}

/** Throws if this Node is too old for the installed msw. Does nothing outside of Node. */
export function checkInstalledMsw(): void {
  const node = globalThis.process?.versions?.node
  if (node === undefined) return
  const manifest = installedMsw()
  const problem = manifest === null ? null : nodeProblem(manifest, node)
  if (problem !== null) throw new Error(problem)
}

/** Returns null where packages cannot be resolved by name, as in a bundle. */
function installedMsw(): Manifest | null {
  try {
    const { createRequire } = globalThis.process.getBuiltinModule('node:module')
    return createRequire(import.meta.url)('msw/package.json')
  } catch {
    return null
  }
}

/** Returns an error message if this msw needs a newer Node, otherwise null. */
export function nodeProblem({ version, engines }: Manifest, node: string): string | null {
  const minimum = />=\s*(\d+(?:\.\d+){0,2})/.exec(engines?.node ?? '')?.[1]
  if (minimum === undefined || compareVersions(node, minimum) >= 0) return null
  const alternative = Number.parseInt(version, 10) > 2 ? ' or install msw 2, which works too: npm install -D msw@2' : ''
  return `msw ${version} needs Node ${minimum} or newer, and this is Node ${node}. Use a newer Node${alternative}.`
}

/** Negative when `a` is the older version. */
function compareVersions(a: string, b: string): number {
  const left = a.split('.')
  const right = b.split('.')
  for (let index = 0; index < 3; index++) {
    const difference = Number.parseInt(left[index] ?? '0', 10) - Number.parseInt(right[index] ?? '0', 10)
    if (difference !== 0) return difference
  }
  return 0
}
