/** One file into values that fit the schema; everything wrong with it as problems. */
import type * as z from 'zod/mini'
import { explainIssues } from '../../contract/explain-issues.ts'
import { OWN_WORDS } from '../../contract/own-words.ts'
import { moduleSource, parseSource, parseSources, type Source } from '../../source/document.ts'
import { byLine, type Problem } from '../../source/errors.ts'
import { loadDefault, type NamedFile, readText } from '../../source/files.ts'
import { type Path, problemAt, type Written } from './loaded.ts'

const EXAMPLE = "export default defineScenario({ name: 'Happy path' }, [press('handover'), expectCall('start')])"

/** The values of a file: documents of YAML, the value of JSON, what a module exports. Throws `ConfigError`. */
export async function valuesIn(file: NamedFile, nodeVersion: string): Promise<Written<unknown>[]> {
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

export const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { kind?: unknown }).kind : undefined

/** The value by its schema, or what is wrong with it in the order of the file. */
export function checked<Schema extends z.ZodMiniType>(
  schema: Schema,
  written: Written<unknown>,
): Written<z.infer<Schema>> | Problem[] {
  const read = schema.safeParse(written.value, OWN_WORDS)
  if (read.success) return { ...written, value: read.data as z.infer<Schema> }
  if (isDriver(written.value)) return [problemAt(written, [], A_DRIVER)]
  const findings = explainIssues(read.error.issues, written.value, schema)
  return byLine(findings.map(({ path, message, wrong }) => problemAt(written, path, message, wrong)))
}

/** The one mistake, instead of one for each of its keys. */
const A_DRIVER = 'is an agent driver, and no scenario: give it with --agent-driver'
const isDriver = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !('steps' in value) &&
  ['accept', 'says', 'inbox'].some(verb => verb in value)
