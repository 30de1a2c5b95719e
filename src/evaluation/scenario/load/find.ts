/** Finds scenario files: a file, every scenario below a folder, a pattern such as `scenarios/**\/night-*.yaml`, or shipped ones. */
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, relative, resolve, sep } from 'node:path'
import { type ConfigError, fileProblem } from '../../../base/files/errors.ts'
import type { NamedFile } from '../../../base/files/user-files.ts'
import { SlowPatternError, testPattern } from '../../../base/runtime/patterns.ts'
import { messageOf, suggest, systemCodeOf } from '../../../base/text/error-text.ts'

const TEXTS = {
  noBuiltin: (suggestion: string) => `is no shipped scenario${suggestion}`,
  noFolder: (folder: string) => `matches no file: there is no folder ${folder}.`,
}

/** Begins the name of a shipped scenario: `builtin:happy-path.yaml`. Alone it names all of them. */
export const BUILTIN = 'builtin:'

/** Where files are looked for. */
export interface FileFolders {
  readonly cwd: string
  /** The folder of the shipped scenarios. Default: they cannot be named. */
  readonly builtin?: string | null
  /** Called for a folder that the system does not let read; its files are left out. Default: `ConfigError` is thrown. */
  onUnreadable?(error: ConfigError): void
}

export interface FoundFile extends NamedFile {
  /** Named by itself, so that it is an error when it is not a scenario; other files are skipped. */
  readonly named: boolean
}

const EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json', '.mjs', '.js', '.ts']

/** Each file once, in the order of the patterns; the files of a folder are sorted by name. Throws `ConfigError`. */
export function findFiles(patterns: readonly string[], folders: FileFolders): FoundFile[] {
  const { builtin = null } = folders
  const found = new Map<string, FoundFile>()
  const filesNamed = (pattern: string) =>
    builtin !== null && pattern.startsWith(BUILTIN) ? builtinFiles(pattern, builtin) : filesOf(pattern, folders)
  for (const file of patterns.flatMap(filesNamed)) {
    const known = found.get(file.path)
    if (known === undefined || (file.named && !known.named)) found.set(file.path, file)
  }
  return [...found.values()]
}

function builtinFiles(pattern: string, folder: string): FoundFile[] {
  const all = scan(folder).map(path => fileAt(path, builtinName(path, folder)))
  if (pattern === BUILTIN) return all.map(file => ({ ...file, named: false }))
  const file = all.find(({ name }) => name === pattern || name === `${pattern}.yaml`)
  if (file !== undefined) return [{ ...file, named: true }]
  throw fileProblem(
    pattern,
    TEXTS.noBuiltin(
      suggest(
        pattern,
        all.map(({ name }) => name),
      ),
    ),
  )
}

/** `builtin:parts/taken-over.yaml` */
export const builtinName = (path: string, folder: string): string =>
  `${BUILTIN}${relative(folder, path).split(sep).join('/')}`

function filesOf(pattern: string, folders: FileFolders): FoundFile[] {
  const { cwd } = folders
  const path = resolve(cwd, pattern)
  const kind = kindOf(path)
  if (kind === 'file') return [fileNamed(pattern, path)]
  const all = kind === 'folder' ? scan(path, folders.onUnreadable) : matchesOf(pattern, folders)
  if (all.length === 0)
    throw fileProblem(
      pattern,
      kind === 'folder' ? `has no scenario in it: ${EXTENSIONS.join(', ')}.` : 'matches no file.',
    )
  return all.map(file => ({ ...fileAt(file, asWritten(file, cwd, pattern)), named: false }))
}

