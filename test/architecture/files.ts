/** Lists and reads the files of this repository, and finds their imports. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
export const readJson = <T>(file: string): T => JSON.parse(read(file)) as T

/** Lists the files below a folder with one of these endings, sorted, by path from the folder. */
export function filesIn(folder: string, ...endings: string[]): string[] {
  const found = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return found.filter(name => endings.some(ending => name.endsWith(ending))).sort()
}

/** Lists the files that git tracks and that exist. */
export function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  return listed.filter(file => existsSync(join(ROOT, file)))
}

/** Returns the specifiers of `import`, `export from` and `import()` in formatted TypeScript. */
export function importsOf(source: string): string[] {
  const statement =
    /^(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*(?:\/\*.*?\*\/\s*)?['"]([^'"]+)['"]/gm
  return [...source.matchAll(statement)].map(([, from, bare, dynamic]) => (from ?? bare ?? dynamic)!)
}
