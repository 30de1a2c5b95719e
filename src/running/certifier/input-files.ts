/** Reads the YAML and JSON files of a certification by their schemas. */
import { extname, resolve } from 'node:path'
import type * as z from 'zod/mini'
import { parseSource, type Source, schemaProblems } from '../../base/files/document.ts'
import { ConfigError, fileProblem } from '../../base/files/errors.ts'
import { isDataFile, readText } from '../../base/files/user-files.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'

export interface InputFile<Value> {
  readonly value: Value
  /** For problems that the schema does not find. */
  readonly source: Source
}

/** Throws `ConfigError` with the place of every problem. `name` is relative to `cwd`. */
export function readInputFile<Value>(name: string, cwd: string, schema: z.ZodMiniType<Value>): InputFile<Value> {
  const file = { name, path: resolve(cwd, name), extension: extname(name).toLowerCase() }
  if (!isDataFile(file)) throw fileProblem(name, 'must end in .yaml, .yml or .json')
  const source = parseSource(name, readText(file), file.extension === '.json')
  const value = source.value ?? {}
  const read = schema.safeParse(value, ZOD_MESSAGES)
  if (read.success) return { value: read.data, source }
  throw new ConfigError(schemaProblems(source, read.error.issues, value, schema))
}
