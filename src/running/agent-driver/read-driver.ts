/** Reads the value of a driver file or module as a driver spec, and reports every problem with its place. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { parseSource, type Source, schemaProblems } from '../../base/files/document.ts'
import { byLine, ConfigError, type Problem } from '../../base/files/errors.ts'
import { readText } from '../../base/files/user-files.ts'
import { keysOf } from '../../base/objects.ts'
import { packagePath } from '../../base/runtime/node.ts'
import { fieldName, ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { nearest } from '../../base/text/error-text.ts'
import { DURATION_PATTERN, parseDuration } from '../../base/text/quantities.ts'
import { namesIn, textsIn } from '../../evaluation/scenario/interpolation.ts'
import { connectDriver, type DriverOptions } from './create-driver.ts'
import type { Driver, Environment } from './driver.ts'
import { type DriverSpec, type FunctionVerb, METHODS, type Method, type Prompt, type VerbSpec } from './driver.ts'
import {
  type SimulatorAccess,
  simulatorVariables,
  type TargetLaunch,
  TargetProcess,
  TargetStartError,
} from './target.ts'

type Fields = Record<string, unknown>

function text(expected: string, fits: (value: string) => boolean, shape: Fields): z.ZodMiniType<string> {
  const check = z.refine(value => typeof value === 'string' && fits(value), { error: expected })
  const schema: unknown = z.unknown().check(check, z.meta({ type: 'string', ...shape }))
  return schema as z.ZodMiniType<string>
}

function duration(description: string): z.ZodMiniType<string> {
  const isDuration = (value: string) => (parseDuration(value) ?? 0) !== 0
  return text('a duration such as 500ms, 5s, 10m, 12h', isDuration, { pattern: DURATION_PATTERN, description })
}

/** An address with `$(...)` in it, or one that begins with `$(...)`. */
function address(description: string): z.ZodMiniType<string> {
  const isAddress = (value: string) => {
    if (/^\$\([^()]*\)/.test(value)) return true
    return /^https?:\/\/[^/]/i.test(value) && URL.canParse(value.replace(/\$\([^()]*\)/g, '1'))
  }
  return text('an http or https address such as http://127.0.0.1:3100', isAddress, { minLength: 1, description })
}

const described = (description: string) => z.meta({ description })

const word = z.string().check(z.minLength(1))
const Command = z.array(word).check(z.minLength(1), described('A program and its arguments; no shell reads them'))
const Headers = z.record(z.string(), z.string()).check(described('HTTP headers'))
const timeout = z.optional(duration('How long one call may take; 5s unless set'))

const path = word.check(described('A path below `http`, or a full address; what $(...) puts in is percent-encoded'))
const call = z.optional(path)
const calls = { POST: call, GET: call, PUT: call, PATCH: call, DELETE: call } satisfies Record<Method, typeof call>

const KEYS = [...METHODS, 'exec'].map(key => ({ required: [key] }))

const ActionSection = z
  .strictObject({
    ...calls,
    exec: z.optional(Command),
    json: z.optional(z.unknown().check(described('The body of the call'))),
    headers: z.optional(Headers),
    timeout,
  })
  .check(z.meta({ id: 'Action', oneOf: KEYS }))
export type ActionSection = z.infer<typeof ActionSection>

const VerbSection = z.union([z.literal('manual'), ActionSection])
type VerbSection = z.infer<typeof VerbSection>

const TargetSection = z.strictObject({
  start: Command,
  env: z.optional(z.record(z.string(), z.string()).check(described('Beside the environment and HANDOVER_SIM_*'))),
  cwd: z.optional(word.check(described("Its working folder, relative to this file's folder"))),
  ready: address('Answers 2xx once the intermediary serves'),
  ready_timeout: z.optional(duration('How long it may take to be ready; 15s unless set')),
  stop_timeout: z.optional(duration('How long it may take to stop before it is killed; 5s unless set')),
})
export type TargetSection = z.infer<typeof TargetSection>

const VERB_DESCRIPTIONS = {
  accept: 'The agent takes the chat',
  says: 'The agent writes $(text)',
  type: 'The agent begins to type',
  stop: 'The agent stops typing',
  leave: 'The agent ends the conversation',
  away: 'No agent is available any more',
  back: 'An agent is available again',
  inbox: 'What the agent sees of the chat, oldest first: [{ request?, text?, attachments? }]',
}
export type BuiltInVerb = keyof typeof VERB_DESCRIPTIONS
export const BUILT_IN_VERBS = keysOf(VERB_DESCRIPTIONS)
const verbs = {} as Record<BuiltInVerb, z.ZodMiniOptional<typeof VerbSection>>
for (const name of BUILT_IN_VERBS) verbs[name] = z.optional(VerbSection.check(described(VERB_DESCRIPTIONS[name])))

