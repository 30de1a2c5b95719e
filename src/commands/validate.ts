/** Checks scenario, driver and config files, and the files of `certify` (`handover-sim validate`). */
import { basename } from 'node:path'
import { parseSources } from '../base/files/document.ts'
import { ConfigError, formatProblem, type Problem } from '../base/files/errors.ts'
import { isDataFile, loadExports, readText } from '../base/files/user-files.ts'
import { isMap } from '../base/objects.ts'
import { counted as countedText } from '../base/text/quantities.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { type Hint, type LoadedScenario, PartFile } from '../evaluation/scenario/format/scenario.ts'
import { type FoundFile, findFiles } from '../evaluation/scenario/load/find.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import { parseValue, valuesIn } from '../evaluation/scenario/load/read.ts'
import { placeText } from '../evaluation/scenario/plan.ts'
import { BUILT_IN_VERBS } from '../running/agent-driver/driver-schema.ts'
import { loadDriver } from '../running/agent-driver/load-driver.ts'
import { CAPABILITIES, loadMissingCapabilities } from '../running/certifier/capabilities.ts'
import { loadExpectedFailures } from '../running/certifier/expected-failures.ts'
import { findConfig, loadConfig } from '../server/config/resolve.ts'
import { defineCommand, scenarioSources } from './command.ts'
import type { Context } from './io.ts'

/** The exit code when nothing is wrong, but some files are not checked. */
const NOT_CHECKED = 4

export const validateCommand = defineCommand({
  arguments: {
    '[files...]':
      'files, folders or patterns of scenario, driver and config files, and of the files of certify (default: scenarios)',
  },
  flags: {
    '--json': 'one line of JSON per file: { v, type, file, kind, ok, problems, warnings, ... }',
    '--allow-modules': 'load .mjs, .js and .ts files, which runs their code; without it they are not checked',
  },
  async run(context, flags, args) {
    const files = findFiles(args.length === 0 ? ['scenarios'] : args, scenarioSources(context))
    const inspectedFiles = await inspect(files, context, flags.allowModules ?? false)
    const printed = new Set<string>()
    for (const one of inspectedFiles) flags.json ? printJson(one, context) : print(one, context, printed)
    if (inspectedFiles.some(({ problems }) => problems.length > 0)) return 2
    const notChecked = inspectedFiles.filter(({ checked }) => !checked).length
    if (notChecked === 0) return 0
    if (!flags.json) context.io.stderr.write(`${countedText(notChecked, 'file')} not checked.\n`)
    return NOT_CHECKED
  },
})

/** Prints a problem once, also when several scenarios include the part that has it. */
function print(inspectedFiles: InspectedFile, { io }: Context, printed: Set<string>): void {
  const { file, kind, counts, checked, problems, warnings } = inspectedFiles
  const lines = [
    ...problems.map(formatProblem),
    ...warnings.map(warning => {
      const { place, rule, message } = warning
      const at = place === null ? file : placeText(place)
      return `${at}: warning: ${message} (${rule})`
    }),
  ]
  for (const line of lines.filter(one => !printed.has(one))) {
    printed.add(line)
    io.stderr.write(`${line}\n`)
  }
  if (checked && problems.length === 0) io.stdout.write(`ok  ${file}: ${contents(kind, counts)}\n`)
}

/** `3 scenarios, 41 steps`; of others `driver, 9 verbs`. */
function contents(kind: InspectedFile['kind'], counts: InspectedFile['counts']): string {
  const parts = Object.entries(counts).map(([what, count]) => `${count} ${count === 1 ? what.replace(/s$/, '') : what}`)
  return [...(kind === 'scenario' ? [] : [kind]), ...parts].join(', ')
}

function printJson({ file, kind, counts, checked, problems, warnings }: InspectedFile, { io }: Context): void {
  const line = { v: 1, type: 'file', file, kind, ok: checked && problems.length === 0, ...counts, problems, warnings }
  io.stdout.write(`${JSON.stringify(line)}\n`)
}

export interface InspectedFile {
  readonly file: string
  readonly kind: Kind | null
  /** False for a module that was not loaded. */
  readonly checked: boolean
  /** What is in it: `{ scenarios: 3, steps: 41 }`. */
  readonly counts: Readonly<Record<string, number>>
  readonly problems: readonly Problem[]
  readonly warnings: readonly Hint[]
}

export async function inspect(
  files: readonly FoundFile[],
  context: Context,
  allowModules: boolean,
): Promise<InspectedFile[]> {
  const readable = files.filter(file => allowModules || isDataFile(file))
  const inspected = new Map((await inspectReadable(readable, context)).map(one => [one.file, one]))
  return files.map(file => inspected.get(file.name) ?? notChecked(file))
}

function notChecked({ name }: FoundFile): InspectedFile {
  const warning = {
    place: null,
    rule: 'module-not-checked',
    message: 'not checked: it is a module; pass --allow-modules',
  }
  return { ...nothing, file: name, kind: null, checked: false, warnings: [warning] }
}

async function inspectReadable(files: readonly FoundFile[], context: Context): Promise<InspectedFile[]> {
  const kinds = await Promise.all(files.map(file => orProblems(() => kindOfFile(file, context.io.nodeVersion))))
  const scenarios = files.filter((_, index) => kinds[index] === 'scenario')
  const together = await inspectScenarios(scenarios, context)
  const all = files.map((file, index) => {
    const kind = kinds[index]!
    if (typeof kind !== 'string') return broken(file, null, kind)
    return kind === 'scenario' ? together.get(file.name)! : inspectOther(file, kind, context)
  })
  return Promise.all(all)
}

