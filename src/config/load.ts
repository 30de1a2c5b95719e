/** Finds the config file and reads its settings; imports YAML and the schema only when there is a file. */

import { readdirSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { problem } from '../files/errors.ts'
import { loadDefault, type NamedFile, readText } from '../files/user-files.ts'
import { defineTexts } from '../text/texts.ts'
import type { Layer } from './settings.ts'

const TEXTS = defineTexts({
  wrongExtension: (file: string, extensions: readonly string[]) =>
    `${JSON.stringify(file)} must end in ${extensions.join(', ')}.`,
})

const EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json', '.js', '.mjs', '.ts']
const NAMES = EXTENSIONS.map(extension => `handover-sim.config${extension}`)

export interface FoundConfig extends NamedFile {
  /** Other config files in the folder, which are not read. */
  readonly ignored: readonly string[]
}

/** `explicit` is the value of `--config` or its variable; without it the working folder is searched. */
export function findConfig(
  cwd: string,
  explicit?: { readonly file: string; readonly from: string },
): FoundConfig | null {
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

function named(cwd: string, { file, from }: { file: string; from: string }): FoundConfig {
  const extension = extname(file).toLowerCase()
  if (EXTENSIONS.includes(extension)) {
    return { name: file, path: resolve(cwd, file), extension, ignored: [] }
  }
  throw problem(from, TEXTS.wrongExtension(file, EXTENSIONS))
}

/** Throws `ConfigError` with every problem found. */
export async function loadConfig(file: FoundConfig, nodeVersion: string): Promise<Layer> {
  const { layerOf } = await import('./schema.ts')
  if (file.extension === '.yaml' || file.extension === '.yml' || file.extension === '.json') {
    const { parseSource } = await import('../files/document.ts')
    return layerOf(file.name, parseSource(file.name, readText(file), file.extension === '.json'))
  }
  const value = await loadDefault(file, nodeVersion, 'export default { port: 4747 }')
  const { moduleSource } = await import('../files/document.ts')
  return layerOf(file.name, moduleSource(file.name, value))
}
