/** Loads an agent driver from a YAML or JSON file, a module, or a URL. */
import { dirname, extname, resolve } from 'node:path'
import { DATA_EXTENSIONS, MODULE_EXTENSIONS } from '../../base/files/budgets.ts'
import { moduleSource, parseSource } from '../../base/files/document.ts'
import { ConfigError, fileProblem, type Problem } from '../../base/files/errors.ts'
import { isDataFile, loadExports, readText } from '../../base/files/user-files.ts'
import { isMap } from '../../base/objects.ts'
import { connectionFailure } from '../../base/runtime/connection-failure.ts'
import { formatValue } from '../../base/schemas/explain-issues.ts'
import { isError, nearest } from '../../base/text/error-text.ts'
import { failureText } from '../../platform/wording/failures.ts'
import type { DriverSpec, FunctionVerb, Prompt } from './driver.ts'
import { BUILT_IN_VERBS, type DriverOrigin, readDriver } from './read-driver.ts'

export interface LoadDriverOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly nodeVersion: string
  readonly isTTY: boolean
  readonly prompt: Prompt
  /** Allows a URL on another machine. */
  readonly allowRemote?: boolean
  /** Aborts the request of a URL. */
  readonly signal?: AbortSignal
}

/** Loads the file or URL `ref`. Throws `ConfigError`. */
export async function loadDriver(ref: string, options: LoadDriverOptions): Promise<DriverSpec> {
  const prompt = options.isTTY ? options.prompt : null
  if (/^https?:/i.test(ref)) {
    // Calls go to the origin of the URL by default. Such a driver runs no commands.
    const { allowRemote = false, signal } = options
    if (!URL.canParse(ref)) throw fileProblem(ref, 'is not an http or https address')
    const url = new URL(ref)
    if (!allowRemote && !LOOPBACK.test(url.hostname))
      throw fileProblem(ref, 'is on another machine; keep the driver in a file, or pass --allow-remote')
    const timeLimit = AbortSignal.timeout(TIMEOUT_MS)
    const ended = signal === undefined ? timeLimit : AbortSignal.any([timeLimit, signal])
    const unreadable = (why: string) => fileProblem(url.href, `cannot be read: ${why}`)
    const response = await fetch(url, { redirect: 'manual', signal: ended }).catch((error: unknown) => {
      const isLate = isError(error) && error.name === 'TimeoutError'
      throw unreadable(isLate ? 'no answer within 5s' : failureText(connectionFailure(error, url.host)))
    })
    if (!response.ok) throw unreadable(`the server answered ${response.status}`)
    const text = await response.text()
    if (text.length > MAX_CHARS) throw unreadable('it is longer than 1 MiB')
    const isJson = /json/i.test(response.headers.get('content-type') ?? '') || url.pathname.endsWith('.json')
    return readDriver(parseSource(ref, text, isJson), { name: ref, http: url.origin, prompt })
  }
  const path = resolve(options.cwd, ref)
  const file = { name: ref, path, extension: extname(ref).toLowerCase() }
  const origin = { name: ref, folder: dirname(path), commands: true, prompt }
  if (MODULE_EXTENSIONS.includes(file.extension))
    return readModule(await loadExports(file, options.nodeVersion), origin)
  if (!isDataFile(file))
    throw fileProblem(
      ref,
      `a driver must end in ${[...DATA_EXTENSIONS, ...MODULE_EXTENSIONS].join(', ')}, or be an http or https address`,
    )
  return readDriver(parseSource(ref, readText(file), file.extension === '.json'), origin)
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
const TIMEOUT_MS = 5_000
const MAX_CHARS = 1_048_576

type Fields = Readonly<Record<string, unknown>>

/** Reads a driver from the exports of a module: the default one when there is one, else the named ones. Throws `ConfigError`. */
export function readModule(exports: Fields, origin: DriverOrigin): DriverSpec {
  const { name } = origin
  const verbs = 'default' in exports ? exports.default : exports
  if (!isMap(verbs))
    throw fileProblem(
      name,
      `must export its verbs, or default { accept: async ({ chat }) => {} }, got ${formatValue(verbs)}`,
    )
  const functions: Record<string, FunctionVerb['run']> = {}
  const data: Record<string, unknown> = {}
  const problems: Problem[] = []
  const builtIn: readonly string[] = BUILT_IN_VERBS
  for (const [verb, value] of Object.entries(verbs)) {
    if (typeof value !== 'function') data[verb] = value
    else if (builtIn.includes(verb)) functions[verb] = value as FunctionVerb['run']
    else {
      const hint = nearest(verb, builtIn) || `; there are ${builtIn.join(', ')}, and your own under does`
      problems.push({ at: `${name}: ${verb}`, file: name, message: `is not a verb${hint}` })
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  if (isMap(verbs.does)) {
    const values: Record<string, unknown> = {}
    for (const [verb, value] of Object.entries(verbs.does)) {
      if (typeof value === 'function') functions[`does.${verb}`] = value as FunctionVerb['run']
      else values[verb] = value
    }
    data.does = values
  }
  return readDriver(moduleSource(name, data), { ...origin, functions })
}