export const DriverFile = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.optional(z.literal(1)),
  http: z.optional(address("Where the help desk's test API is")),
  headers: z.optional(Headers),
  timeout,
  ...verbs,
  does: z.optional(
    z.record(z.string(), VerbSection).check(described('Verbs of your own: agent: { does: NAME, with: {...} }')),
  ),
  target: z.optional(TargetSection.check(described('Lets a run start, stop and restart the intermediary'))),
})
export type DriverFile = z.infer<typeof DriverFile>

export function driverJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(DriverFile, { reused: 'inline', io: 'input' })
  return { $schema, title: 'Agent driver of handover-sim', ...schema }
}

export interface DriverOrigin {
  readonly name: string
  /** The folder of its commands. Default: the working folder. */
  readonly folder?: string
  /** The origin of a driver read from a URL: it calls no other one, and reads no variables. */
  readonly http?: string
  /** Whether it may run commands. Default false. */
  readonly commands?: boolean
  /** Null, the default, when there is no terminal. */
  readonly prompt?: Prompt | null
  /** Verbs that are functions of a module. */
  readonly functions?: Readonly<Record<string, FunctionVerb['run']>>
}

const CALL_MS = 5_000
const READY_MS = 15_000
const STOP_MS = 5_000

/** Reports a problem at a path of the file, or below a verb. */
type ReportProblem = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => void

/** A part of the file that may contain `$(...)`. */
interface Section {
  readonly path: readonly PropertyKey[]
  readonly value: unknown
  /** Null outside of verbs. */
  readonly verb: string | null
}

/** Throws `ConfigError` with every problem found, the first line first. */
export function readDriver(source: Source, origin: DriverOrigin): DriverSpec {
  const { name, folder = '.', prompt = null, commands = false, functions = {} } = origin
  const file = parseFile(source, origin.functions !== undefined)
  const problems: Problem[] = []
  const problemAt = (path: readonly PropertyKey[], message: string, of: 'key' | 'value' = 'value') =>
    source.problem(path, of, fieldName(path), message)
  const report: ReportProblem = (...problem) => void problems.push(problemAt(...problem))

  const written: { verb: string; path: string[]; value: VerbSection }[] = []
  for (const verb of BUILT_IN_VERBS) {
    const value = file[verb]
    if (value !== undefined) written.push({ verb, path: [verb], value })
  }
  for (const [verb, value] of Object.entries(file.does ?? {}))
    written.push({ verb: `does.${verb}`, path: ['does', verb], value })

  const timeoutMs = parseDuration(file.timeout) ?? CALL_MS
  const http = (file.http ?? origin.http)?.replace(/\/+$/, '') ?? null
  const defaults = { http, onlyOrigin: origin.http ?? null, headers: file.headers ?? {}, timeoutMs, commands }
  const verbs: Record<string, VerbSpec> = {}
  const needTerminal: string[] = []
  for (const [verb, run] of Object.entries(functions)) verbs[verb] = { kind: 'function', run, timeoutMs }
  for (const { verb, path, value } of written) {
    if (value !== 'manual') {
      const spec = readAction(value, defaults, (below, ...problem) => report([...path, ...below], ...problem))
      if (spec !== null) verbs[verb] = spec
    } else if (verb === 'inbox') report(path, 'cannot be manual, because it is read again and again; leave it out')
    else if (prompt === null) needTerminal.push(verb)
    else verbs[verb] = { kind: 'manual', prompt }
  }
  if (file.target && !commands)
    report(['target'], 'is not started for a driver read from a URL; keep the driver in a file', 'key')
  const isEmpty = Object.keys(verbs).length + needTerminal.length === 0 && !file.target
  if (isEmpty && problems.length === 0)
    report([], `says nothing: write at least one of ${BUILT_IN_VERBS.join(', ')}, does, target`)

  const sections: Section[] = [
    { verb: null, path: ['http'], value: file.http },
    { verb: null, path: ['target'], value: file.target },
    { verb: null, path: ['headers'], value: file.headers },
    ...written,
  ]
  const variables: { name: string; unset: Problem }[] = []
  for (const section of sections)
    for (const { path, text } of textsIn(section.value, section.path))
      for (const used of namesIn(text)) {
        const [, variable] = ENV.exec(used) ?? []
        if (variable !== undefined && origin.http !== undefined)
          report(
            path,
            `reads the environment variable ${variable}, and no driver from a URL does; keep the driver in a file`,
          )
        else if (variable !== undefined) {
          const unset = problemAt(path, `reads the environment variable ${variable}, which is not set`)
          variables.push({ name: variable, unset })
        } else {
          const hint = hintFor(used, section.verb)
          if (hint !== null) report(path, `$(${used}) is not known here${hint}`)
        }
      }
  if (problems.length > 0) throw new ConfigError(byLine(problems))

  let target: DriverSpec['target'] = null
  if (file.target) {
    const { start, env = {}, cwd = '', ready, ready_timeout, stop_timeout } = file.target
    const readyTimeoutMs = parseDuration(ready_timeout) ?? READY_MS
    const stopTimeoutMs = parseDuration(stop_timeout) ?? STOP_MS
    target = { command: start, env, folder: resolve(folder, cwd), ready, readyTimeoutMs, stopTimeoutMs }
  }
  return { name, folder, verbs, needTerminal, target, variables }
}

