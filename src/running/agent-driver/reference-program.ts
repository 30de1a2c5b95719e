/** Locates the reference intermediary of this package, and describes how to start it. */
import { dirname } from 'node:path'
import { packagePath } from '../../base/runtime/node.ts'
import type { Environment } from './driver.ts'
import { type SimulatorAccess, simulatorVariables, type TargetLaunch, TargetStartError } from './target.ts'

const READY_TIMEOUT_MS = 15_000

/** Variables that other programs may use for purposes of their own: the reference intermediary does not inherit them. */
const NOT_INHERITED = ['HOST', 'STATE_FILE', 'AGENT_NAME', 'AGENT_AVATAR', 'AGENT_LANGUAGES']

/** Describes its start. `variables` are added to the environment. */
export function referenceStart(
  name: string,
  env: Environment,
  sim: SimulatorAccess,
  variables: Readonly<Record<string, string>>,
): TargetLaunch {
  const inherited = { ...env }
  for (const name of NOT_INHERITED) delete inherited[name]
  const main = referenceFile('main.js')
  return {
    name,
    command: [process.execPath, main],
    cwd: dirname(main),
    env: { ...inherited, ...simulatorVariables(sim), ...variables },
    ready: null,
    readyTimeoutMs: READY_TIMEOUT_MS,
  }
}

/** Throws `TargetStartError`. */
export function referenceFile(name: string): string {
  const found = packagePath(`examples/intermediary/${name}`)
  if (found !== null) return found
  throw new TargetStartError('The reference intermediary', { code: 'not_installed' })
}
