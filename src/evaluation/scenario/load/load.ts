/** Loads scenario files and reports every problem of every file at once. */
import { resolve } from 'node:path'
import { moduleSource, parseSources } from '../../../base/files/document.ts'
import { byLine, ConfigError, type Problem, problemOf } from '../../../base/files/errors.ts'
import type { NamedFile } from '../../../base/files/user-files.ts'
import { compileInto } from '../compile/compile.ts'
import { hintsOf } from '../compile/hints.ts'
import { Diagnostics } from '../compile/step-compiler.ts'
import { type FileValue, type LoadedScenario, placeOf, problemAt, ScenarioFile } from '../format/scenario.ts'
import type { Plan } from '../plan.ts'
import { type FileFolders, type FoundFile, findFiles } from './find.ts'
import { kindOf, PartReader, parseValue, valuesIn } from './read.ts'

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
export async function loadValues(all: readonly unknown[], options: LoadOptions): Promise<LoadedScenario[]> {
  const source = moduleSource(IN_CODE, all)
  const path = resolve(options.cwd, IN_CODE)
  const values = all.map((value, index) => ({ file: IN_CODE, path, source, at: [index], value }))
  return compileAll(values, options, [])
}

/** Loads scenarios from the text of a YAML file. Throws `ConfigError`. */
export async function loadText(file: string, text: string, options: LoadOptions): Promise<LoadedScenario[]> {
  const path = resolve(options.cwd, file)
  const sources = parseSources(file, text, false)
  const values = sources.map(source => ({ file, path, source, at: [], value: source.value }))
  return compileAll(values, options, [])
}

async function compileAll(
  values: readonly FileValue<unknown>[],
  options: LoadOptions,
  problems: Problem[],
): Promise<LoadedScenario[]> {
  const compiled = await compileEach(values, new PartReader(options, options.nodeVersion, problems), problems)
  if (problems.length > 0) throw new ConfigError(inFileOrder(problems))
  return compiled.map(({ loaded, plans }) => ({ ...loaded, warnings: hintsOf(plans) }))
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
  const plans = problems.length > 0 ? [] : compiled.flatMap(one => one.plans)
  return { file, plans, problems: inFileOrder(problems), includes: parts.files }
}

/** Reads files into values. Skips parts, which lie beside scenarios; a part named on the command line is a problem. */
async function readScenarios(files: readonly FoundFile[], { nodeVersion }: LoadOptions, problems: Problem[]) {
  const values: FileValue<unknown>[] = []
  for (const file of files) {
    try {
      const found = await valuesIn(file, nodeVersion)
      if (file.named && found.length === 0) problems.push(problemOf(file.name, 'has no scenario in it'))
      for (const value of found)
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
    scenarios.push({ ...parsed, name, place: placeOf(parsed, ['name']), parts: parts.all, warnings: [] })
  }
  const diagnostics = new Diagnostics()
  const compiled = scenarios.map(loaded => ({ loaded, plans: compileInto(loaded, diagnostics) }))
  problems.push(...diagnostics.problems)

  // Names are unique, because reports and `--only` identify scenarios by name.
  const taken = new Map<string, LoadedScenario>()
  for (const { loaded, plans } of compiled)
    for (const { name } of plans) {
      const other = taken.get(name)
      if (other === undefined) taken.set(name, loaded)
      else {
        const where = other.place === null ? other.file : `${other.place.file}:${other.place.line}`
        problems.push(problemAt(loaded, ['name'], `${JSON.stringify(name)} is taken: ${where} has it`))
      }
    }
  return compiled
}

/** Sorts by file, in the order in which they were read, and by line. */
function inFileOrder(problems: readonly Problem[]): Problem[] {
  const files = new Set(problems.map(({ file }) => file))
  return [...files].flatMap(file => byLine(problems.filter(problem => problem.file === file)))
}
