/** Loads an agent driver from a YAML or JSON file, a module, or a URL. */
import { dirname, extname, resolve } from 'node:path'
import { moduleSource, parseSource } from '../files/document.ts'
import { fileProblem } from '../files/errors.ts'
import { loadExports, type NamedFile, readText } from '../files/user-files.ts'
import { fetchDriver } from './file/fetch.ts'
import { splitFunctions } from './file/module.ts'
import { readDriver } from './file/read.ts'
import { TEXTS } from './file/texts.ts'
import type { Ask, DriverSpec } from './spec.ts'

export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly nodeVersion: string
  readonly isTTY: boolean
  readonly prompt: Ask
  /** Whether a driver may be read from another machine. */
  readonly allowRemote?: boolean
}

const DOCUMENTS = ['.yaml', '.yml', '.json']
const MODULES = ['.js', '.mjs', '.ts']

/** `ref` as the user wrote it. Throws `ConfigError`. */
export async function loadDriver(ref: string, around: Surroundings): Promise<DriverSpec> {
  const ask = around.isTTY ? around.prompt : null
  if (/^https?:/i.test(ref)) return fetchDriver(ref, around.allowRemote ?? false, ask)
  const path = resolve(around.cwd, ref)
  const file = { name: ref, path, extension: extname(ref).toLowerCase() }
  const origin = { name: ref, folder: dirname(path), http: null, commands: true, ask }
  if (MODULES.includes(file.extension)) return loadModuleDriver(file, around.nodeVersion, origin)
  if (!DOCUMENTS.includes(file.extension)) {
    throw fileProblem(ref, TEXTS.extension([...DOCUMENTS, ...MODULES]))
  }
  return readDriver(parseSource(ref, readText(file), file.extension === '.json'), { ...origin, functions: {} })
}

type ModuleOrigin = Omit<Parameters<typeof readDriver>[1], 'functions'>

async function loadModuleDriver(file: NamedFile, nodeVersion: string, origin: ModuleOrigin): Promise<DriverSpec> {
  const { data, functions } = splitFunctions(file.name, await loadExports(file, nodeVersion))
  return readDriver(moduleSource(file.name, data), { ...origin, functions })
}
