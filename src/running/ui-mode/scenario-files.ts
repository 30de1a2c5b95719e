/** Reads the scenario files of UI mode, and reads again those that have changed. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, createProblem, type Problem } from '../../base/files/errors.ts'
import type { NamedFile } from '../../base/files/user-files.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { type FoundFile, findFiles, foldersOf } from '../../evaluation/scenario/load/find.ts'
import { type LoadedFile, type LoadOptions, loadFile } from '../../evaluation/scenario/load/load.ts'
import { type Plan, placeText } from '../../evaluation/scenario/plan.ts'
import { type SelectedScenario, type Selection, select } from '../runner/schedule.ts'
import type { CatalogueFile, FileProblem } from './protocol.ts'

export interface ScenarioFilesOptions extends LoadOptions {
  readonly patterns: readonly string[]
  readonly selection: Selection
  /** Called with the plans of each file that was read. */
  onPlans(plans: readonly Plan[]): void
}

interface ReadFile extends LoadedFile {
  /** Changes with the file and with what it includes. */
  readonly stamp: string
}

export function createScenarioFiles(options: ScenarioFilesOptions) {
  let current: readonly ReadFile[] = []
  let unreadable: readonly Problem[] = []
  return {
    /** Reads new and changed files. Resolves with the names of the files that were added, changed or removed. */
    async refresh(): Promise<string[]> {
      const matches = findEach(options)
      const before = new Map(current.map(scenarioFile => [scenarioFile.file.path, scenarioFile]))
      const read: ReadFile[] = []
      for (const file of matches.files) read.push(await readAgain(file, before.get(file.path), options))
      current = [...read, ...removedFiles(current, read)]
      unreadable = matches.problems
      return current.flatMap(({ file, stamp }) => (before.get(file.path)?.stamp === stamp ? [] : [file.name]))
    },
    /** In the order of the files. A broken file has the scenarios that it had before. */
    scenarios(): SelectedScenario[] {
      const plans = [...plansByName(current).values()].map(({ plan }) => plan)
      return select(plans, options.selection)
    },
    /** Whether the file of this scenario can be run as it is now. */
    isRunnable: ({ name }: Plan): boolean => plansByName(current).get(name)?.from.problems.length === 0,
    files(): CatalogueFile[] {
      const broken = unreadable.map(problem => ({
        name: problem.file ?? problem.at,
        problems: [describeProblem(problem, problem.at)],
      }))
      return [...describeFiles(current), ...broken]
    },
    /** A scenario file, or a part that one includes, by its name. */
    find(name: string): NamedFile | undefined {
      return current.flatMap(({ file, includes }) => [file, ...includes]).find(file => file.name === name)
    },
    /** The folders in which a change may concern a file. */
    folders(): string[] {
      const parts = current.flatMap(({ includes }) => includes.map(({ path }) => dirname(path)))
      return [...new Set([...foldersOf(options.patterns, options), ...parts])]
    },
  }
}

/** The files of all patterns; a pattern that matches nothing is a problem. */
function findEach(options: ScenarioFilesOptions): { files: FoundFile[]; problems: Problem[] } {
  const problems: Problem[] = []
  const files = new Map<string, FoundFile>()
  for (const pattern of options.patterns) {
    try {
      for (const file of findFiles([pattern], options))
        if (file.named || !files.has(file.path)) files.set(file.path, file)
    } catch (error) {
      problems.push(...(error instanceof ConfigError ? error.problems : [{ at: pattern, message: messageOf(error) }]))
    }
  }
  return { files: [...files.values()], problems }
}

/** Reads a file that has changed. One that is broken now keeps the scenarios that it had. */
async function readAgain(file: FoundFile, earlier: ReadFile | undefined, options: ScenarioFilesOptions) {
  if (earlier !== undefined && earlier.stamp === stampOf(earlier)) return earlier
  const loaded = await loadFile(file, options)
  options.onPlans(loaded.plans)
  const plans = loaded.problems.length > 0 ? (earlier?.plans ?? []) : loaded.plans
  return { ...loaded, plans, stamp: stampOf(loaded) }
}

/** Removed files stay in the list with the scenarios that no other file has now, because these have outcomes. */
function removedFiles(before: readonly ReadFile[], read: readonly ReadFile[]): ReadFile[] {
  const paths = new Set(read.map(({ file }) => file.path))
  const names = new Set(read.flatMap(({ plans }) => plans.map(({ name }) => name)))
  const removed: ReadFile[] = []
  for (const scenarioFile of before) {
    const plans = scenarioFile.plans.filter(({ name }) => !names.has(name))
    if (paths.has(scenarioFile.file.path) || plans.length === 0) continue
    removed.push({
      ...scenarioFile,
      plans,
      stamp: stampOf(scenarioFile),
      problems: [createProblem(scenarioFile.file.name, 'was removed.')],
    })
  }
  return removed
}

function stampOf({ file, includes }: LoadedFile): string {
  let stamp = ''
  for (const { path } of [file, ...includes]) {
    const stats = statSync(path, { throwIfNoEntry: false })
    stamp += stats === undefined ? '\n' : `${stats.ino} ${stats.size} ${stats.mtimeMs}\n`
  }
  return stamp
}

/** Reports identify scenarios by name, so only the first one of a name is run. */
function plansByName(files: readonly ReadFile[]): Map<string, { readonly plan: Plan; readonly from: ReadFile }> {
  const byName = new Map<string, { readonly plan: Plan; readonly from: ReadFile }>()
  for (const from of files)
    for (const plan of from.plans) if (!byName.has(plan.name)) byName.set(plan.name, { plan, from })
  return byName
}

/** Leaves out files that are no scenarios, such as parts beside them. */
function describeFiles(files: readonly ReadFile[]): CatalogueFile[] {
  const byName = plansByName(files)
  const described: CatalogueFile[] = []
  for (const scenarioFile of files) {
    const problems = scenarioFile.problems.map(problem => describeProblem(problem, scenarioFile.file.name))
    for (const { name, place, file } of scenarioFile.plans) {
      const first = byName.get(name)
      if (first === undefined || first.from === scenarioFile) continue
      const where = first.plan.place === null ? first.plan.file : `${first.plan.place.file}:${first.plan.place.line}`
      const message = `${JSON.stringify(name)} is taken: ${where} has it`
      const at = place === null ? file : placeText(place)
      problems.push({ at, message, excerpt: null, file, line: place?.line ?? null })
    }
    if (scenarioFile.plans.length > 0 || problems.length > 0) described.push({ name: scenarioFile.file.name, problems })
  }
  return described
}

function describeProblem({ at, message, excerpt, file, line }: Problem, fileName: string): FileProblem {
  return { at, message, excerpt: excerpt ?? null, file: file ?? fileName, line: line ?? null }
}
