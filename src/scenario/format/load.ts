/** Scenario files of all forms, checked as a whole: every problem of every file at once. */
import { resolve } from 'node:path'
import { moduleSource } from '../../source/document.ts'
import { ConfigError, type Problem } from '../../source/errors.ts'
import { compileInto } from '../compile/compile.ts'
import { Complaints } from '../compile/here.ts'
import { hintsOf } from '../compile/hints.ts'
import type { Plan } from '../plan.ts'
import { type FoundFile, findFiles } from './find.ts'
import { type LoadedScenario, placeOf, problemAt, type Written } from './loaded.ts'
import { createParts, type Parts } from './parts.ts'
import { checked, kindOf, valuesIn } from './read.ts'
import { ScenarioFile } from './scenario.ts'

export interface LoadOptions {
  readonly cwd: string
  readonly nodeVersion: string
}

/** Of files, folders and patterns. Throws `ConfigError`. */
export async function loadScenarios(patterns: readonly string[], options: LoadOptions): Promise<LoadedScenario[]> {
  const problems: Problem[] = []
  const values = await valuesOf(findFiles(patterns, options.cwd), options, problems)
  return finish(values, options, problems)
}

/** Scenarios that are values already; what they include is found from `cwd`. Throws `ConfigError`. */
export async function loadValues(all: readonly unknown[], options: LoadOptions): Promise<LoadedScenario[]> {
  const source = moduleSource(IN_CODE, all)
  const path = resolve(options.cwd, IN_CODE)
  return finish(
    all.map((value, index) => ({ file: IN_CODE, path, source, at: [index], value })),
    options,
    [],
  )
}

/** Stands for the file of what was written in code. */
const IN_CODE = 'scenario'

async function valuesOf(files: readonly FoundFile[], { nodeVersion }: LoadOptions, problems: Problem[]) {
  const values: Written<unknown>[] = []
  for (const file of files) {
    try {
      const found = await valuesIn(file, nodeVersion)
      if (file.named && found.length === 0) problems.push({ at: file.name, message: 'has no scenario in it' })
      values.push(...found.filter(one => isScenario(one, file, problems)))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  return values
}

/** Parts lie beside scenarios, and are passed over unless somebody asks for one to be played. */
function isScenario(written: Written<unknown>, file: FoundFile, problems: Problem[]): boolean {
  if (kindOf(written.value) !== 'partial') return true
  if (file.named) problems.push(problemAt(written, ['kind'], 'is a part: it is played where a scenario includes it'))
  return false
}

async function finish(
  values: readonly Written<unknown>[],
  options: LoadOptions,
  problems: Problem[],
): Promise<LoadedScenario[]> {
  const parts = createParts(options.cwd, options.nodeVersion, problems)
  const loaded: LoadedScenario[] = []
  for (const value of values) {
    const one = checked(ScenarioFile, value) as Written<ScenarioFile> | Problem[]
    if (Array.isArray(one)) problems.push(...one)
    else loaded.push(await withParts(one, parts))
  }
  const complaints = new Complaints()
  const done = loaded.map(one => ({ one, plans: compileInto(one, complaints) }))
  problems.push(...complaints.problems, ...sameNames(done))
  if (problems.length > 0) throw new ConfigError(inOrder(problems))
  return done.map(({ one, plans }) => ({ ...one, warnings: hintsOf(plans) }))
}

/** Files as they were met, each from top to bottom. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const places = problems.map(problem => {
    const [, file = problem.at, line = '0'] = /^(.*?):(\d+):\d+/.exec(problem.at) ?? []
    return { problem, file, line: Number(line) }
  })
  const files = [...new Set(places.map(({ file }) => file))]
  const byPlace = places.sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line)
  return byPlace.map(({ problem }) => problem)
}

async function withParts(written: Written<ScenarioFile>, parts: Parts): Promise<LoadedScenario> {
  const { steps, finally: last = [], name } = written.value
  await parts.read(written, ['steps'], steps)
  await parts.read(written, ['finally'], last)
  return { ...written, name, place: placeOf(written, ['name']), parts: parts.all, warnings: [] }
}

/** Reports and `--only` tell scenarios apart by name. */
function sameNames(done: readonly { one: LoadedScenario; plans: readonly Plan[] }[]): Problem[] {
  const taken = new Map<string, LoadedScenario>()
  return done.flatMap(({ one, plans }) =>
    plans.flatMap(({ name }) => {
      const other = taken.get(name)
      if (other === undefined) taken.set(name, one)
      return other === undefined
        ? []
        : [problemAt(one, ['name'], `${JSON.stringify(name)} is taken: ${whereIs(other)} has it`)]
    }),
  )
}

const whereIs = ({ file, place }: LoadedScenario) => (place === null ? file : `${place.file}:${place.line}`)