const nothing = { checked: true, counts: {}, problems: [], warnings: [] }
const broken = ({ name }: FoundFile, kind: Kind | null, problems: readonly Problem[]): InspectedFile => ({
  ...nothing,
  file: name,
  kind,
  problems,
})

async function orProblems<Value>(work: () => Promise<Value>): Promise<Value | readonly Problem[]> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** Loads all files together, because names must be unique over all; then counts each file by itself. */
async function inspectScenarios(files: readonly FoundFile[], context: Context): Promise<Map<string, InspectedFile>> {
  const options = scenarioSources(context)
  const load = (some: readonly FoundFile[]) =>
    orProblems(() =>
      loadScenarios(
        some.map(({ name }) => name),
        options,
      ),
    )
  const together = files.length === 0 ? [] : await load(files)
  const problems = isProblems(together) ? together : []
  const done = new Map<string, InspectedFile>()
  for (const file of files) {
    const own = problems.filter(problem => problem.file === file.name)
    const loaded = own.length > 0 ? own : isProblems(together) ? await load([file]) : together
    done.set(file.name, isProblems(loaded) ? broken(file, 'scenario', loaded) : counted(file, loaded))
  }
  return done
}

const isProblems = (value: object): value is readonly Problem[] =>
  Array.isArray(value) && value.length > 0 && value.every(one => 'message' in one)

function counted(file: FoundFile, all: readonly LoadedScenario[]): InspectedFile {
  const own = all.filter(one => one.file === file.name)
  const plans = compile(own)
  const steps = plans.reduce((sum, plan) => sum + plan.count, 0)
  const warnings = own.flatMap(one => one.warnings)
  return { ...nothing, file: file.name, kind: 'scenario', counts: { scenarios: plans.length, steps }, warnings }
}

async function inspectOther(
  file: FoundFile,
  kind: Exclude<Kind, 'scenario'>,
  context: Context,
): Promise<InspectedFile> {
  const counts = await orProblems(() => COUNT[kind](file, context))
  return isProblems(counts) ? broken(file, kind, counts) : { ...nothing, file: file.name, kind, counts }
}

type Count = (file: FoundFile, context: Context) => Promise<InspectedFile['counts']>

const COUNT: Readonly<Record<Exclude<Kind, 'scenario'>, Count>> = {
  async part(file, { io }) {
    const parts = (await valuesIn(file, io.nodeVersion)).map(value => parseValue(PartFile, value))
    const problems = parts.flatMap(part => (Array.isArray(part) ? part : []))
    if (problems.length > 0) throw new ConfigError(problems)
    return { steps: parts.reduce((sum, part) => sum + (Array.isArray(part) ? 0 : part.value.steps.length), 0) }
  },
  async driver(file, { io, env }) {
    const prompt = () => Promise.reject(new Error('validate does not prompt'))
    const { cwd, nodeVersion } = io
    const driver = await loadDriver(file.name, { cwd, env, nodeVersion, isTTY: false, prompt })
    return { verbs: Object.keys(driver.verbs).length + driver.needTerminal.length }
  },
  async config(file, { io }) {
    const layer = await loadConfig(findConfig(io.cwd, { file: file.name, from: file.name })!, io.nodeVersion)
    return { settings: Object.keys(layer).length }
  },
  async capabilities(file, { io }) {
    return { missing: loadMissingCapabilities(file.name, io.cwd).length }
  },
  async 'expected failures'(file, { io }) {
    return { checks: loadExpectedFailures(file.name, io.cwd).length }
  },
}

export type Kind = 'scenario' | 'part' | 'driver' | 'config' | 'capabilities' | 'expected failures'

/** Throws `ConfigError` when the file cannot be read at all. */
async function kindOfFile(file: FoundFile, nodeVersion: string): Promise<Kind> {
  if (basename(file.name).startsWith('handover-sim.config.')) return 'config'
  const values = await looseValuesIn(file, nodeVersion)
  return kindOfValue(values[0]) ?? (/\bdriver\b/.test(basename(file.name)) ? 'driver' : 'scenario')
}

async function looseValuesIn(file: FoundFile, nodeVersion: string): Promise<unknown[]> {
  if (isDataFile(file)) {
    return parseSources(file.name, readText(file), file.extension === '.json').map(({ value }) => value)
  }
  const exports = await loadExports(file, nodeVersion)
  const value = exports.default ?? { ...exports }
  return Array.isArray(value) ? value : [value]
}

const DRIVER_KEYS: readonly string[] = [...BUILT_IN_VERBS, 'http', 'does', 'target']
const SCENARIO_KEYS = ['steps', 'name', 'kind', 'chat', 'chats']
const CONFIG_KEYS = ['port', 'host', 'webhook', 'knobs', 'keys', 'agent_driver', 'base_url', 'messages', 'seed', 'bot']

function kindOfValue(value: unknown): Kind | null {
  if (!isMap(value)) return null
  if (value.kind === 'partial') return 'part'
  const has = (keys: readonly string[]) => keys.filter(key => Object.hasOwn(value, key)).length
  if (has(SCENARIO_KEYS) > 0) return 'scenario'
  if (has(DRIVER_KEYS) > 0) return 'driver'
  if (has(CONFIG_KEYS) > 0) return 'config'
  if (has(['expected']) > 0) return 'expected failures'
  return has(CAPABILITIES) > 0 ? 'capabilities' : null
}
