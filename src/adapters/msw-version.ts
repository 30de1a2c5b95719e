/** Whether the installed msw runs on this Node at all: one that does not fails later, in words that do not help. */

interface Manifest {
  readonly version: string
  readonly engines?: { readonly node?: string }
}

/** Throws when it does not. Where there is no Node, msw decides for itself. */
export function checkInstalledMsw(): void {
  const node = globalThis.process?.versions?.node
  if (node === undefined) return
  const manifest = installedMsw()
  const problem = manifest === null ? null : tooOld(manifest, node)
  if (problem !== null) throw new Error(problem)
}

let known: Manifest | null | undefined

/** Null where packages are not found by name, as in a bundle. */
function installedMsw(): Manifest | null {
  if (known !== undefined) return known
  try {
    const { createRequire } = globalThis.process.getBuiltinModule('node:module')
    known = createRequire(import.meta.url)('msw/package.json') as Manifest
  } catch {
    known = null
  }
  return known
}

/** What to say to a Node below the lowest one this msw asks for, or null. */
export function tooOld({ version, engines }: Manifest, node: string): string | null {
  const least = />=\s*(\d+(?:\.\d+){0,2})/.exec(engines?.node ?? '')?.[1]
  if (least === undefined || compare(node, least) >= 0) return null
  const other = Number.parseInt(version, 10) > 2 ? ' or install msw 2, which serves as well: npm install -D msw@2' : ''
  return `msw ${version} needs Node ${least} or newer, and this is Node ${node}. Use a newer Node${other}.`
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map(text => text.split('.').map(part => Number.parseInt(part, 10)))
  for (const index of [0, 1, 2]) {
    const difference = (left![index] ?? 0) - (right![index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
