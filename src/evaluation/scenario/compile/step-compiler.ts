/** Reads values that are known before the run, interpolates `$(...)` with them, and collects problems. */
import { BUDGETS } from '../../../base/files/budgets.ts'
import type { Problem } from '../../../base/files/errors.ts'
import { isPlaceholder, type ValueType } from '../format/fields.ts'
import { type FileValue, type Path, problemAt } from '../format/scenario.ts'
import {
  asText,
  firstWord,
  type InterpolationScope,
  interpolate,
  MISSING,
  mapTexts,
  namesIn,
  onlyPath,
  replacePlaceholders,
  sizeOfValue,
  valueAt,
} from '../interpolation.ts'
import { RESERVED_NAMES } from './names.ts'
import { COMPILE_TEXTS } from './texts.ts'

/** Problems in the order in which they are found; a problem of repeated steps is kept once. */
export class Diagnostics {
  readonly #problems: Problem[] = []
  readonly #seen = new Set<string>()
  /** How many problems each file has. */
  readonly #counts = new Map<string, number>()
  /** The steps of all plans so far. */
  steps = 0

  /** Makes only the problems that are shown. */
  add(written: FileValue<unknown>, path: Path, message: string, of: 'key' | 'value'): void {
    const key = JSON.stringify([written.path, written.at, path, message])
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    const count = (this.#counts.get(written.file) ?? 0) + 1
    this.#counts.set(written.file, count)
    if (count <= BUDGETS.problems) this.#problems.push(problemAt(written, path, message, of))
  }

  get problems(): Problem[] {
    const full = [...this.#counts].filter(([, count]) => count > BUDGETS.problems)
    const hidden = full.map(([file, count]) => ({ at: file, file, message: '', hidden: count - BUDGETS.problems }))
    return [...this.#problems, ...hidden]
  }
}

/** Where a value is written, and the names that it can read. */
interface Position {
  readonly written: FileValue<unknown>
  readonly path: Path
  readonly scope: CompileScope
}

export type StepCompiler = ReturnType<typeof createStepCompiler>

export function createStepCompiler({ written, path, scope }: Position, diagnostics: Diagnostics) {
  const report = (inner: Path, message: string, of: 'key' | 'value' = 'value'): void =>
    diagnostics.add(written, [...path, ...inner], message, of)
  return {
    written,
    path,
    scope,
    report,
    /** A value that must be known before the run; `otherwise` when it is missing or wrong. */
    staticValue<Value, Default>(kind: ValueType<Value, unknown>, value: unknown, inner: Path, otherwise: Default) {
      if (value === undefined) return otherwise
      const filled = isPlaceholder(value) ? valueAt(value.slice(2, -1).trim(), scope.values) : value
      const read = filled === MISSING ? undefined : kind.parse(filled)
      if (read !== undefined) return read
      const { tooLate, unexpected } = COMPILE_TEXTS
      report(inner, filled === MISSING ? tooLate(String(value)) : unexpected(kind.expected, filled))
      return otherwise
    },
    /** A text that must be known before the run. */
    staticText(text: string, inner: Path): string {
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

export interface CompileScope {
  /** Names with known values. */
  readonly values: InterpolationScope
  /** Names whose values still hold `$(...)`. */
  readonly deferred: InterpolationScope
}

export const EMPTY_SCOPE: CompileScope = { values: {}, deferred: {} }

const isStatic = (template: unknown, values: InterpolationScope) =>
  namesIn(template).every(path => valueAt(path, values) !== MISSING)

/**
 * Adds names, whose values cannot read each other; a value that reads something unknown is deferred. Throws
 * `OversizedValueError`.
 */
export function defineNames(scope: CompileScope, added: Readonly<Record<string, unknown>>): CompileScope {
  let { values, deferred } = scope
  for (const [name, template] of Object.entries(added)) {
    const value = substituteDeferred(template, scope.deferred)
    const known = isStatic(value, scope.values)
    const filled = known ? interpolate(value, scope.values) : value
    sizeOfValue(filled)
    values = known ? { ...values, [name]: filled } : without(values, name)
    deferred = known ? without(deferred, name) : { ...deferred, [name]: value }
  }
  return { values, deferred }
}

/** Adds names, whose values can read the names before them. */
export const defineNamesInOrder = (scope: CompileScope, added: Readonly<Record<string, unknown>>): CompileScope =>
  Object.entries(added).reduce((before, [name, value]) => defineNames(before, { [name]: value }), scope)

function without(scope: InterpolationScope, name: string): InterpolationScope {
  if (!Object.hasOwn(scope, name)) return scope
  const { [name]: _, ...rest } = scope
  return rest
}

/** Puts deferred values into a template: `$(who.name)` with who = `$(anna)` becomes `$(anna.name)`. */
export function substituteDeferred(template: unknown, deferred: InterpolationScope): unknown {
  if (Object.keys(deferred).length === 0) return template
  return mapTexts(template, text => {
    const path = onlyPath(text)
    if (path !== undefined) return replacement(path, deferred) ?? text
    return replacePlaceholders(text, inner => textOrUndefined(replacement(inner, deferred)), '$$(')
  })
}

const textOrUndefined = (value: unknown) => (value === undefined ? undefined : asText(value))

function replacement(path: string, deferred: InterpolationScope): unknown {
  const name = firstWord(path)
  if (!Object.hasOwn(deferred, name)) return undefined
  const rest = path.trim().slice(name.length)
  const value = deferred[name]
  const inner = typeof value === 'string' ? onlyPath(value) : undefined
  if (rest === '') return value
  if (inner !== undefined) return `$(${inner}${rest})`
  const part = valueAt(rest.replace(/^\./, ''), value)
  return part === MISSING ? undefined : part
}

/** Interpolates the texts whose names are all known and leaves the others, escapes included, for the run. */
export const interpolateStatic = (template: unknown, values: InterpolationScope): unknown =>
  mapTexts(template, text => (isStatic(text, values) ? interpolate(text, values) : text))

/** A template that interpolates to the value. */
export const escapePlaceholders = <Value>(value: Value): Value =>
  mapTexts(value, text => text.replaceAll('$(', '$$$$(')) as Value
