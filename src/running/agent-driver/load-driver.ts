/** Loads an agent driver from a YAML or JSON file, a module, or a URL. */
import { dirname, extname, resolve } from 'node:path'
import { moduleSource, parseSource } from '../../base/files/document.ts'
import { ConfigError, fileProblem, type Problem } from '../../base/files/errors.ts'
import { loadExports, readText } from '../../base/files/user-files.ts'
import { isMap } from '../../base/objects.ts'
import { connectionFailure } from '../../base/runtime/connection-failure.ts'
import { formatValue } from '../../base/schemas/explain-issues.ts'
import { isError, nearest } from '../../base/text/error-text.ts'
import { failureText } from '../../platform/wording/failures.ts'
import type { DriverSpec, FunctionVerb, Prompt } from './driver.ts'
import { BUILT_IN_VERBS, TEXTS } from './driver-schema.ts'
import { type DriverOrigin, readDriver } from './read-driver.ts'

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

const DOCUMENTS = ['.yaml', '.yml', '.json']
const MODULES = ['.js', '.mjs', '.ts']

/** Loads the file or URL `ref`. Throws `ConfigError`. */
export async function loadDriver(ref: string, options: LoadDriverOptions): Promise<DriverSpec> {
  const prompt = options.isTTY ? options.prompt : null
  if (/^https?:/i.test(ref)) return fetchDriver(ref, options, prompt)
  const path = resolve(options.cwd, ref)
  const file = { name: ref, path, extension: extname(ref).toLowerCase() }
  const origin = { name: ref, folder: dirname(path), commands: true, prompt }
  if (MODULES.includes(file.extension)) return readModule(await loadExports(file, options.nodeVersion), origin)
  if (!DOCUMENTS.includes(file.extension)) throw fileProblem(ref, TEXTS.extension([...DOCUMENTS, ...MODULES]))
  return readDriver(parseSource(ref, readText(file), file.extension === '.json'), origin)
}

/** Reads a driver from the exports of a module. Throws `ConfigError`. */
export function readModule(exports: Fields, origin: DriverOrigin): DriverSpec {
  const { data, functions } = splitFunctions(origin.name, exports)
  return readDriver(moduleSource(origin.name, data), { ...origin, functions })
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
const TIMEOUT_MS = 5_000
const MAX_CHARS = 1_048_576

/** Calls go to the origin of the URL by default. Such a driver runs no commands. */
async function fetchDriver(
  ref: string,
  { allowRemote = false, signal }: LoadDriverOptions,
  prompt: Prompt | null,
): Promise<DriverSpec> {
  if (!URL.canParse(ref)) throw fileProblem(ref, TEXTS.notUrl)
  const url = new URL(ref)
  if (!allowRemote && !LOOPBACK.test(url.hostname)) throw fileProblem(ref, TEXTS.otherMachine)
  const { text, json } = await read(url, signal)
  return readDriver(parseSource(ref, text, json), { name: ref, http: url.origin, prompt })
}

async function read(url: URL, ended: AbortSignal | undefined): Promise<{ text: string; json: boolean }> {
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(ended === undefined ? [] : [ended])])
  const response = await fetch(url, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw fileProblem(
      url.href,
      TEXTS.unreadable(
        isError(error) && error.name === 'TimeoutError'
          ? TEXTS.timeout
          : failureText(connectionFailure(error, url.host)),
      ),
    )
  })
  if (!response.ok) throw fileProblem(url.href, TEXTS.unreadable(TEXTS.status(response.status)))
  const text = await response.text()
  if (text.length > MAX_CHARS) throw fileProblem(url.href, TEXTS.unreadable(TEXTS.tooLong))
  return { text, json: /json/i.test(response.headers.get('content-type') ?? '') || url.pathname.endsWith('.json') }
}

type Run = FunctionVerb['run']
type Fields = Readonly<Record<string, unknown>>

interface ModuleParts {
  readonly data: Fields
  readonly functions: Readonly<Record<string, Run>>
}

/** The default export when there is one, else the named ones. Throws `ConfigError`. */
function splitFunctions(name: string, exports: Fields): ModuleParts {
  const all = 'default' in exports ? exports.default : exports
  if (!isMap(all)) throw fileProblem(name, TEXTS.noVerbs(formatValue(all)))
  const { does, ...rest } = all
  const plain = partition(Object.entries(rest), '')
  const own = isMap(does) ? partition(Object.entries(does), 'does.') : { data: does, functions: {} }
  checkNames(name, Object.keys(plain.functions))
  return {
    data: { ...plain.data, ...(does === undefined ? {} : { does: own.data }) },
    functions: { ...plain.functions, ...own.functions },
  }
}

function partition(entries: readonly [string, unknown][], prefix: string): ModuleParts {
  const isRun = (entry: [string, unknown]): entry is [string, Run] => typeof entry[1] === 'function'
  return {
    data: Object.fromEntries(entries.filter(entry => !isRun(entry))),
    functions: Object.fromEntries(entries.filter(isRun).map(([verb, run]) => [prefix + verb, run])),
  }
}

function checkNames(name: string, verbs: readonly string[]): void {
  const known: readonly string[] = BUILT_IN_VERBS
  const unknown = verbs.filter(verb => !known.includes(verb) && !verb.startsWith('does.'))
  if (unknown.length > 0) throw new ConfigError(unknown.map(verb => unknownVerb(name, verb, known)))
}

const unknownVerb = (name: string, verb: string, known: readonly string[]): Problem => ({
  at: `${name}: ${verb}`,
  file: name,
  message: TEXTS.unknownVerb(nearest(verb, known) || TEXTS.knownVerbs(known)),
})
