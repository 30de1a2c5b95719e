/** Reads one file into values, checks them against a schema, and reads the files of steps that scenarios include. */

import { dirname, extname, relative, resolve } from 'node:path'
import type * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { moduleSource, parseSource, parseSources, type Source, schemaProblems } from '../../../base/files/document.ts'
import { ConfigError, type Problem, problemOf } from '../../../base/files/errors.ts'
import { isDataFile, loadDefault, type NamedFile, readText } from '../../../base/files/user-files.ts'
import { isMap } from '../../../base/objects.ts'
import { ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import { type FileValue, PartFile, type Path, problemAt } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import { BUILTIN, builtinName, type FileFolders } from './find.ts'

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

export const kindOf = (value: unknown): unknown => (isMap(value) ? value.kind : undefined)

/** The parsed value, or its problems in the order of the file. */
export function parseValue<Schema extends z.ZodMiniType>(
  schema: Schema,
  written: FileValue<unknown>,
): FileValue<z.infer<Schema>> | Problem[] {
  const read = schema.safeParse(written.value, ZOD_MESSAGES)
  if (read.success) return { ...written, value: read.data }
  if (isDriver(written.value))
    return [problemAt(written, [], 'is an agent driver and not a scenario: pass it with --agent-driver')]
  return schemaProblems(written.source, read.error.issues, written.value, schema, written.at)
}

/** An agent driver gets one problem instead of one for each of its keys. */
const isDriver = (value: unknown): boolean =>
  isMap(value) && !('steps' in value) && ['accept', 'says', 'inbox'].some(verb => verb in value)

export type PartReader = ReturnType<typeof createPartReader>

/** Reads the included files of steps; `all` has them by path, `files` names also those that cannot be read. */
export function createPartReader({ cwd, builtin = null }: FileFolders, nodeVersion: string, problems: Problem[]) {
  const all = new Map<string, FileValue<PartFile>>()
  const files: NamedFile[] = []
  /** How many files include a file inside each other, where it is read first. */
  const depths = new Map<string, number>()
  /** Includes files that cannot be read, so that each is reported once. */
  const tried = new Map<string, Promise<void>>()

  async function take(path: string, written: FileValue<unknown>, at: Path): Promise<void> {
    const isBuiltin = builtin !== null && written.file.startsWith(BUILTIN)
    const fromHere = relative(cwd, path)
    const name = isBuiltin ? builtinName(path, builtin) : fromHere.startsWith('..') ? path : fromHere
    const file = { name, path, extension: extname(path).toLowerCase() }
    files.push(file)
    try {
      const part = partOf(await valuesIn(file, nodeVersion), file.name)
      if (Array.isArray(part)) return void problems.push(...part)
      all.set(path, part)
      await read(part, ['steps'], part.value.steps)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...whyNot(written, at, file.name, error.problems))
    }
  }

  /** Reads everything these steps include, directly or not. */
  async function read(written: FileValue<unknown>, path: Path, steps: readonly Step[]): Promise<void> {
    const isData = written.source.document !== null
    const nested = (depths.get(written.path) ?? 0) + 1
    for (const { file, at } of includesIn(steps, path)) {
      const target = resolve(dirname(written.path), file)
      if (isData && !isDataFile({ extension: extname(target).toLowerCase() })) {
        problems.push(
          problemAt(
            written,
            at,
            'must end in .yaml, .yml or .json: data includes data, and only a module can include a module',
          ),
        )
        continue
      }
      if (tried.has(target)) continue
      const tooMany =
        tried.size >= BUDGETS.includes
          ? `is one file too many: at most ${BUDGETS.includes} files can be included`
          : null
      const why =
        nested > BUDGETS.includeNesting
          ? `is included in more than ${BUDGETS.includeNesting} files inside each other`
          : tooMany
      if (why !== null) {
        problems.push(problemAt(written, at, why))
        return
      }
      depths.set(target, nested)
      const taken = take(target, written, at)
      tried.set(target, taken)
      await taken
    }
  }
  return { all, files, read }
}

/** Reports a file that cannot be read at the include that names it, and problems inside at their own place. */
function whyNot(written: FileValue<unknown>, at: Path, name: string, found: readonly Problem[]): Problem[] {
  return found.map(one => (one.at === name ? problemAt(written, at, `${name} ${one.message}`) : one))
}

function partOf(values: readonly FileValue<unknown>[], name: string): FileValue<PartFile> | Problem[] {
  const [only] = values
  if (only === undefined || values.length > 1) return [problemOf(name, 'must hold one part: kind: partial with steps')]
  if (kindOf(only.value) === 'partial') return parseValue(PartFile, only)
  return [problemAt(only, [], 'is included, so it must begin with kind: partial (and version: 1)')]
}

interface Include {
  readonly file: string
  readonly at: Path
}

function includesIn(steps: readonly Step[], path: Path): Include[] {
  return steps.flatMap((step, index) => {
    const at = [...path, index]
    if (typeof step.include === 'string') return [{ file: step.include, at: [...at, 'include'] }]
    if (step.include !== undefined) return [{ file: step.include.file, at: [...at, 'include', 'file'] }]
    if (step.repeat !== undefined) return includesIn(step.repeat.steps, [...at, 'repeat', 'steps'])
    if (step.parallel === undefined) return []
    if (!Array.isArray(step.parallel)) return includesIn(step.parallel.steps, [...at, 'parallel', 'steps'])
    return step.parallel.flatMap((branch, number) => includesIn(branch, [...at, 'parallel', number]))
  })
}
