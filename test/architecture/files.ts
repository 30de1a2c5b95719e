/** The files of this repository and what they import. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
export const readJson = <T>(file: string): T => JSON.parse(read(file)) as T

/** Below a folder, by path from there. */
export function filesIn(folder: string, ending: string): string[] {
  const found = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return found.filter(name => name.endsWith(ending)).sort()
}

/** What git tracks and has not been removed since. */
export function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  return listed.filter(file => existsSync(join(ROOT, file)))
}

/** The specifiers of `import`, `export from` and `import()` in TypeScript as it is written here. */
export function importsOf(source: string): string[] {
  const statement =
    /^(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*(?:\/\*.*?\*\/\s*)?['"]([^'"]+)['"]/gm
  return [...source.matchAll(statement)].map(([, from, bare, dynamic]) => (from ?? bare ?? dynamic)!)
}
