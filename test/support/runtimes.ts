/** Finds the installed programs that run JavaScript: Node, Bun and Deno. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ROOT } from '../architecture/files.ts'

export const PATH: readonly string[] = (process.env.PATH ?? '').split(delimiter)
const FOLDERS = [join(ROOT, 'node_modules/.bin'), ...PATH]

export const versionOf = (path: string) => spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 50_000 })

/** Null when it is not installed or does not run. */
export function findRuntime(name: string, folders: readonly string[] = FOLDERS): string | null {
  const found = folders.map(one => join(one, name)).find(existsSync)
  return found !== undefined && versionOf(found).status === 0 ? found : null
}

/** The name of a test of a runtime. */
export const titled = (name: string, path: string | null): string =>
  path === null ? `${name} (skipped: it is not here)` : name
