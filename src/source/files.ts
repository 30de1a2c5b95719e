/** Files of the user, read as text or loaded as modules, with errors that say why they cannot be. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { wallDelay } from '../runtime/clock.ts'
import { loadModule } from '../runtime/modules.ts'
import { ConfigError, problem } from './errors.ts'

export interface NamedFile {
  /** As the user would write it. */
  readonly name: string
  readonly path: string
  /** In lower case, with its dot. */
  readonly extension: string
}

const WHY: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/** The text, or an error that says why it cannot be read. */
export function readText({ name, path }: NamedFile): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw problem(name, `cannot be read: ${WHY[code ?? ''] ?? message}.`)
  }
  if (isUtf16(bytes)) throw problem(name, 'is UTF-16 text; save it as UTF-8.')
  if (bytes.includes(0)) throw problem(name, 'is not a text file (it has zero bytes).')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw problem(name, 'is not UTF-8 text; save it as UTF-8.')
  }
}

/** By its byte order mark: what `>` of Windows PowerShell writes. */
const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

/** What a module exports as default. `example` shows what that should look like. */
export async function loadDefault(file: NamedFile, nodeVersion: string, example: string): Promise<unknown> {
  const loaded = await loadExports(file, nodeVersion)
  if ('default' in loaded) return loaded.default
  throw problem(file.name, `must have a default export: ${example}`)
}

/** Everything a module exports. */
export async function loadExports(
  file: NamedFile,
  nodeVersion: string,
  withinMs = LOAD_MS,
): Promise<Record<string, unknown>> {
  if (file.extension === '.ts') checkTypeScript(file.name, nodeVersion)
  readText(file)
  const slow = new AbortController()
  const late = wallDelay(withinMs, slow.signal).then(() => Promise.reject(new Error(NEVER)))
  try {
    return await Promise.race([loadModule(file.path), late])
  } catch (error) {
    throw problem(file.name, `cannot be loaded: ${whyNot(error, file.path)}`)
  } finally {
    late.catch(() => {})
    slow.abort()
  }
}

const LOAD_MS = 30_000
const NEVER = 'it does not come to its end; see what it awaits at its top level'

/** With the line of the file, where the error has one, and what to do about a package that is not there. */
function whyNot(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error)
  const { message, stack = '' } = error
  const missing = /^Cannot find package '([^']+)'/.exec(message)?.[1]
  if (missing !== undefined)
    return `there is no package ${missing} for it; install it here: npm install --save-dev ${missing}`
  const after = stack.split(pathToFileURL(path).href)[1] ?? stack.split(path)[1]
  const place = after?.match(/^:\d+(:\d+)?/)?.[0]
  return place === undefined ? message : `${message} (line ${place.slice(1)})`
}

/** Type stripping without a flag came with 22.18 and 23.6. */
function checkTypeScript(name: string, nodeVersion: string): void {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return
  throw new ConfigError([
    {
      at: name,
      message: `needs Node 22.18 or newer, this is ${nodeVersion}. Write it as .yaml, .json or .mjs, or use a newer Node.`,
    },
  ])
}
