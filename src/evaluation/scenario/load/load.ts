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
import { createPartReader, kindOf, type PartReader, parseValue, valuesIn } from './read.ts'

export interface LoadOptions extends FileFolders {
  readonly nodeVersion: string
}

/** Loads files, folders and patterns. Throws `ConfigError`. */
export async function loadScenarios(patterns: readonly string[], options: LoadOptions): Promise<LoadedScenario[]> {
  const problems: Problem[] = []
  const values = await valuesOf(findFiles(patterns, options), options, problems)
  return finish(values, options, problems)
}

/** Loads scenarios that are values already; their includes are relative to `cwd`. Throws `ConfigError`. */
export async function loadValues(all: readonly unknown[], options: LoadOptions): Promise<LoadedScenario[]> {
  const source = moduleSource(IN_CODE, all)
  const path = resolve(options.cwd, IN_CODE)
  return finish(
    all.map((value, index) => ({ file: IN_CODE, path, source, at: [index], value })),
    options,
    [],
  )
}

/** Loads scenarios from the text of a YAML file. Throws `ConfigError`. */
export async function loadText(file: string, text: string, options: LoadOptions): Promise<LoadedScenario[]> {
  const path = resolve(options.cwd, file)
  const sources = parseSources(file, text, false)
  return finish(
    sources.map(source => ({ file, path, source, at: [], value: source.value })),
    options,
    [],
  )
}

/** The file name in problems of scenarios from code. */
const IN_CODE = 'scenario'

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
  const values = await valuesOf([file], options, problems)
  const parts = createPartReader(options, options.nodeVersion, problems)
  const done = await compileAll(values, parts, problems)
  const plans = problems.length > 0 ? [] : done.flatMap(one => one.plans)
  return { file, plans, problems: inOrder(problems), includes: parts.files }
}

async function valuesOf(files: readonly FoundFile[], { nodeVersion }: LoadOptions, problems: Problem[]) {
  const values: FileValue<unknown>[] = []
  for (const file of files) {
    try {
      const found = await valuesIn(file, nodeVersion)
      if (file.named && found.length === 0) problems.push(problemOf(file.name, 'has no scenario in it'))
      values.push(...found.filter(one => isScenario(one, file, problems)))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  return values
}

/** Skips parts, which lie beside scenarios; a part named on the command line is a problem. */
function isScenario(written: FileValue<unknown>, file: FoundFile, problems: Problem[]): boolean {
  if (kindOf(written.value) !== 'partial') return true
  if (file.named) problems.push(problemAt(written, ['kind'], 'is a part: it runs where a scenario includes it'))
  return false
}

async function finish(
  values: readonly FileValue<unknown>[],
  options: LoadOptions,
  problems: Problem[],
): Promise<LoadedScenario[]> {
  const parts = createPartReader(options, options.nodeVersion, problems)
  const done = await compileAll(values, parts, problems)
  if (problems.length > 0) throw new ConfigError(inOrder(problems))
  return done.map(({ one, plans }) => ({ ...one, warnings: hintsOf(plans) }))
}

/** Parses and compiles scenarios; adds what is wrong to `problems`. */
async function compileAll(values: readonly FileValue<unknown>[], parts: PartReader, problems: Problem[]) {
  const loaded: LoadedScenario[] = []
  for (const value of values) {
    const one = parseValue(ScenarioFile, value)
    if (Array.isArray(one)) problems.push(...one)
    else loaded.push(await withParts(one, parts))
  }
  const diagnostics = new Diagnostics()
  const done = loaded.map(one => ({ one, plans: compileInto(one, diagnostics) }))
  problems.push(...diagnostics.problems, ...sameNames(done))
  return done
}

/** Sorts by file, in the order in which they were read, and by line. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map(({ file }) => file))]
  return files.flatMap(file => byLine(problems.filter(problem => problem.file === file)))
}

async function withParts(written: FileValue<ScenarioFile>, parts: PartReader): Promise<LoadedScenario> {
  const { steps, finally: last = [], name } = written.value
  await parts.read(written, ['steps'], steps)
  await parts.read(written, ['finally'], last)
  return { ...written, name, place: placeOf(written, ['name']), parts: parts.all, warnings: [] }
}

/** Requires unique names, because reports and `--only` identify scenarios by name. */
function sameNames(done: readonly { one: LoadedScenario; plans: readonly Plan[] }[]): Problem[] {
  const taken = new Map<string, LoadedScenario>()
  return done.flatMap(({ one, plans }) =>
    plans.flatMap(({ name }) => {
      const other = taken.get(name)
      if (other === undefined) taken.set(name, one)
      return other === undefined
        ? []
        : [
            problemAt(
              one,
              ['name'],
              `${JSON.stringify(name)} is taken: ${other.place === null ? other.file : `${other.place.file}:${other.place.line}`} has it`,
            ),
          ]
    }),
  )
}
