/** Which files are meant: a file, every scenario below a folder, or a pattern such as `scenarios/**\/night-*.yaml`. */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { extname, relative, resolve, sep } from 'node:path'
import { fileProblem } from '../../files/errors.ts'
import type { NamedFile } from '../../files/user-files.ts'

export interface FoundFile extends NamedFile {
  /** Named by itself: what is not a scenario is then a mistake, and not just passed over. */
  readonly named: boolean
}

const EXTENSIONS = ['.yaml', '.yml', '.json', '.mjs', '.js', '.ts'] as const

/** In the order they were asked for, each once; those of a folder by name. Throws `ConfigError`. */
export function findFiles(patterns: readonly string[], cwd: string): FoundFile[] {
  const found = new Map<string, FoundFile>()
  for (const file of patterns.flatMap(pattern => filesOf(pattern, cwd))) {
    const known = found.get(file.path)
    if (known === undefined || (file.named && !known.named)) found.set(file.path, file)
  }
  return [...found.values()]
}

function filesOf(pattern: string, cwd: string): FoundFile[] {
  const path = resolve(cwd, pattern)
  const kind = kindOf(path)
  if (kind === 'folder') return below(path, cwd, pattern)
  if (kind === 'file') return [named(pattern, path)]
  if (!/[*?{]/.test(pattern)) throw fileProblem(pattern, 'cannot be read: there is no such file or folder.')
  const matching = matcherOf(pattern.replaceAll('\\', '/').replace(/^\.\//, ''))
  const all = scan(baseOf(pattern, cwd)).filter(file => matching.test(asWritten(file, cwd, pattern)))
  if (all.length === 0) throw fileProblem(pattern, 'matches no file.')
  return all.map(file => ({ ...fileAt(file, asWritten(file, cwd, pattern)), named: false }))
}

/** Null for a link that leads nowhere, too. */
function kindOf(path: string): 'file' | 'folder' | null {
  let found: ReturnType<typeof statSync>
  try {
    found = statSync(path, { throwIfNoEntry: false })
  } catch {
    return null
  }
  return found === undefined ? null : found.isDirectory() ? 'folder' : 'file'
}

function named(name: string, path: string): FoundFile {
  const file = fileAt(path, name)
  if ((EXTENSIONS as readonly string[]).includes(file.extension)) return { ...file, named: true }
  throw fileProblem(name, `must end in ${EXTENSIONS.join(', ')}.`)
}

const fileAt = (path: string, name: string): NamedFile => ({ name, path, extension: extname(path).toLowerCase() })

function below(folder: string, cwd: string, pattern: string): FoundFile[] {
  const files = scan(folder)
  if (files.length === 0) throw fileProblem(pattern, `has no scenario in it: ${EXTENSIONS.join(', ')}.`)
  return files.map(file => ({ ...fileAt(file, asWritten(file, cwd, pattern)), named: false }))
}

/** As a user in `cwd` would type it. */
function asWritten(file: string, cwd: string, pattern: string): string {
  const name = resolve(pattern) === pattern ? file : relative(cwd, file)
  return name.split(sep).join('/')
}

/** Every file that could be a scenario, by name; hidden folders and installed packages left out. */
const scan = (folder: string): string[] => walk(folder, new Set()).sort()

/** Each folder once, by its own name before that of a link: links may lead back to where they stand. */
function walk(folder: string, seen: Set<string>): string[] {
  const real = realpathSync(folder)
  if (seen.has(real)) return []
  seen.add(real)
  const all = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !isPassedOver(name))
  const inOrder = [...all.filter(one => !one.isSymbolicLink()), ...all.filter(one => one.isSymbolicLink())]
  return inOrder.flatMap(({ name }) => {
    const path = resolve(folder, name)
    const kind = kindOf(path)
    if (kind === 'folder') return walk(path, seen)
    return kind === 'file' && isScenarioName(name) ? [path] : []
  })
}

const isPassedOver = (name: string) => name.startsWith('.') || name === 'node_modules'

const isScenarioName = (name: string) =>
  (EXTENSIONS as readonly string[]).includes(extname(name).toLowerCase()) && !/\.(d|test|spec|config)\.\w+$/.test(name)

/** The folder a pattern begins with. */
function baseOf(pattern: string, cwd: string): string {
  const parts = pattern.replaceAll('\\', '/').split('/')
  const first = parts.findIndex(part => /[*?{]/.test(part))
  const base = resolve(cwd, parts.slice(0, first).join('/') || (pattern.startsWith('/') ? '/' : '.'))
  if (kindOf(base) === 'folder') return base
  throw fileProblem(pattern, `matches no file: there is no folder ${parts.slice(0, first).join('/')}.`)
}

/** `*` within a name, `**` over folders, `?` one character, `{a,b}` either. */
export function matcherOf(pattern: string): RegExp {
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