const hasWildcard = (pattern: string) => /[*?{]/.test(pattern)

function matchesOf(pattern: string, { cwd, onUnreadable }: FileFolders): string[] {
  if (!hasWildcard(pattern)) throw fileProblem(pattern, 'cannot be read: there is no such file or folder.')
  const matching = patternToRegExp(pattern.replaceAll('\\', '/').replace(/^\.\//, ''))
  const base = baseOf(pattern, cwd)
  if (kindOf(base) !== 'folder') throw fileProblem(pattern, TEXTS.noFolder(relative(cwd, base).split(sep).join('/')))
  return scan(base, onUnreadable).filter(file => {
    const name = asWritten(file, cwd, pattern)
    try {
      return testPattern(matching, name)
    } catch (error) {
      throw error instanceof SlowPatternError
        ? fileProblem(pattern, `takes too long to compare with ${name}: use fewer * and **.`)
        : error
    }
  })
}

/** The folders in which a change may add, change or remove a file of these patterns. */
export function foldersOf(patterns: readonly string[], { cwd }: FileFolders): string[] {
  const folders = new Set<string>()
  for (const pattern of patterns.filter(one => !one.startsWith(BUILTIN))) {
    const path = resolve(cwd, pattern)
    const kind = kindOf(path)
    if (kind === 'folder') walk(path, folders, skipUnreadable)
    else if (kind === null && hasWildcard(pattern)) walk(existingFolder(baseOf(pattern, cwd)), folders, skipUnreadable)
    else folders.add(existingFolder(dirname(path)))
  }
  return [...folders]
}

/** The folder itself, or the nearest above it that exists. */
const existingFolder = (path: string): string => (kindOf(path) === 'folder' ? path : existingFolder(dirname(path)))

/** Null also for a broken link. */
function kindOf(path: string): 'file' | 'folder' | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? null : found.isDirectory() ? 'folder' : 'file'
  } catch {
    return null
  }
}

function fileNamed(name: string, path: string): FoundFile {
  const file = fileAt(path, name)
  if (EXTENSIONS.includes(file.extension)) return { ...file, named: true }
  throw fileProblem(name, `must end in ${EXTENSIONS.join(', ')}.`)
}

const fileAt = (path: string, name: string): NamedFile => ({ name, path, extension: extname(path).toLowerCase() })

/** As a user in `cwd` would type it. */
function asWritten(file: string, cwd: string, pattern: string): string {
  const name = resolve(pattern) === pattern ? file : relative(cwd, file)
  return name.split(sep).join('/')
}

/** Every file that could be a scenario, sorted by name; hidden folders and installed packages are skipped. */
function scan(folder: string, report = throwIt): string[] {
  const onUnreadable: OnUnreadable = (unread, error) =>
    report(fileProblem(unread, `cannot be read: ${systemCodeOf(error) ?? messageOf(error)}.`))
  return walk(folder, new Set(), onUnreadable).sort()
}

function throwIt(error: ConfigError): void {
  throw error
}

type OnUnreadable = (folder: string, error: unknown) => void

const skipUnreadable: OnUnreadable = () => {}

/** Visits each folder once, by its own name before a link to it, because links can form circles. */
function walk(folder: string, seen: Set<string>, onUnreadable: OnUnreadable): string[] {
  const all = readOnce(folder, seen, onUnreadable).filter(
    ({ name }) => !(name.startsWith('.') || name === 'node_modules'),
  )
  const inOrder = [...all.filter(one => !one.isSymbolicLink()), ...all.filter(one => one.isSymbolicLink())]
  return inOrder.flatMap(({ name }) => {
    const path = resolve(folder, name)
    const kind = kindOf(path)
    if (kind === 'folder') return walk(path, seen, onUnreadable)
    return kind === 'file' &&
      EXTENSIONS.includes(extname(name).toLowerCase()) &&
      !/\.(d|test|spec|config)\.\w+$/.test(name)
      ? [path]
      : []
  })
}

/** Nothing of a folder that was visited already, or that was removed meanwhile. */
function readOnce(folder: string, seen: Set<string>, onUnreadable: OnUnreadable): Dirent[] {
  try {
    const real = realpathSync(folder)
    if (seen.has(real)) return []
    seen.add(real)
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') onUnreadable(folder, error)
    return []
  }
}

/** The folder a pattern begins with. */
function baseOf(pattern: string, cwd: string): string {
  const parts = pattern.replaceAll('\\', '/').split('/')
  const first = parts.findIndex(part => /[*?{]/.test(part))
  return resolve(cwd, parts.slice(0, first).join('/') || (pattern.startsWith('/') ? '/' : '.'))
}

/** `*` within a name, `**` over folders, `?` one character, `{a,b}` either. */
export function patternToRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[.+^$()|[\]\\{}]/g, part => {
    if (part === '**/') return '(?:[^/]+/)*'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    if (part === '?') return '[^/]'
    if (part.length > 1) return `(?:${part.slice(1, -1).split(',').map(literal).join('|')})`
    return literal(part)
  })
  return new RegExp(`^${source}$`, 'u')
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
