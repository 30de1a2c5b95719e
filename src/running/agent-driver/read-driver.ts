/** Checks the value of a driver file or module and turns it into a driver that can be called. */
import { resolve } from 'node:path'
import { type Source, schemaProblems } from '../../base/files/document.ts'
import { byLine, ConfigError, type Problem } from '../../base/files/errors.ts'
import { fieldName, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { nearest } from '../../base/text/error-text.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import { namesIn } from '../../evaluation/scenario/interpolation.ts'
import {
  type DriverSpec,
  type FunctionVerb,
  METHODS,
  type Method,
  type Prompt,
  type TargetSpec,
  type VerbSpec,
} from './driver.ts'
import {
  type ActionSection,
  BUILT_IN_VERBS,
  DriverFile,
  type TargetSection,
  TEXTS,
  type VerbSection,
} from './driver-schema.ts'

export interface DriverOrigin {
  readonly name: string
  /** The folder of its commands. Default: the working folder. */
  readonly folder?: string
  /** The address of a driver read from a URL, for calls without an address of their own. */
  readonly http?: string
  /** Whether it may run commands. Default false. */
  readonly commands?: boolean
  /** Null, the default, when there is no terminal. */
  readonly prompt?: Prompt | null
  /** Verbs that are functions of a module. */
  readonly functions?: Readonly<Record<string, FunctionVerb['run']>>
}

const CALL_MS = 5_000

/** Throws `ConfigError` with every problem found, the first line first. */
export function readDriver(source: Source, origin: DriverOrigin): DriverSpec {
  const { name, folder = '.', prompt = null, commands = false } = origin
  const file = checked(source)
  const problems: Problem[] = []
  const problemAt: ProblemAt = (path, message, of = 'value') => source.problem(path, of, fieldName(path), message)
  const report: ReportProblem = (...problem) => void problems.push(problemAt(...problem))
  const written = writtenVerbs(file)
  const verbs = readVerbs(file, written, origin, report)
  const manual = written.filter(({ verb, value }) => value === 'manual' && verb !== 'inbox').map(({ verb }) => verb)
  const needTerminal = prompt === null ? manual : []
  if (file.target && !commands) report(['target'], TEXTS.remoteTarget, 'key')
  const isEmpty = Object.keys(verbs).length + needTerminal.length === 0 && !file.target
  if (isEmpty && problems.length === 0) report([], TEXTS.empty(BUILT_IN_VERBS))
  const texts = textsOf(file, written)
  for (const { path, text, verb } of texts) for (const wrong of wrongNames(text, verb)) report(path, wrong)
  if (problems.length > 0) throw new ConfigError(byLine(problems))
  const target = file.target ? targetOf(file.target, folder) : null
  return { name, folder, verbs, needTerminal, target, variables: variablesOf(texts, problemAt) }
}

type ProblemAt = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => Problem

/** Reports a problem at a path of the file, or below a verb. */
type ReportProblem = (...problem: Parameters<ProblemAt>) => void

function checked(source: Source): DriverFile {
  const value = source.value ?? {}
  const read = DriverFile.safeParse(value, ZOD_MESSAGES)
  if (read.success) return read.data
  if (typeof value === 'object' && 'steps' in value) {
    throw new ConfigError([source.problem(['steps'], 'key', '', TEXTS.scenario)])
  }
  throw new ConfigError(schemaProblems(source, read.error.issues, value, DriverFile))
}

interface WrittenVerb {
  readonly verb: string
  readonly path: readonly string[]
  readonly value: VerbSection
}

function writtenVerbs(file: DriverFile): WrittenVerb[] {
  const builtIn = BUILT_IN_VERBS.map(verb => ({ verb, path: [verb], value: file[verb] }))
  const custom = Object.entries(file.does ?? {}).map(([name, value]) => ({
    verb: `does.${name}`,
    path: ['does', name],
    value,
  }))
  return [...builtIn, ...custom].flatMap(({ value, ...rest }) => (value === undefined ? [] : [{ ...rest, value }]))
}

function readVerbs(
  { timeout, http, headers = {} }: DriverFile,
  written: readonly WrittenVerb[],
  origin: DriverOrigin,
  report: ReportProblem,
): Record<string, VerbSpec> {
  const { functions = {}, commands = false, prompt = null } = origin
  const timeoutMs = millis(timeout, CALL_MS)
  const defaults = { http: (http ?? origin.http)?.replace(/\/+$/, '') ?? null, headers, timeoutMs, commands }
  const verbs: Record<string, VerbSpec> = {}
  for (const [verb, run] of Object.entries(functions)) verbs[verb] = { kind: 'function', run, timeoutMs }
  for (const { verb, path, value } of written) {
    const reportBelow: ReportProblem = (below, ...problem) => report([...path, ...below], ...problem)
    const spec = value === 'manual' ? readManual(verb, prompt, reportBelow) : readAction(value, defaults, reportBelow)
    if (spec !== null) verbs[verb] = spec
  }
  return verbs
}

function readManual(verb: string, prompt: Prompt | null, report: ReportProblem): VerbSpec | null {
  if (verb === 'inbox') report([], TEXTS.manualInbox)
  else if (prompt !== null) return { kind: 'manual', prompt }
  return null
}

function targetOf(
  { start, env = {}, cwd, ready, ready_timeout, stop_timeout }: TargetSection,
  folder: string,
): TargetSpec {
  return {
    command: start,
    env,
    folder: resolve(folder, cwd ?? ''),
    ready,
    readyTimeoutMs: millis(ready_timeout, 15_000),
    stopTimeoutMs: millis(stop_timeout, 5_000),
  }
}

/** The settings of the file that hold for all its verbs. */
interface Defaults {
  /** The help desk's address, without a slash at the end; null when none was given. */
  readonly http: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Commands of a driver that came over the network are not run. */
  readonly commands: boolean
}

const millis = (text: string | undefined, otherwise: number): number => parseDuration(text) ?? otherwise

const KINDS = [...METHODS, 'exec'] as const

/** Null when something was reported. */
function readAction(action: ActionSection, defaults: Defaults, report: ReportProblem): VerbSpec | null {
  const kinds = KINDS.filter(kind => action[kind] !== undefined)
  const [kind, second] = kinds
  if (kind === undefined) report([], TEXTS.noAction(KINDS))
  else if (second !== undefined) report([second], TEXTS.twoActions(kind), 'key')
  else if (kind === 'exec') return readExec(action, defaults, report)
  else return readHttp(kind, action, defaults, report)
  return null
}

function readExec(action: ActionSection, { timeoutMs, commands }: Defaults, report: ReportProblem): VerbSpec | null {
  const extra = (['json', 'headers'] as const).find(key => action[key] !== undefined)
  if (extra !== undefined) report([extra], TEXTS.onlyForCalls, 'key')
  else if (!commands) report(['exec'], TEXTS.remoteCommand, 'key')
  else return { kind: 'exec', command: action.exec!, timeoutMs: millis(action.timeout, timeoutMs) }
  return null
}

/** The host as it is, or a `$(...)` that stands for it, and the rest. */
const FULL = /^(https?:\/\/[^/?#]*|\$\([^()]*\))(.*)$/is

function readHttp(method: Method, action: ActionSection, defaults: Defaults, report: ReportProblem): VerbSpec | null {
  const { timeout, headers, json } = action
  const address = addressOf(action[method] ?? '', defaults, message => report([method], message))
  if (json !== undefined && method === 'GET') report(['json'], TEXTS.bodyOfGet, 'key')
  else if (address !== null) {
    const all = { ...defaults.headers, ...headers }
    return { kind: 'http', method, ...address, headers: all, json, timeoutMs: millis(timeout, defaults.timeoutMs) }
  }
  return null
}

function addressOf(written: string, { http }: Defaults, report: (message: string) => void) {
  const [, base, path] = FULL.exec(written) ?? []
  if (base !== undefined && path !== undefined) return { base, path }
  if (!written.startsWith('/')) report(TEXTS.noAddress(written))
  else if (http === null) report(TEXTS.noHelpDesk(written))
  else return { base: http, path: written }
  return null
}

const CHAT = ['chat.id', 'chat.user_id', 'chat.language', 'chat.source', 'chat.name']
const SIM = ['sim.url', 'sim.api_key', 'sim.bot_id']
const ENV = /^env\.(\w+)$/

/** A text that may contain `$(...)`. */
interface TextAtPath {
  readonly path: readonly PropertyKey[]
  readonly text: string
  /** Null outside of verbs. */
  readonly verb: string | null
}

function textsOf({ http, headers, target }: DriverFile, written: readonly WrittenVerb[]): TextAtPath[] {
  const common = Object.entries({ http, target, headers }).map(([key, value]) => ({ verb: null, path: [key], value }))
  return [...common, ...written].flatMap(({ value, path, verb }) => textsWithPaths(value, path, verb))
}

function textsWithPaths(value: unknown, path: readonly PropertyKey[], verb: string | null): TextAtPath[] {
  if (typeof value === 'string') return [{ path, text: value, verb }]
  if (typeof value !== 'object' || value === null) return []
  const keyOf = Array.isArray(value) ? Number : String
  return Object.entries(value).flatMap(([key, inner]) => textsWithPaths(inner, [...path, keyOf(key)], verb))
}

/** The environment variables that the texts read. */
const variablesOf = (texts: readonly TextAtPath[], problemAt: ProblemAt): DriverSpec['variables'] =>
  texts.flatMap(({ path, text }) =>
    namesIn(text)
      .flatMap(name => ENV.exec(name)?.[1] ?? [])
      .map(name => ({ name, unset: problemAt(path, TEXTS.unsetVariable(name)) })),
  )

/** What a text may name; `verb` is the verb it belongs to, null outside of verbs. */
interface AllowedNames {
  readonly names: readonly string[]
  /** Whether the parameters that the scenario gives with `with:` are allowed. */
  readonly parameters: boolean
}

export function allowedNames(verb: string | null): AllowedNames {
  if (verb === null) return { names: SIM, parameters: false }
  const chat = verb === 'away' || verb === 'back' ? [] : CHAT
  const parameters = verb.startsWith('does.')
  return { names: [...chat, ...(verb === 'says' || parameters ? ['text'] : []), ...SIM], parameters }
}

/** Problems with the names in a text: an unknown name is reported when the driver is read, before a run. */
function wrongNames(text: string, verb: string | null): string[] {
  const allowed = allowedNames(verb)
  return namesIn(text)
    .filter(name => !isAllowed(name, allowed))
    .map(name => TEXTS.unknownName(name, suggestion(name, allowed)))
}

function isAllowed(name: string, { names, parameters }: AllowedNames): boolean {
  if (names.includes(name) || ENV.test(name)) return true
  const [first = ''] = name.split(/[.[]/)
  return parameters && /^\w/.test(name) && !['chat', 'sim', 'env', 'text'].includes(first)
}

function suggestion(name: string, { names, parameters }: AllowedNames): string {
  const near = name.startsWith('env') ? '' : nearest(name, names)
  if (near !== '') return near
  return TEXTS.knownNames([...names, 'env.NAME', ...(parameters ? [TEXTS.parameters] : [])])
}
