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
  const { value } = written
  const read = schema.safeParse(value, ZOD_MESSAGES)
  if (read.success) return { ...written, value: read.data }
  // An agent driver gets one problem instead of one for each of its keys.
  if (isMap(value) && !('steps' in value) && ['accept', 'says', 'inbox'].some(verb => verb in value))
    return [problemAt(written, [], 'is an agent driver and not a scenario: pass it with --agent-driver')]
  return schemaProblems(written.source, read.error.issues, value, schema, written.at)
}

/** Reads the files of steps that scenarios include, directly or not. */
export class PartReader {
  /** By path. */
  readonly all = new Map<string, FileValue<PartFile>>()
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
      const target = resolve(dirname(written.path), file)
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
    if (builtin !== null && written.file.startsWith(BUILTIN)) name = builtinName(path, builtin)
    const file = { name, path, extension: extname(path).toLowerCase() }
    this.files.push(file)
    try {
      const part = partOf(await valuesIn(file, this.#nodeVersion), name)
      if (Array.isArray(part)) {
        this.#problems.push(...part)
        return
      }
      this.all.set(path, part)
      await this.read(part, ['steps'], part.value.steps)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      // A file that cannot be read is reported at the include that names it, and problems inside at their own place.
      for (const one of error.problems)
        this.#problems.push(one.at === name ? problemAt(written, at, `${name} ${one.message}`) : one)
    }
  }
}

function partOf(values: readonly FileValue<unknown>[], name: string): FileValue<PartFile> | Problem[] {
  const [only] = values
  if (only === undefined || values.length > 1) return [problemOf(name, 'must hold one part: kind: partial with steps')]
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
