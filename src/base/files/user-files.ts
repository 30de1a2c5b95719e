/** Reads the user's files as text, loads them as modules, and writes files atomically. */
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { wallDelay } from '../runtime/clock.ts'
import { loadModule, replaceFile } from '../runtime/node.ts'
import { isError, messageOf, systemCodeOf } from '../text/error-text.ts'
import { BUDGETS, DATA_EXTENSIONS } from './budgets.ts'
import { fileProblem } from './errors.ts'

export interface NamedFile {
  /** As the user would write it. */
  readonly name: string
  readonly path: string
  /** In lower case, with its dot. */
  readonly extension: string
}

/** Whether a file is data. Any other file is code: loading it runs it. */
export const isDataFile = ({ extension }: Pick<NamedFile, 'extension'>): boolean => DATA_EXTENSIONS.includes(extension)

/** By system code. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
}

const READ_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'part of the path is not a folder',
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'part of the path is a file',
  EEXIST: 'part of the path is a file',
  ENOENT: 'a folder of the path cannot be created',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
}

function reasonOf(error: unknown, reasons: Readonly<Record<string, string>>): string {
  const code = systemCodeOf(error) ?? ''
  return reasons[code] ?? REASONS[code] ?? messageOf(error)
}

/** Throws `ConfigError`. */
export function readText({ name, path }: NamedFile, mostBytes: number = BUDGETS.fileBytes): string {
  let bytes: Buffer
  try {
    bytes = readRegularFile(path, mostBytes)
  } catch (error) {
    throw fileProblem(name, `cannot be read: ${reasonOf(error, READ_REASONS)}`)
  }
  if (isUtf16(bytes)) throw fileProblem(name, 'is UTF-16 text; save it as UTF-8')
  if (bytes.includes(0)) throw fileProblem(name, 'is not a text file (it has zero bytes)')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fileProblem(name, 'is not UTF-8 text; save it as UTF-8')
  }
}

/** Refuses large files, and those that `checkRegular` refuses. Throws an Error that says why. */
export function readRegularFile(path: string, mostBytes: number): Buffer {
  const size = checkRegular(path)
  if (size > mostBytes) throw new Error(`it has ${size} bytes; at most ${mostBytes} are read`)
  return readFileSync(path)
}

/** Refuses pipes and devices, because reading one may never end. Returns the size. */
export function checkRegular(path: string): number {
  const stats = statSync(path)
  if (stats.isFile() || stats.isDirectory()) return stats.size
  throw new Error('it is no regular file but a pipe, a device or a socket')
}

/** Looks at the byte order mark, which `>` of Windows PowerShell writes. */
const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

/** The default export of a module; `example` is shown when there is none. */
export async function loadDefault(file: NamedFile, nodeVersion: string, example: string): Promise<unknown> {
  const loaded = await loadExports(file, nodeVersion)
  if ('default' in loaded) return loaded.default
  throw fileProblem(file.name, `must have a default export: ${example}`)
}

/** Everything a module exports. */
export async function loadExports(
  file: NamedFile,
  nodeVersion: string,
  withinMs = LOAD_MS,
): Promise<Record<string, unknown>> {
  if (/^\.[mc]?ts$/.test(file.extension)) checkTypeScript(file.name, nodeVersion)
  readText(file, BUDGETS.moduleBytes)
  const slow = new AbortController()
  const timeout = wallDelay(withinMs, slow.signal).then(() =>
    Promise.reject(new Error('it does not finish loading; see what it awaits at its top level')),
  )
  try {
    return await Promise.race([loadModule(file.path), timeout])
  } catch (error) {
    throw fileProblem(file.name, `cannot be loaded: ${esModuleProblem(error, file) ?? whyNot(error, file.path)}`)
  } finally {
    timeout.catch(() => {})
    slow.abort()
  }
}

const LOAD_MS = 30_000

