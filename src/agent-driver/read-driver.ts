/** Checks the value of a driver file or module and turns it into a driver that can be called. */
import { resolve } from 'node:path'
import { fieldName, ZOD_MESSAGES } from '../contract/explain-issues.ts'
import { type Source, schemaProblems } from '../files/document.ts'
import { byLine, ConfigError, type Problem } from '../files/errors.ts'
import { namesIn } from '../scenario/interpolation.ts'
import { nearest } from '../text/error-text.ts'
import { parseDuration } from '../text/quantities.ts'
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
  readonly folder: string
  /** The address of a driver read from a URL, for calls without an address of their own. */
  readonly http: string | null
  readonly commands: boolean
  /** Null when there is no terminal. */
  readonly prompt: Prompt | null
  /** Verbs that are functions of a module. */
  readonly functions: Readonly<Record<string, FunctionVerb['run']>>
}

const CALL_MS = 5_000

/** Throws `ConfigError` with every problem found, the first line first. */
export function readDriver(source: Source, origin: DriverOrigin): DriverSpec {
  const file = checked(source)
  const reader = new Reader(source, origin, file)
  const spec = reader.spec()
  if (reader.problems.length === 0) return spec
  throw new ConfigError(byLine(reader.problems))
}

function checked(source: Source): DriverFile {
  const value = source.value ?? {}
  const read = DriverFile.safeParse(value, ZOD_MESSAGES)
  if (read.success) return read.data
  if (typeof value === 'object' && 'steps' in value) {
    throw new ConfigError([source.problem(['steps'], 'key', '', TEXTS.scenario)])
  }
  throw new ConfigError(schemaProblems(source, read.error.issues, value, DriverFile))
}

class Reader {
  readonly problems: Problem[] = []
  readonly #source: Source
  readonly #origin: DriverOrigin
  readonly #file: DriverFile
  readonly #needTerminal: string[] = []

  constructor(source: Source, origin: DriverOrigin, file: DriverFile) {
    this.#source = source
    this.#origin = origin
    this.#file = file
  }

  spec(): DriverSpec {
    const { name, folder } = this.#origin
    const verbs = this.#verbs()
    if (Object.keys(verbs).length + this.#needTerminal.length === 0 && !this.#file.target) this.#nothing()
    const target = this.#file.target ? this.#target(this.#file.target) : null
    return { name, folder, verbs, needTerminal: this.#needTerminal, target, variables: this.#names() }
  }

  #nothing(): void {
    if (this.problems.length > 0) return
    this.#report([], TEXTS.empty(BUILT_IN_VERBS), 'value')
  }

  #report(path: readonly PropertyKey[], message: string, of: 'key' | 'value'): void {
    this.problems.push(this.#source.problem(path, of, fieldName(path), message))
  }

  /** Every verb of the file with its name and path. */
  #written() {
    const plain = BUILT_IN_VERBS.map(verb => ({ verb, path: [verb], is: this.#file[verb] }))
    const own = Object.entries(this.#file.does ?? {})
    const named = own.map(([name, is]) => ({ verb: `does.${name}`, path: ['does', name], is }))
    return [...plain, ...named].flatMap(({ verb, path, is }) => (is === undefined ? [] : [{ verb, path, is }]))
  }

  #verbs(): Record<string, VerbSpec> {
    const { timeout } = this.#file
    const timeoutMs = millis(timeout, CALL_MS)
    const functions = Object.entries(this.#origin.functions).map(([verb, run]) => [
      verb,
      { kind: 'function', run, timeoutMs } as const,
    ])
    const defaults = { ...this.#defaults(), timeoutMs }
    const written = this.#written().flatMap(({ verb, path, is }) => {
      const spec = this.#verb(verb, path, is, defaults)
      return spec === null ? [] : [[verb, spec] as const]
    })
    return Object.fromEntries([...functions, ...written])
  }

  #defaults(): Omit<Defaults, 'timeoutMs'> {
    const { http = this.#origin.http, headers = {} } = this.#file
    return { http: http?.replace(/\/+$/, '') ?? null, headers, commands: this.#origin.commands }
  }

  #verb(verb: string, path: readonly string[], is: VerbSection, defaults: Defaults): VerbSpec | null {
    const report: ReportProblem = (below, message, of = 'value') => this.#report([...path, ...below], message, of)
    if (is !== 'manual') return readAction(is, defaults, report)
    const { prompt } = this.#origin
    if (verb === 'inbox') report([], TEXTS.manualInbox)
    else if (prompt === null) this.#needTerminal.push(verb)
    else return { kind: 'manual', prompt }
    return null
  }

  #target({ start, env = {}, cwd, ready, ready_timeout, stop_timeout }: TargetSection): TargetSpec {
    if (!this.#origin.commands) this.#report(['target'], TEXTS.remoteTarget, 'key')
    return {
      command: start,
      env,
      folder: resolve(this.#origin.folder, cwd ?? ''),
      ready,
      readyTimeoutMs: millis(ready_timeout, 15_000),
      stopTimeoutMs: millis(stop_timeout, 5_000),
    }
  }

  /** Reports unknown names and returns the environment variables. */
  #names(): DriverSpec['variables'] {
    const { http, headers, target } = this.#file
    const around = [...textsWithPaths(http, ['http']), ...textsWithPaths(target, ['target'])].map(text => ({
      text,
      verb: null,
    }))
    const common = textsWithPaths(headers, ['headers']).map(text => ({ text, verb: null }))
    const inVerbs = this.#written().flatMap(({ verb, path, is }) =>
      textsWithPaths(is, path).map(text => ({ text, verb })),
    )
    const all = [...around, ...common, ...inVerbs]
    for (const { text, verb } of all) {
      for (const wrong of wrongNames(text.text, allowedNames(verb))) this.#report(text.path, wrong, 'value')
    }
    return all.flatMap(({ text }) => this.#variables(text))
  }

  #variables({ path, text }: TextAtPath): DriverSpec['variables'] {
    return variablesIn(text).map(name => {
      const unset = this.#source.problem(path, 'value', fieldName(path), TEXTS.unsetVariable(name))
      return { name, unset }
    })
  }
}

