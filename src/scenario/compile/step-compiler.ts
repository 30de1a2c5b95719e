/** Reads values of one step that must be known before the run, and collects problems. */
import type { Problem } from '../../files/errors.ts'
import { type FileValue, type Path, problemAt } from '../format/loaded.ts'
import { isPlaceholder, type ValueType } from '../format/values.ts'
import { firstWord, interpolate, MISSING, namesIn, valueAt } from '../interpolation.ts'
import { RESERVED_NAMES } from './names.ts'
import type { CompileScope } from './templates.ts'
import { COMPILE_TEXTS } from './texts.ts'

/** Problems in the order in which they are found; a problem of repeated steps is kept once. */
export class Diagnostics {
  readonly problems: Problem[] = []
  readonly #seen = new Set<string>()

  add(problem: Problem): void {
    const key = `${problem.at}\n${problem.message}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.problems.push(problem)
  }
}

export interface StepCompiler {
  readonly written: FileValue<unknown>
  readonly path: Path
  readonly scope: CompileScope
  report(path: Path, message: string, of?: 'key' | 'value'): void
  /** A value that must be known before the run; `otherwise` when it is missing or wrong. */
  staticValue<Value, Default>(kind: ValueType<Value>, value: unknown, path: Path, otherwise: Default): Value | Default
  /** A text that must be known before the run. */
  staticText(text: string, path: Path): string
}

export function createStepCompiler(
  written: FileValue<unknown>,
  path: Path,
  scope: CompileScope,
  diagnostics: Diagnostics,
): StepCompiler {
  const report = (inner: Path, message: string, of: 'key' | 'value' = 'value') =>
    diagnostics.add(problemAt(written, [...path, ...inner], message, of))
  return {
    written,
    path,
    scope,
    report,
    staticValue(kind, value, inner, otherwise) {
      if (value === undefined) return otherwise
      const filled = isPlaceholder(value) ? valueAt(value.slice(2, -1).trim(), scope.values) : value
      const read = filled === MISSING ? undefined : kind.parse(filled)
      if (read !== undefined) return read
      report(
        inner,
        filled === MISSING ? COMPILE_TEXTS.tooLate(String(value)) : COMPILE_TEXTS.unexpected(kind.expected, filled),
      )
      return otherwise
    },
    staticText(text, inner) {
      const unknown = namesIn(text).find(name => valueAt(name, scope.values) === MISSING)
      if (unknown === undefined) return String(interpolate(text, scope.values))
      if (isDefined(unknown, scope)) report(inner, COMPILE_TEXTS.tooLate(`$(${unknown})`))
      return text
    },
  }
}

/** An undefined name is reported with the other unknown names. */
const isDefined = (name: string, { deferred }: CompileScope) =>
  Object.hasOwn(deferred, firstWord(name)) || RESERVED_NAMES.includes(firstWord(name))
