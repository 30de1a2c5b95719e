/** Loads scenario files and reports every problem of every file at once. */

import { dirname, extname, relative, resolve } from 'node:path'
import type * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { moduleSource, parseSource, parseSources, type Source, schemaProblems } from '../../../base/files/document.ts'
import { byLine, ConfigError, createProblem, fileProblem, type Problem } from '../../../base/files/errors.ts'
import { isDataFile, loadDefault, type NamedFile, readText } from '../../../base/files/user-files.ts'
import { groupBy, isMap } from '../../../base/objects.ts'
import { ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import type { FaultFields } from '../../../platform/faults/schema.ts'
import { callsOf, unknownFields } from '../compile/call-patterns.ts'
import { compileInto } from '../compile/compile.ts'
import { Diagnostics } from '../compile/step-compiler.ts'
import {
  type FileValue,
  type LoadedScenario,
  PartFile,
  type Path,
  placeOf,
  problemAt,
  ScenarioFile,
  type ScenarioHint,
} from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import { isCheck, type Plan, type PlannedItem, type PlannedStep, stepsOf } from '../plan.ts'
import { BUILTIN, builtinName, type FileFolders, type FoundFile, findFiles } from './find.ts'

const EXAMPLE = "export default defineScenario({ name: 'Happy path' }, [press('handover'), expectCall('start')])"

/** The values of a file: YAML documents, the JSON value, the default export of a module. Throws `ConfigError`. */
export async function valuesIn(file: NamedFile, nodeVersion: string): Promise<FileValue<unknown>[]> {
  const of = (source: Source, at: Path, value: unknown) => ({ file: file.name, path: file.path, source, at, value })
  if (/^\.ya?ml$/.test(file.extension)) {
    return parseSources(file.name, readText(file), false).map(source => of(source, [], source.value))
  }
  const source =
    file.extension === '.json'
      ? parseSource(file.name, readText(file), true)
      : moduleSource(file.name, await loadDefault(file, nodeVersion, EXAMPLE))
  if (!Array.isArray(source.value)) return [of(source, [], source.value)]
  return source.value.map((value, index) => of(source, [index], value))
}

const kindOf = (value: unknown): unknown => (isMap(value) ? value.kind : undefined)

/** The parsed value, or its problems in the order of the file. */
export function parseValue<Schema extends z.ZodMiniType>(
  schema: Schema,
  written: FileValue<unknown>,
): FileValue<z.infer<Schema>> | Problem[] {
  const { value } = written
  const read = schema.safeParse(value, ZOD_MESSAGES)
  if (read.success) return { ...written, value: read.data }
  // An agent driver gets one problem instead of one for each of its keys.
  if (isMap(value) && !('steps' in value) && ['accept', 'says', 'inbox'].some(verb => verb in value))
    return [problemAt(written, [], 'is an agent driver and not a scenario: pass it with --agent-driver')]
  return schemaProblems(written.source, read.error.issues, value, schema, written.at)
}

/** Reads the files of steps that scenarios include, directly or not. */
class PartReader {
  /** By path. */
  readonly parts = new Map<string, FileValue<PartFile>>()
  /** Also those that cannot be read. */
  readonly files: NamedFile[] = []
  /** How many files include a file inside each other, where it is read first. */
  readonly #depths = new Map<string, number>()
  /** Includes files that cannot be read, so that each is reported once. */
  readonly #tried = new Set<string>()
  readonly #folders: FileFolders
  readonly #nodeVersion: string
  readonly #problems: Problem[]

  constructor(folders: FileFolders, nodeVersion: string, problems: Problem[]) {
    this.#folders = folders
    this.#nodeVersion = nodeVersion
    this.#problems = problems
  }

  /** Reads everything these steps include, directly or not. */
  async read(written: FileValue<unknown>, path: Path, steps: readonly Step[]): Promise<void> {
    const isData = written.source.isData
    const nested = (this.#depths.get(written.path) ?? 0) + 1
    for (const { file, at } of includesIn(steps, path)) {
      const { builtin = null, includesOnlyBuiltin = false } = this.#folders
      const isNamedBuiltin = builtin !== null && file.startsWith(BUILTIN)
      const target = isNamedBuiltin
        ? resolve(builtin, file.slice(BUILTIN.length))
        : resolve(dirname(written.path), file)
      const isBuiltin = builtin !== null && !/^\.\.|^\//.test(relative(builtin, target).replaceAll('\\', '/'))
      if (includesOnlyBuiltin && !isBuiltin) {
        const message = `a request reads no files: include a shipped one, such as ${BUILTIN}parts/taken-over.yaml, or write the steps out`
        this.#problems.push(problemAt(written, at, message))
        continue
      }
      if (isData && !isDataFile({ extension: extname(target).toLowerCase() })) {
        const message = 'must end in .yaml, .yml or .json: data includes data, and only a module can include a module'
        this.#problems.push(problemAt(written, at, message))
        continue
      }
      if (this.#tried.has(target)) continue
      let why: string | null = null
      if (nested > BUDGETS.includeNesting)
        why = `is included in more than ${BUDGETS.includeNesting} files inside each other`
      else if (this.#tried.size >= BUDGETS.includes)
        why = `is one file too many: at most ${BUDGETS.includes} files can be included`
      if (why !== null) {
        this.#problems.push(problemAt(written, at, why))
        return
      }
      this.#depths.set(target, nested)
      this.#tried.add(target)
      await this.#readPart(target, written, at)
    }
  }

  async #readPart(path: string, written: FileValue<unknown>, at: Path): Promise<void> {
    const { cwd, builtin = null } = this.#folders
    const fromHere = relative(cwd, path)
    let name = fromHere.startsWith('..') ? path : fromHere
    if (builtin !== null && path.startsWith(builtin)) name = builtinName(path, builtin)
    const file = { name, path, extension: extname(path).toLowerCase() }
    this.files.push(file)
    try {
      const part = parsePartFile(await valuesIn(file, this.#nodeVersion), name)
      if (Array.isArray(part)) {
        this.#problems.push(...part)
        return
      }
      this.parts.set(path, part)
      await this.read(part, ['steps'], part.value.steps)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      // A file that cannot be read is reported at the include that names it, and problems inside at their own place.
      for (const problem of error.problems)
        this.#problems.push(problem.at === name ? problemAt(written, at, `${name} ${problem.message}`) : problem)
    }
  }
}

function parsePartFile(values: readonly FileValue<unknown>[], name: string): FileValue<PartFile> | Problem[] {
  const [only] = values
  if (only === undefined || values.length > 1)
    return [createProblem(name, 'must hold one part: kind: partial with steps')]
  if (kindOf(only.value) === 'partial') return parseValue(PartFile, only)
  return [problemAt(only, [], 'is included, so it must begin with kind: partial (and version: 1)')]
}

/** The includes of steps, also of those inside other steps. */
function* includesIn(steps: readonly Step[], path: Path): Iterable<{ readonly file: string; readonly at: Path }> {
  for (const [index, { include, repeat, parallel }] of steps.entries()) {
    const at = [...path, index]
    if (typeof include === 'string') yield { file: include, at: [...at, 'include'] }
    else if (include !== undefined) yield { file: include.file, at: [...at, 'include', 'file'] }
    if (repeat !== undefined) yield* includesIn(repeat.steps, [...at, 'repeat', 'steps'])
    if (Array.isArray(parallel))
      for (const [branch, inner] of parallel.entries()) yield* includesIn(inner, [...at, 'parallel', branch])
    else if (parallel !== undefined) yield* includesIn(parallel.steps, [...at, 'parallel', 'steps'])
  }
}

export interface LoadOptions extends FileFolders {
  readonly nodeVersion: string
}

/** The file name in problems of scenarios from code. */
const IN_CODE = 'scenario'

/** Loads files, folders and patterns. Throws `ConfigError`. */
export async function loadScenarios(patterns: readonly string[], options: LoadOptions): Promise<LoadedScenario[]> {
  const problems: Problem[] = []
  const values = await readScenarios(findFiles(patterns, options), options, problems)
  return compileAll(values, options, problems)
}

/** Loads scenarios that are values already; their includes are relative to `cwd`. Throws `ConfigError`. */
export async function loadValues(scenarios: readonly unknown[], options: LoadOptions): Promise<LoadedScenario[]> {
  const source = moduleSource(IN_CODE, scenarios)
  const path = resolve(options.cwd, IN_CODE)
  const values: FileValue<unknown>[] = []
  for (const [index, value] of scenarios.entries()) values.push({ file: IN_CODE, path, source, at: [index], value })
  return compileAll(values, options, [])
}

/** Loads scenarios from the text of a YAML file. Throws `ConfigError`. */
export async function loadScenarioText(file: string, text: string, options: LoadOptions): Promise<LoadedScenario[]> {
  const path = resolve(options.cwd, file)
  const values: FileValue<unknown>[] = []
  for (const source of parseSources(file, text, false)) values.push({ file, path, source, at: [], value: source.value })
  if (values.length === 0) throw fileProblem(file, 'has no scenario in it')
  return compileAll(values, options, [])
}

async function compileAll(
  values: readonly FileValue<unknown>[],
  options: LoadOptions,
  problems: Problem[],
): Promise<LoadedScenario[]> {
  const compiled = await compileEach(values, new PartReader(options, options.nodeVersion, problems), problems)
  if (problems.length > 0) throw new ConfigError(inFileOrder(problems))
  return compiled.map(({ loaded, plans }) => ({ ...loaded, warnings: findHints(plans) }))
}

/** One file as it was read: its scenarios, or why it has none. */
export interface LoadedFile {
  readonly file: FoundFile
  readonly plans: readonly Plan[]
  readonly problems: readonly Problem[]
  /** The parts that it includes, also those that cannot be read. */
  readonly includes: readonly NamedFile[]
}

/** Loads one file. Its problems do not affect other files. */
export async function loadFile(file: FoundFile, options: LoadOptions): Promise<LoadedFile> {
  const problems: Problem[] = []
  const values = await readScenarios([file], options, problems)
  const parts = new PartReader(options, options.nodeVersion, problems)
  const compiled = await compileEach(values, parts, problems)
  const plans = problems.length > 0 ? [] : compiled.flatMap(scenario => scenario.plans)
  return { file, plans, problems: inFileOrder(problems), includes: parts.files }
}

/** Reads files into values. Skips parts, which lie beside scenarios; a part named on the command line is a problem. */
async function readScenarios(files: readonly FoundFile[], { nodeVersion }: LoadOptions, problems: Problem[]) {
  const values: FileValue<unknown>[] = []
  for (const file of files) {
    try {
      const fileValues = await valuesIn(file, nodeVersion)
      if (file.named && fileValues.length === 0) problems.push(createProblem(file.name, 'has no scenario in it'))
      for (const value of fileValues)
        if (kindOf(value.value) !== 'partial') values.push(value)
        else if (file.named)
          problems.push(problemAt(value, ['kind'], 'is a part: it runs where a scenario includes it'))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  return values
}

/** Parses and compiles scenarios; adds what is wrong to `problems`. */
async function compileEach(values: readonly FileValue<unknown>[], parts: PartReader, problems: Problem[]) {
  const scenarios: LoadedScenario[] = []
  for (const value of values) {
    const parsed = parseValue(ScenarioFile, value)
    if (Array.isArray(parsed)) {
      problems.push(...parsed)
      continue
    }
    const { steps, finally: last = [], name } = parsed.value
    await parts.read(parsed, ['steps'], steps)
    await parts.read(parsed, ['finally'], last)
    scenarios.push({ ...parsed, name, place: placeOf(parsed, ['name']), parts: parts.parts, warnings: [] })
  }
  const diagnostics = new Diagnostics()
  const compiled: { readonly loaded: LoadedScenario; readonly plans: Plan[] }[] = []
  for (const loaded of scenarios) compiled.push({ loaded, plans: compileInto(loaded, diagnostics) })
  problems.push(...diagnostics.problems)

  // Names are unique, because reports and `--only` identify scenarios by name.
  const taken = new Map<string, LoadedScenario>()
  for (const { loaded, plans } of compiled)
    for (const { name } of plans) {
      const namesake = taken.get(name)
      if (namesake === undefined) taken.set(name, loaded)
      else {
        const where = namesake.place === null ? namesake.file : `${namesake.place.file}:${namesake.place.line}`
        problems.push(problemAt(loaded, ['name'], `${JSON.stringify(name)} is taken: ${where} has it`))
      }
    }
  return compiled
}

/** Sorts by file, in the order in which they were read, and by line. */
function inFileOrder(problems: readonly Problem[]): Problem[] {
  const files = groupBy(problems, ({ file }) => file)
  return [...files.values()].flatMap(byLine)
}

function findHints(plans: readonly Plan[]): ScenarioHint[] {
  const hints = new Map<string, ScenarioHint>()
  for (const plan of plans) {
    const items = [...plan.steps, ...plan.finally]
    for (const hint of [
      ...waitHints(items, plan.clock?.mode ?? 'real'),
      ...heldEventHints(items),
      ...unknownFieldHints(items),
    ])
      hints.set(JSON.stringify(hint), hint)
  }
  return [...hints.values()]
}

function* unknownFieldHints(items: readonly PlannedItem[]): Iterable<ScenarioHint> {
  for (const { action, place } of stepsOf(items)) {
    if (action.verb !== 'expect') continue
    for (const call of callsOf(action.tree))
      for (const { name, hint } of unknownFields(call))
        yield { place, rule: 'unknown-field', message: `${call.call} has no field ${name}${hint}` }
  }
}

function* waitHints(items: readonly PlannedItem[], clock: 'real' | 'virtual'): Iterable<ScenarioHint> {
  const steps = items.filter(item => item.kind === 'step')
  for (const [index, { action, place }] of steps.entries()) {
    if (action.verb !== 'wait' || action.toMs !== undefined) continue
    const next = steps.slice(index + 1).find(step => step.action.verb !== 'log' && step.action.verb !== 'fault')
    if (next === undefined) continue
    const { verb } = next.action
    if (clock === 'virtual' && verb === 'none')
      yield {
        place,
        rule: 'virtual-wait-before-none',
        message: 'the wait takes no real time, so the intermediary had none to make a call in: use a longer `for`',
      }
    if (clock === 'real' && verb !== 'none' && isCheck(next))
      yield {
        place,
        rule: 'sleep-before-expect',
        message: `${verb} waits by itself: leave the wait out, or give it more time with \`within\``,
      }
  }
  for (const item of items)
    if (item.kind === 'parallel') for (const branch of item.branches) yield* waitHints(branch, clock)
}

interface HoldingFault {
  readonly fault: FaultFields
  readonly conversation: string
  /** How many more events it holds. */
  left: number
  /** How many events still pass before it releases the held one. */
  passing: number
}

/** Finds steps that wait for an event a fault holds. Skips parallel branches, which can release each other's events. */
function* heldEventHints(items: readonly PlannedItem[]): Iterable<ScenarioHint> {
  const taken = new Set<string>()
  let holding: HoldingFault[] = []
  for (const item of items) {
    if (item.kind === 'parallel') {
      holding = []
      continue
    }
    const { action, conversation, place } = item
    const isStart = action.verb === 'expect' && action.tree.op === 'call' && action.tree.call === 'start'
    if (isStart || (action.verb === 'agent' && action.does === 'accept')) taken.add(conversation)
    if (action.verb === 'fault') {
      const { fault } = action
      if ('clear' in fault) {
        holding = fault.clear === true ? [] : holding.filter(holdingFault => holdingFault.fault.name !== fault.clear)
        continue
      }
      const isHolding = fault.hold !== undefined || fault.swap === true
      const isPlain = fault.skip === undefined && fault.every === undefined && fault.chat_id === undefined
      const left = fault.times ?? Number.POSITIVE_INFINITY
      if (isHolding && isPlain) holding.push({ fault, conversation, left, passing: 0 })
    }
    const event = eventOf(item, taken.has(conversation))
    // Every fault counts the event, as it does in the run.
    const isHeld =
      event !== null &&
      holding.filter(holdingFault => {
        // Counts in the same way as the fault.
        if (conversation !== holdingFault.conversation || holdingFault.left === 0) return false
        if (holdingFault.passing > 0) {
          holdingFault.passing--
          return false
        }
        const { on, hold = 1 } = holdingFault.fault
        const names = typeof on === 'object' ? [on.webhook ?? []].flat() : ['any']
        if (!names.includes('any') && !names.includes(event)) return false
        holdingFault.left--
        holdingFault.passing = hold
        return true
      }).length > 0
    if (isHeld && 'async' in action && !action.async && action.ack !== null)
      yield {
        place,
        rule: 'held-event-is-waited-for',
        message:
          'a fault keeps this event back until a later one of the chat has passed, and none comes while the step waits ' +
          'for its answer: say `async: true`',
      }
  }
}

function eventOf({ action }: PlannedStep, isTaken: boolean): string | null {
  if (action.verb === 'press') return 'REQUESTING TAKEOVER'
  return action.verb === 'user' && isTaken ? 'MESSAGE FROM USER' : null
}