/** Node reads a file that ends in .js or .ts as CommonJS when the package says so, as `npm init` does. */
function esModuleProblem(error: unknown, { extension }: NamedFile): string | null {
  if (!isError(error) || !['.js', '.ts'].includes(extension)) return null
  if (!/Unexpected token 'export'|Cannot use import statement outside a module/.test(error.message)) return null
  return `it is an ES module, and its package is CommonJS ("type" in package.json); name it .m${extension.slice(1)} instead of ${extension}`
}

/** The message with the line in the file, or what to install when a package is missing. */
function whyNot(error: unknown, path: string): string {
  if (!isError(error)) return String(error)
  const { message, stack = '' } = error
  const missing = /^Cannot find package '([^']+)'/.exec(message)?.[1]
  if (missing !== undefined)
    return `the package ${missing} is not installed; install it: npm install --save-dev ${missing}`
  const after = stack.split(pathToFileURL(path).href)[1] ?? stack.split(path)[1]
  const place = after?.match(/^(?:\?changed=[\d.]+)?:(\d+(:\d+)?)/)?.[1]
  return place === undefined ? message : `${message} (line ${place})`
}

/** Type stripping needs no flag from Node 22.18 and 23.6 on. */
function checkTypeScript(name: string, nodeVersion: string): void {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return
  throw fileProblem(
    name,
    `needs Node 22.18 or newer, this is ${nodeVersion}. Write it as .yaml, .json or .mjs, or use a newer Node`,
  )
}

/**
 * Writes the pieces one by one and creates missing folders. A reader sees the old or the new text and never a part of it.
 * Throws an Error that says why it failed. `mode` is that of the new file, by default what the process gives to files.
 */
export function saveText(path: string, text: Iterable<string>, mode?: number): void {
  try {
    const isOwn = prepareFolder(path)
    // Only a link that the user named is followed.
    save(!isOwn && existsSync(path) ? realpathSync(path) : path, text, mode)
  } catch (error) {
    throw new Error(reasonOf(error, WRITE_REASONS))
  }
}

/** The folder in which commands write files that the user did not name, such as the journal of a run. */
export const OUTPUT_FOLDER = '.handover-sim'

/**
 * Creates the folder of a file, and makes Git ignore `.handover-sim`. Returns whether the file lies below that. There a
 * checkout of another person may have planted links to files of the user, so none is followed: throws for a folder that is one.
 */
export function prepareFolder(file: string): boolean {
  const parts = dirname(file).split(sep)
  const own = parts.lastIndexOf(OUTPUT_FOLDER)
  if (own === -1) {
    makeFolder(dirname(file))
    return false
  }
  refuseLinks(parts.slice(0, own).join(sep) || sep, dirname(file))
  makeFolder(dirname(file))
  const ignore = join(parts.slice(0, own + 1).join(sep), '.gitignore')
  if (lstatSync(ignore, { throwIfNoEntry: false })?.isFile() !== true) replaceFile(ignore, ['*\n'])
  return true
}

/** Throws when a folder between `root` and `folder`, which may not be there yet, is a link. */
export function refuseLinks(root: string, folder: string): void {
  let path = root
  for (const part of relative(root, folder).split(sep)) {
    path = join(path, part)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Error(`${part} is a link, which could lead to files of yours; remove it, or name another file`)
  }
}

/** Creates one folder at a time, because a recursive `mkdir` of Node never returns in places such as /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  }
}

function save(path: string, text: Iterable<string>, mode: number | undefined): void {
  // Devices and pipes are written directly; for a folder the system reports the error.
  if (existsSync(path) && !statSync(path).isFile()) return writeAll(path, text, mode)
  replaceFile(path, text, mode)
}

function writeAll(path: string, text: Iterable<string>, mode: number | undefined): void {
  const file = openSync(path, 'w', mode)
  try {
    for (const piece of text) writeFileSync(file, piece)
  } finally {
    closeSync(file)
  }
}
