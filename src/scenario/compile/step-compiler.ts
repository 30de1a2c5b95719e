/** Compiles one step: fills in what is known before the play and collects problems. */
import type { Problem } from '../../files/errors.ts'
import { type Path, problemAt, type Written } from '../format/loaded.ts'
import { isFilled, type Kind } from '../format/values.ts'
import { interpolate, MISSING, namesIn, valueAt } from '../interpolation.ts'
import { RESERVED_NAMES } from './names.ts'
import { firstWord, type Known } from './templates.ts'
import { TEXTS } from './texts.ts'

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
  readonly written: Written<unknown>
  readonly path: Path
  readonly known: Known
  complain(path: Path, message: string, of?: 'key' | 'value'): void
  /** The value of something that must be known before the play; `otherwise` when it is not there or wrong. */
  held<Value, Default>(kind: Kind<Value>, value: unknown, path: Path, otherwise: Default): Value | Default
  /** A text that must be known before the play. */
  words(text: string, path: Path): string
}

export function createStepCompiler(
  written: Written<unknown>,
  path: Path,
  known: Known,
  diagnostics: Diagnostics,
): StepCompiler {
  const complain = (inner: Path, message: string, of: 'key' | 'value' = 'value') =>
    diagnostics.add(problemAt(written, [...path, ...inner], message, of))
  return {
    written,
    path,
    known,
    complain,
    held(kind, value, inner, otherwise) {
      if (value === undefined) return otherwise
      const filled = isFilled(value) ? valueAt(value.slice(2, -1).trim(), known.scope) : value
      const read = filled === MISSING ? undefined : kind.parse(filled)
      if (read !== undefined) return read
      complain(inner, filled === MISSING ? TEXTS.tooLate(String(value)) : TEXTS.unexpected(kind.expected, filled))
      return otherwise
    },
    words(text, inner) {
      const open = namesIn(text).find(name => valueAt(name, known.scope) === MISSING)
      if (open === undefined) return String(interpolate(text, known.scope))
      if (isDefined(open, known)) complain(inner, TEXTS.tooLate(`$(${open})`))
      return text
    },
  }
}

/** An undefined name is reported with the other unknown names. */
const isDefined = (name: string, { open }: Known) =>
  Object.hasOwn(open, firstWord(name)) || RESERVED_NAMES.includes(firstWord(name))
