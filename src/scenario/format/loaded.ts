/** Describes a loaded scenario: its value, the places of its parts, and the files it includes. */
import { fieldName } from '../../contract/explain-issues.ts'
import type { Source } from '../../files/document.ts'
import type { Problem } from '../../files/errors.ts'
import type { Place } from '../plan.ts'
import type { PartFile, ScenarioFile } from './scenario.ts'

/** A value of a file; `at` is the path to it when the file holds several values. */
export interface FileValue<Value> {
  /** As the user would write it. */
  readonly file: string
  readonly path: string
  readonly source: Source
  readonly at: readonly PropertyKey[]
  readonly value: Value
}

/** Something an author should change; nothing fails because of it. */
export interface Hint {
  readonly place: Place | null
  /** `virtual-wait-before-none`. */
  readonly rule: string
  readonly message: string
}

export interface LoadedScenario extends FileValue<ScenarioFile> {
  readonly name: string
  readonly place: Place | null
  /** Every file of steps it may include, by path. */
  readonly parts: ReadonlyMap<string, FileValue<PartFile>>
  readonly warnings: readonly Hint[]
}

export type Path = readonly PropertyKey[]

export function placeOf({ file, source, at }: FileValue<unknown>, path: Path): Place | null {
  const found = source.place([...at, ...path], 'value')
  return found === null ? null : { file, line: found.line, column: found.column }
}

export function problemAt(
  written: FileValue<unknown>,
  path: Path,
  message: string,
  of: 'key' | 'value' = 'value',
): Problem {
  return written.source.problem([...written.at, ...path], of, fieldName([...written.at, ...path]), message)
}
