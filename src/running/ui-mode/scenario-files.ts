/** Reads the scenario files of UI mode, and reads again those that have changed. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, type Problem, problemOf } from '../../base/files/errors.ts'
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

export interface ScenarioFiles {
  /** Reads new and changed files. Resolves with the names of the files that were added, changed or removed. */
  refresh(): Promise<readonly string[]>
  /** In the order of the files. A broken file has the scenarios that it had before. */
  scenarios(): readonly SelectedScenario[]
  /** Whether the file of this scenario can be run as it is now. */
  isRunnable(plan: Plan): boolean
  files(): readonly CatalogueFile[]
  /** A scenario file, or a part that one includes, by its name. */
  find(name: string): NamedFile | undefined
  /** The folders in which a change may concern a file. */
  folders(): readonly string[]
}

interface KnownFile extends LoadedFile {
  /** Changes with the file and with what it includes. */
  readonly stamp: string
}

export function createScenarioFiles(options: ScenarioFilesOptions): ScenarioFiles {
  let known: readonly KnownFile[] = []
  let unreadable: readonly Problem[] = []
  return {
    async refresh() {
      const found = findEach(options)
      const before = new Map(known.map(one => [one.file.path, one]))
      const read = await readAll(found.files, before, options)
      known = [...read, ...removedFiles(known, read)]
      unreadable = found.problems
      return known.flatMap(({ file, stamp }) => (before.get(file.path)?.stamp === stamp ? [] : [file.name]))
    },
    scenarios: () =>
      select(
        [...ownersByName(known)].map(([, { plan }]) => plan),
        options.selection,
      ),
    isRunnable: plan => ownersByName(known).get(plan.name)?.owner.problems.length === 0,
    files: () => [...describeFiles(known), ...unreadable.map(describePattern)],
    find: name => known.flatMap(({ file, includes }) => [file, ...includes]).find(file => file.name === name),
    folders() {
      const parts = known.flatMap(({ includes }) => includes.map(({ path }) => dirname(path)))
      return [...new Set([...foldersOf(options.patterns, options), ...parts])]
    },
  }
}

/** The files of all patterns; a pattern that matches nothing is a problem. */
function findEach(options: ScenarioFilesOptions): { files: FoundFile[]; problems: Problem[] } {
  const problems: Problem[] = []
  const found = new Map<string, FoundFile>()
  for (const pattern of options.patterns) {
    try {
      for (const file of findFiles([pattern], options))
        if (file.named || !found.has(file.path)) found.set(file.path, file)
    } catch (error) {
      problems.push(...(error instanceof ConfigError ? error.problems : [{ at: pattern, message: messageOf(error) }]))
    }
  }
  return { files: [...found.values()], problems }
}

async function readAll(
  found: readonly FoundFile[],
  before: ReadonlyMap<string, KnownFile>,
  options: ScenarioFilesOptions,
): Promise<KnownFile[]> {
  const read: KnownFile[] = []
  for (const file of found) {
    const earlier = before.get(file.path)
    const isSame = earlier !== undefined && earlier.stamp === stampOf(earlier)
    read.push(isSame ? earlier : await readFile(file, earlier, options))
  }
  return read
}

/** A file that is broken now keeps the scenarios that it had. */
async function readFile(file: FoundFile, earlier: KnownFile | undefined, options: ScenarioFilesOptions) {
  const loaded = await loadFile(file, options)
  options.onPlans(loaded.plans)
  const plans = loaded.problems.length > 0 ? (earlier?.plans ?? []) : loaded.plans
  return { ...loaded, plans, stamp: stampOf(loaded) }
}

/** Removed files stay in the list with the scenarios that no other file has now, because these have outcomes. */
function removedFiles(known: readonly KnownFile[], read: readonly KnownFile[]): KnownFile[] {
  const paths = new Set(read.map(({ file }) => file.path))
  const names = new Set(read.flatMap(({ plans }) => plans.map(({ name }) => name)))
  return known
    .filter(({ file }) => !paths.has(file.path))
    .map(one => ({ ...one, plans: one.plans.filter(({ name }) => !names.has(name)) }))
    .filter(({ plans }) => plans.length > 0)
    .map(one => ({ ...one, stamp: stampOf(one), problems: [problemOf(one.file.name, 'was removed.')] }))
}

const stampOf = ({ file, includes }: LoadedFile): string => [file, ...includes].map(stampOfFile).join('\n')

function stampOfFile({ path }: NamedFile): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`
}

interface OwnedPlan {
  readonly plan: Plan
  readonly owner: KnownFile
}

/** Reports identify scenarios by name, so only the first one of a name is run. */
function ownersByName(known: readonly KnownFile[]): Map<string, OwnedPlan> {
  const byName = new Map<string, OwnedPlan>()
  for (const owner of known)
    for (const plan of owner.plans) if (!byName.has(plan.name)) byName.set(plan.name, { plan, owner })
  return byName
}

/** Leaves out files that are no scenarios, such as parts beside them. */
function describeFiles(known: readonly KnownFile[]): CatalogueFile[] {
  const owners = ownersByName(known)
  return known.flatMap(one => {
    const taken = one.plans.flatMap(plan => {
      const first = owners.get(plan.name)
      return first === undefined || first.owner === one ? [] : [takenProblem(plan, first.plan)]
    })
    const problems = [...one.problems, ...taken].map(problem => describeProblem(problem, one.file.name))
    return one.plans.length === 0 && problems.length === 0 ? [] : [{ name: one.file.name, problems }]
  })
}

const takenProblem = (plan: Plan, first: Plan): Problem => ({
  at: plan.place === null ? plan.file : placeText(plan.place),
  message: `${JSON.stringify(plan.name)} is taken: ${first.place === null ? first.file : `${first.place.file}:${first.place.line}`} has it`,
  file: plan.file,
  ...(plan.place === null ? {} : { line: plan.place.line }),
})

const describeProblem = ({ at, message, excerpt, file, line }: Problem, own: string): FileProblem => ({
  at,
  message,
  excerpt: excerpt ?? null,
  file: file ?? own,
  line: line ?? null,
})

const describePattern = (problem: Problem): CatalogueFile => ({
  name: problem.file ?? problem.at,
  problems: [describeProblem(problem, problem.at)],
})
