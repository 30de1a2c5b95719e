/** Locates the reference intermediary of this package, and describes how to start it. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from './driver.ts'
import { type SimulatorAccess, simulatorVariables, type TargetLaunch, TargetStartError } from './target.ts'

const READY_TIMEOUT_MS = 15_000

/** Variables that other programs may use for purposes of their own: the reference intermediary does not inherit them. */
const NOT_INHERITED = ['HOST', 'STATE_FILE', 'AGENT_NAME', 'AGENT_AVATAR', 'AGENT_LANGUAGES']

/** Describes its start. `own` holds further environment variables. */
export function referenceStart(
  name: string,
  env: Environment,
  sim: SimulatorAccess,
  own: Readonly<Record<string, string>>,
): TargetLaunch {
  const inherited = Object.fromEntries(Object.entries(env).filter(([key]) => !NOT_INHERITED.includes(key)))
  const main = referenceFile('main.js')
  return {
    name,
    command: [process.execPath, main],
    cwd: dirname(main),
    env: { ...inherited, ...simulatorVariables(sim), ...own },
    ready: null,
    readyTimeoutMs: READY_TIMEOUT_MS,
  }
}

/** Looks in two folders: sources and bundle lie at different depths of the package. Throws `TargetStartError`. */
export function referenceFile(name: string): string {
  const candidates = ['../examples', '../../examples'].map(folder =>
    fileURLToPath(new URL(`${folder}/intermediary/${name}`, import.meta.url)),
  )
  const found = candidates.find(existsSync)
  if (found !== undefined) return found
  throw new TargetStartError('The reference intermediary', { code: 'not_installed' })
}
