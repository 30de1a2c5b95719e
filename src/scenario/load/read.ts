/** Reads one file into values and checks them against a schema. */
import type * as z from 'zod/mini'
import { ZOD_MESSAGES } from '../../contract/explain-issues.ts'
import { moduleSource, parseSource, parseSources, type Source, schemaProblems } from '../../files/document.ts'
import type { Problem } from '../../files/errors.ts'
import { loadDefault, type NamedFile, readText } from '../../files/user-files.ts'
import { defineTexts } from '../../text/texts.ts'
import { type FileValue, type Path, problemAt } from '../format/loaded.ts'

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

export const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined

/** The parsed value, or its problems in the order of the file. */
export function parseValue<Schema extends z.ZodMiniType>(
  schema: Schema,
  written: FileValue<unknown>,
): FileValue<z.infer<Schema>> | Problem[] {
  const read = schema.safeParse(written.value, ZOD_MESSAGES)
  if (read.success) return { ...written, value: read.data }
  if (isDriver(written.value)) return [problemAt(written, [], TEXTS.driver)]
  return schemaProblems(written.source, read.error.issues, written.value, schema, written.at)
}

/** One problem instead of one for each key of the driver. */
const TEXTS = defineTexts({ driver: 'is an agent driver and not a scenario: pass it with --agent-driver' })
const isDriver = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !('steps' in value) &&
  ['accept', 'says', 'inbox'].some(verb => verb in value)
