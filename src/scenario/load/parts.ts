/** Reads the files of steps that scenarios include, each once. */
import { dirname, extname, relative, resolve } from 'node:path'
import { ConfigError, type Problem, problemOf } from '../../files/errors.ts'
import { defineTexts } from '../../text/texts.ts'
import type { FileValue, Path } from '../format/loaded.ts'
import { problemAt } from '../format/loaded.ts'
import { PartFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import { kindOf, parseValue, valuesIn } from './read.ts'

const TEXTS = defineTexts({
  notOne: 'must hold one part: kind: partial with steps',
  noPart: 'is included, so it must begin with kind: partial (and version: 1)',
})

export interface PartReader {
  /** By path. */
  readonly all: ReadonlyMap<string, FileValue<PartFile>>
  /** Reads everything these steps include, directly or not. */
  read(written: FileValue<unknown>, path: Path, steps: readonly Step[]): Promise<void>
}

export function createPartReader(cwd: string, nodeVersion: string, problems: Problem[]): PartReader {
  const all = new Map<string, FileValue<PartFile>>()
  /** Includes files that cannot be read, so that each is reported once. */
  const tried = new Map<string, Promise<void>>()

  async function take(path: string, written: FileValue<unknown>, at: Path): Promise<void> {
    const name = relative(cwd, path)
    const file = { name: name.startsWith('..') ? path : name, path, extension: extname(path).toLowerCase() }
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

  async function read(written: FileValue<unknown>, path: Path, steps: readonly Step[]): Promise<void> {
    for (const { file, at } of includesIn(steps, path)) {
      const target = resolve(dirname(written.path), file)
      if (tried.has(target)) continue
      const taken = take(target, written, at)
      tried.set(target, taken)
      await taken
    }
  }
  return { all, read }
}

/** Reports a file that cannot be read at the include that names it, and problems inside at their own place. */
function whyNot(written: FileValue<unknown>, at: Path, name: string, found: readonly Problem[]): Problem[] {
  return found.map(one => (one.at === name ? problemAt(written, at, `${name} ${one.message}`) : one))
}

function partOf(values: readonly FileValue<unknown>[], name: string): FileValue<PartFile> | Problem[] {
  const [only] = values
  if (only === undefined || values.length > 1) return [problemOf(name, TEXTS.notOne)]
  if (kindOf(only.value) === 'partial') return parseValue(PartFile, only)
  return [problemAt(only, [], TEXTS.noPart)]
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