/** The settings of the file that hold for all its verbs. */
export interface Defaults {
  /** The help desk's address, without a slash at the end; null when none was given. */
  readonly http: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Commands of a driver that came over the network are not run. */
  readonly commands: boolean
}

/** Reports a problem at a path below the verb. */
export type ReportProblem = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => void

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

/** A text with `$(...)` and its path. */
export interface TextAtPath {
  readonly path: readonly PropertyKey[]
  readonly text: string
}

/** Every text inside of a value. */
export function textsWithPaths(value: unknown, path: readonly PropertyKey[]): TextAtPath[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, inner]) => textsWithPaths(inner, [...path, isList ? Number(key) : key]))
}

/** The environment variables a text reads. */
export const variablesIn = (text: string): string[] => namesIn(text).flatMap(name => ENV.exec(name)?.[1] ?? [])

/** What a text may name; `verb` is the verb it belongs to, null outside of verbs. */
export interface AllowedNames {
  readonly names: readonly string[]
  /** Whether what the scenario gives with `with:` may be named as well. */
  readonly parameters: boolean
}

export function allowedNames(verb: string | null): AllowedNames {
  if (verb === null) return { names: SIM, parameters: false }
  const chat = verb === 'away' || verb === 'back' ? [] : CHAT
  const parameters = verb.startsWith('does.')
  return { names: [...chat, ...(verb === 'says' || parameters ? ['text'] : []), ...SIM], parameters }
}

/** Problems with the names in a text. */
export function wrongNames(text: string, known: AllowedNames): string[] {
  return namesIn(text)
    .filter(name => !isKnown(name, known))
    .map(name => TEXTS.unknownName(name, suggestion(name, known)))
}

function isKnown(name: string, { names, parameters }: AllowedNames): boolean {
  if (names.includes(name) || ENV.test(name)) return true
  const [first = ''] = name.split(/[.[]/)
  return parameters && /^\w/.test(name) && !['chat', 'sim', 'env', 'text'].includes(first)
}

function suggestion(name: string, { names, parameters }: AllowedNames): string {
  const near = name.startsWith('env') ? '' : nearest(name, names)
  if (near !== '') return near
  return TEXTS.knownNames([...names, 'env.NAME', ...(parameters ? [TEXTS.parameters] : [])])
}
