/** Finds scenario files: a file, every scenario below a folder, a pattern such as `scenarios/**\/night-*.yaml`, or shipped ones. */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve, sep } from 'node:path'
import { globSync, isDynamicPattern } from 'tinyglobby'
import { DATA_EXTENSIONS, MODULE_EXTENSIONS } from '../../../base/files/budgets.ts'
import { fileProblem } from '../../../base/files/errors.ts'
import type { NamedFile } from '../../../base/files/user-files.ts'
import { suggest } from '../../../base/text/error-text.ts'

/** Begins the name of a shipped scenario: `builtin:happy-path.yaml`. Alone it names all of them. */
export const BUILTIN = 'builtin:'

/** Where files are looked for. */
export interface FileFolders {
  readonly cwd: string
  /** The folder of the shipped scenarios. Default: they cannot be named. */
  readonly builtin?: string | null
  /** Scenarios of a request include only shipped files, because no request reads files of the user. */
  readonly includesOnlyBuiltin?: boolean
}

export interface FoundFile extends NamedFile {
  /** Named by itself, so that it is an error when it is not a scenario; other files are skipped. */
  readonly named: boolean
}

const EXTENSIONS: readonly string[] = [...DATA_EXTENSIONS, ...MODULE_EXTENSIONS]

/** Each file once, in the order of the patterns; the files of a folder are sorted by name. Throws `ConfigError`. */
export function findFiles(patterns: readonly string[], { cwd, builtin = null }: FileFolders): FoundFile[] {
  const files = new Map<string, FoundFile>()
  for (const pattern of patterns) {
    const isBuiltin = builtin !== null && pattern.startsWith(BUILTIN)
    for (const file of isBuiltin ? findBuiltin(pattern, builtin) : findMatches(pattern, cwd)) {
      const known = files.get(file.path)
      if (known === undefined || (file.named && !known.named)) files.set(file.path, file)
    }
  }
  return [...files.values()]
}

function findBuiltin(pattern: string, folder: string): FoundFile[] {
  const files: FoundFile[] = []
  const names: string[] = []
  for (const path of scan(folder, '**')) {
    const file = describeFile(path, builtinName(path, folder), false)
    if (file.name === pattern || file.name === `${pattern}.yaml`) return [{ ...file, named: true }]
    files.push(file)
    names.push(file.name)
  }
  if (pattern === BUILTIN) return files
  throw fileProblem(pattern, `is no shipped scenario${suggest(pattern, names)}`)
}

/** `builtin:parts/taken-over.yaml` */
export const builtinName = (path: string, folder: string): string =>
  `${BUILTIN}${relative(folder, path).split(sep).join('/')}`

function findMatches(pattern: string, cwd: string): FoundFile[] {
  const path = resolve(cwd, pattern)
  const kind = kindOf(path)
  if (kind === 'file') {
    const file = describeFile(path, pattern, true)
    if (EXTENSIONS.includes(file.extension)) return [file]
    throw fileProblem(pattern, `must end in ${EXTENSIONS.join(', ')}.`)
  }
  if (kind === null && !isDynamicPattern(pattern))
    throw fileProblem(pattern, 'cannot be read: there is no such file or folder.')
  const base = kind === 'folder' ? path : baseOf(pattern, cwd)
  if (kindOf(base) !== 'folder') {
    const name = relative(cwd, base).split(sep).join('/')
    throw fileProblem(pattern, `matches no file: there is no folder ${name}.`)
  }
  const matches = kind === 'folder' ? scan(path, '**') : scan(cwd, pattern.replaceAll('\\', '/'))
  if (matches.length === 0)
    throw fileProblem(
      pattern,
      kind === 'folder'
        ? `has no scenario in it: no file ends in ${EXTENSIONS.join(', ')}. The shipped ones: --builtin.`
        : 'matches no file.',
    )
  // Names are as a user in `cwd` would type them.
  const isAbsolute = resolve(pattern) === pattern
  return matches.map(file => {
    const name = isAbsolute ? file : relative(cwd, file)
    return describeFile(file, name.split(sep).join('/'), false)
  })
}

const describeFile = (path: string, name: string, named: boolean): FoundFile => ({
  name,
  path,
  extension: extname(path).toLowerCase(),
  named,
})

/** The folders in which a change may add, change or remove a file of these patterns. */
export function foldersOf(patterns: readonly string[], { cwd }: FileFolders): string[] {
  const folders = new Set<string>()
  for (const pattern of patterns) {
    if (pattern.startsWith(BUILTIN)) continue
    const path = resolve(cwd, pattern)
    const kind = kindOf(path)
    const isTree = kind === 'folder' || (kind === null && isDynamicPattern(pattern))
    let folder = kind === 'folder' ? path : isTree ? baseOf(pattern, cwd) : dirname(path)
    while (kindOf(folder) !== 'folder') folder = dirname(folder)
    folders.add(folder)
    if (isTree) for (const inner of glob(folder, '**', true)) folders.add(inner)
  }
  return [...folders]
}

/** Null also for a broken link. */
function kindOf(path: string): 'file' | 'folder' | null {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch {
    return null
  }
}

/** Every file that could be a scenario, sorted by name. */
function scan(folder: string, pattern: string): string[] {
  return glob(folder, pattern, false).filter(path => {
    const isOther = /\.(d|test|spec|config)\.\w+$/.test(basename(path))
    return !isOther && EXTENSIONS.includes(extname(path).toLowerCase())
  })
}

/** Lists what a pattern matches, without hidden folders and installed packages; what several links lead to is listed once. */
function glob(cwd: string, pattern: string, onlyDirectories: boolean): string[] {
  const paths = globSync(pattern, { cwd, onlyDirectories, absolute: true, ignore: '**/node_modules/**' })
  const byRealPath = new Map<string, string>()
  for (const match of paths.sort()) {
    const path = resolve(match)
    const real = realpathSync(path)
    if (!byRealPath.has(real) || path === real) byRealPath.set(real, path)
  }
  return [...byRealPath.values()].sort()
}

/** The folder a pattern begins with. */
function baseOf(pattern: string, cwd: string): string {
  const parts = pattern.replaceAll('\\', '/').split('/')
  const first = parts.findIndex(part => isDynamicPattern(part))
  return resolve(cwd, parts.slice(0, first).join('/') || (pattern.startsWith('/') ? '/' : '.'))
}