/** `isModule`: its verbs may be functions. */
function parseFile(source: Source, isModule: boolean): DriverFile {
  const value = source.value ?? {}
  const read = DriverFile.safeParse(value, ZOD_MESSAGES)
  if (read.success) return read.data
  if (typeof value === 'object' && 'steps' in value)
    throw new ConfigError([source.problem(['steps'], 'key', '', 'this is a scenario and not an agent driver')])
  const problems = schemaProblems(source, read.error.issues, value, DriverFile)
  const orFunction = (message: string) =>
    message.replace('must be manual or an object', 'must be a function, manual or an object')
  throw new ConfigError(
    isModule ? problems.map(problem => ({ ...problem, message: orFunction(problem.message) })) : problems,
  )
}

/** The settings of the file that hold for all its verbs. */
interface Defaults {
  /** The help desk's address, without a slash at the end; null when none was given. */
  readonly http: string | null
  /** Null for a driver in a file, which may call any address. */
  readonly onlyOrigin: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Commands of a driver that came over the network are not run. */
  readonly commands: boolean
}

const KINDS = [...METHODS, 'exec'] as const

/** The host as it is, or a `$(...)` that stands for it, and the rest. */
const FULL_ADDRESS = /^(https?:\/\/[^/?#]*|\$\([^()]*\))(.*)$/is

/** Null when something was reported. */
function readAction(action: ActionSection, defaults: Defaults, report: ReportProblem): VerbSpec | null {
  const fail = (path: readonly PropertyKey[], message: string, of?: 'key' | 'value') => {
    report(path, message, of)
    return null
  }
  const timeoutMs = parseDuration(action.timeout) ?? defaults.timeoutMs
  const [kind, second] = KINDS.filter(verbKind => action[verbKind] !== undefined)
  if (kind === undefined)
    return fail(
      [],
      `needs one of ${KINDS.join(', ')}, or manual: such as { POST: "/desk/$(chat.id)/accept" } or { exec: [./agent.sh, accept, $(chat.id)] }`,
    )
  if (second !== undefined) return fail([second], `stands beside ${kind}; a verb is one call or one command`, 'key')
  if (kind === 'exec') {
    for (const key of ['json', 'headers'] as const)
      if (action[key] !== undefined)
        return fail([key], 'is for calls; a command gets every field as JSON on stdin', 'key')
    if (!defaults.commands)
      return fail(['exec'], 'is not run for a driver read from a URL; keep the driver in a file', 'key')
    return { kind, command: action.exec!, timeoutMs }
  }
  const written = action[kind] ?? ''
  const [, fullBase, fullPath] = FULL_ADDRESS.exec(written) ?? []
  const base = fullBase ?? defaults.http
  const received = JSON.stringify(written)
  let isWrong = false
  if (fullBase === undefined && !written.startsWith('/')) {
    report([kind], `must begin with / or be an http or https address, got ${received}`)
    isWrong = true
  } else if (base === null) {
    report([kind], `needs the help desk's address: write http: http://127.0.0.1:3100 at the top, got ${received}`)
    isWrong = true
  } else if (defaults.onlyOrigin !== null && !hasOrigin(defaults.onlyOrigin, base)) {
    report(
      [kind],
      `must be an address of ${defaults.onlyOrigin}, where the driver was read; keep the driver in a file, got ${received}`,
    )
    isWrong = true
  }
  if (action.json !== undefined && kind === 'GET') return fail(['json'], 'cannot go with GET, which has no body', 'key')
  if (isWrong || base === null) return null
  const headers = { ...defaults.headers, ...action.headers }
  return { kind: 'http', method: kind, base, path: fullPath ?? written, headers, json: action.json, timeoutMs }
}

const hasOrigin = (origin: string, base: string): boolean =>
  !base.includes('$(') && URL.canParse(base) && new URL(base).origin === origin

const CHAT = ['chat.id', 'chat.user_id', 'chat.language', 'chat.source', 'chat.name']
const SIM = ['sim.url', 'sim.api_key', 'sim.bot_id']
const ENV = /^env\.(\w+)$/

/** What a text may name; `verb` is the verb it belongs to, null outside of verbs. */
interface AllowedNames {
  readonly names: readonly string[]
  /** Whether the parameters that the scenario gives with `with:` are allowed. */
  readonly parameters: boolean
}

function allowedNames(verb: string | null): AllowedNames {
  if (verb === null) return { names: SIM, parameters: false }
  const chat = verb === 'away' || verb === 'back' ? [] : CHAT
  const parameters = verb.startsWith('does.')
  return { names: [...chat, ...(verb === 'says' || parameters ? ['text'] : []), ...SIM], parameters }
}

/** What to write in place of an unknown name, which is reported when the driver is read, before a run. Null for an allowed name. */
function hintFor(name: string, verb: string | null): string | null {
  const { names, parameters } = allowedNames(verb)
  const [first = ''] = name.split(/[.[]/)
  if (names.includes(name)) return null
  if (parameters && /^\w/.test(name) && !['chat', 'sim', 'env', 'text'].includes(first)) return null
  const near = name.startsWith('env') ? '' : nearest(name, names)
  if (near !== '') return near
  return `; there are ${[...names, 'env.NAME', ...(parameters ? ['the names under with'] : [])].join(', ')}`
}

export interface ReferenceDriver extends Driver {
  /** Stays the same after a restart. */
  readonly url: string
  readonly webhookUrl: string
}

const STOP_TIMEOUT_MS = 2_000

export interface ReferenceOptions extends DriverOptions {
  /** Whether it stores its chats in a file, so that they survive a restart. Default true. */
  readonly storesChats?: boolean
}

/** Resolves when it is ready. Rejects with `TargetStartError`. */
export async function referenceDriver(options: ReferenceOptions): Promise<ReferenceDriver> {
  const { env, sim, onExit, log, storesChats = true } = options
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-reference-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  const start = (): TargetLaunch => {
    const variables = {
      PORT: target.url === null ? '0' : new URL(target.url).port,
      ...(storesChats && { STATE_FILE: join(folder, 'state.json') }),
    }
    return referenceStart('The reference intermediary', env, sim, variables)
  }
  const target: TargetProcess = new TargetProcess({ start, stopTimeoutMs: STOP_TIMEOUT_MS, onExit, log })
  try {
    await target.start()
  } catch (error) {
    removeFolder()
    throw error
  }
  const url = String(target.url)
  const driver = connectDriver(referenceSpec(url), env, target)
  const close = () => driver.close().finally(removeFolder)
  return { ...driver, url, webhookUrl: `${url}/webhook`, close }
}

/** The driver of a reference intermediary at `url`. */
export function referenceSpec(url: string): DriverSpec {
  const path = referenceFile('driver.yaml')
  const text = readText({ name: path, path, extension: '.yaml' })
  const source = parseSource(path, text, false)
  const value = { ...Object(source.value), http: url }
  return readDriver({ ...source, value }, { name: 'the reference driver', folder: dirname(path) })
}

const READY_TIMEOUT_MS = 15_000

/** Variables that other programs may use for purposes of their own: the reference intermediary does not inherit them. */
const NOT_INHERITED = ['HOST', 'STATE_FILE', 'AGENT_NAME', 'AGENT_AVATAR', 'AGENT_LANGUAGES']

/** Describes its start. `variables` are added to the environment. */
export function referenceStart(
  name: string,
  env: Environment,
  sim: SimulatorAccess,
  variables: Readonly<Record<string, string>>,
): TargetLaunch {
  const inherited = { ...env }
  for (const name of NOT_INHERITED) delete inherited[name]
  const main = referenceFile('main.js')
  return {
    name,
    command: [process.execPath, main],
    // Not the folder of the program, which may lie in an archive (yarn PnP), where no process can start.
    cwd: process.cwd(),
    env: { ...inherited, ...simulatorVariables(sim), ...variables },
    channel: true,
    ready: null,
    readyTimeoutMs: READY_TIMEOUT_MS,
  }
}

/** Throws `TargetStartError`. */
function referenceFile(name: string): string {
  const path = packagePath(`examples/intermediary/${name}`)
  if (path !== null) return path
  throw new TargetStartError('The reference intermediary', { code: 'not_installed' })
}
