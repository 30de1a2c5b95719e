/** Which config file is meant, and its text. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { problem } from './errors.ts'

const EXTENSIONS = ['.yaml', '.yml', '.json', '.js', '.mjs', '.ts'] as const
const NAMES = EXTENSIONS.map(extension => `handover-sim.config${extension}`)

export interface FoundFile {
  /** As the user would write it. */
  readonly name: string
  readonly path: string
  readonly extension: string
  /** Further config files of the folder, which are not read. */
  readonly ignored: readonly string[]
}

/** `explicit` names what `--config` or its variable said; without it the working folder is searched. */
export function findConfig(cwd: string, explicit?: { readonly file: string; readonly from: string }): FoundFile | null {
  if (explicit !== undefined) return named(cwd, explicit)
  const there = new Set(filesIn(cwd))
  const [name, ...ignored] = NAMES.filter(one => there.has(one))
  return name === undefined ? null : { name, path: resolve(cwd, name), extension: extname(name), ignored }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function named(cwd: string, { file, from }: { file: string; from: string }): FoundFile {
  const extension = extname(file).toLowerCase()
  if ((EXTENSIONS as readonly string[]).includes(extension)) {
    return { name: file, path: resolve(cwd, file), extension, ignored: [] }
  }
  throw problem(from, `${JSON.stringify(file)} must end in ${EXTENSIONS.join(', ')}.`)
}

const WHY: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/** The text, or an error that says why it cannot be read. */
export function readText({ name, path }: FoundFile): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw problem(name, `cannot be read: ${WHY[code ?? ''] ?? message}.`)
  }
  if (bytes.includes(0)) throw problem(name, 'is not a text file (it has zero bytes).')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw problem(name, 'is not UTF-8 text; save it as UTF-8.')
  }
}
