/** Finds the config file: the named one, or one in the working folder. */
import { readdirSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { problem } from '../files/errors.ts'
import type { NamedFile } from '../files/user-files.ts'

const EXTENSIONS = ['.yaml', '.yml', '.json', '.js', '.mjs', '.ts'] as const
const NAMES = EXTENSIONS.map(extension => `handover-sim.config${extension}`)

export interface FoundFile extends NamedFile {
  /** Other config files in the folder, which are not read. */
  readonly ignored: readonly string[]
}

/** `explicit` is the value of `--config` or its variable; without it the working folder is searched. */
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
