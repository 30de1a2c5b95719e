/** How the reference intermediary of this package is started. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from './call-scope.ts'
import { type TargetLaunch, TargetStartError } from './start-target.ts'
import { type SimulatorAccess, simulatorVariables } from './target.ts'

const READY_WITHIN_MS = 15_000

/** What the surroundings say to other programs under the same names is not meant for this one. */
const NOT_MEANT = ['HOST', 'STATE_FILE', 'AGENT_NAME', 'AGENT_AVATAR', 'AGENT_LANGUAGES']

/** How it is started; `own` are further variables of its own. */
export function referenceStart(
  name: string,
  env: Environment,
  sim: SimulatorAccess,
  own: Readonly<Record<string, string>>,
): TargetLaunch {
  const inherited = Object.fromEntries(Object.entries(env).filter(([key]) => !NOT_MEANT.includes(key)))
  const main = referenceFile('main.js')
  return {
    name,
    command: [process.execPath, main],
    cwd: dirname(main),
    env: { ...inherited, ...simulatorVariables(sim), ...own },
    ready: null,
    readyTimeoutMs: READY_WITHIN_MS,
  }
}

/** Sources, chunks and bundle lie at different depths of the package. */
export function referenceFile(name: string): string {
  const candidates = ['../examples', '../../examples'].map(folder =>
    fileURLToPath(new URL(`${folder}/intermediary/${name}`, import.meta.url)),
  )
  const found = candidates.find(existsSync)
  if (found !== undefined) return found
  throw new TargetStartError('The reference intermediary is not part of this installation.')
}
