/** Reads values that are known before the run, interpolates `$(...)` with them, and collects problems. */

import textsFile from '../../../../fixtures/texts.json' with { type: 'json' }
import { BUDGETS } from '../../../base/files/budgets.ts'
import type { Problem } from '../../../base/files/errors.ts'
import { nearest } from '../../../base/text/error-text.ts'
import { isKnob, KNOB_NAMES } from '../../../platform/contract/knobs.ts'
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
  textsIn,
  valueAt,
} from '../interpolation.ts'

/** Problems in the order in which they are found; a problem of repeated steps is listed once. */
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
    const problems = [...this.#problems]
    for (const [file, count] of this.#counts)
      if (count > BUDGETS.problems) problems.push({ at: file, file, message: '', hidden: count - BUDGETS.problems })
    return problems
  }
}

/** The names that a step can read before the run. */
export interface CompileScope {
  /** Names with known values. */
  readonly values: InterpolationScope
  /** Names whose values still hold `$(...)`. */
  readonly deferred: InterpolationScope
}

export const EMPTY_SCOPE: CompileScope = { values: {}, deferred: {} }

/** Compiles what is written at one position of a file, with the names that it can read. */
export class StepCompiler {
  readonly written: FileValue<unknown>
  readonly path: Path
  readonly scope: CompileScope
  readonly #diagnostics: Diagnostics

  constructor(position: Pick<StepCompiler, 'written' | 'path' | 'scope'>, diagnostics: Diagnostics) {
    this.written = position.written
    this.path = position.path
    this.scope = position.scope
    this.#diagnostics = diagnostics
  }

  report(inner: Path, message: string, of: 'key' | 'value' = 'value'): void {
    this.#diagnostics.add(this.written, [...this.path, ...inner], message, of)
  }

  /** A value that must be known before the run; `otherwise` when it is missing or wrong. */
  staticValue<Value, Default>(
    type: ValueType<Value, unknown>,
    value: unknown,
    inner: Path,
    otherwise: Default,
  ): Value | Default {
    if (value === undefined) return otherwise
    const filled = isPlaceholder(value) ? valueAt(value.slice(2, -1).trim(), this.scope.values) : value
    if (filled === MISSING) {
      this.#reportTooLate(inner, String(value))
      return otherwise
    }
    const read = type.parse(filled)
    if (read !== undefined) return read
    this.report(inner, `must be ${type.expected}, got ${JSON.stringify(filled)}`)
    return otherwise
  }

  /** A text that must be known before the run. */
  staticText(text: string, inner: Path): string {
    const unknown = namesIn(text).find(name => valueAt(name, this.scope.values) === MISSING)
    if (unknown === undefined) return String(interpolate(text, this.scope.values))
    // An undefined name is reported with the other unknown names.
    const first = firstWord(unknown)
    if (Object.hasOwn(this.scope.deferred, first) || RESERVED_NAMES.includes(first))
      this.#reportTooLate(inner, `$(${unknown})`)
    return text
  }

  #reportTooLate(inner: Path, name: string): void {
    this.report(
      inner,
      `${name} must be known before the run: of vars, matrix, params, $(i) or $(user), not from a call or a chat`,
    )
  }
}

const isStatic = (template: unknown, values: InterpolationScope) =>
  namesIn(template).every(path => valueAt(path, values) !== MISSING)

/**
 * Adds names, whose values cannot read each other; a value that reads something unknown is deferred. Throws
 * `OversizedValueError`.
 */
export function defineNames(scope: CompileScope, added: Readonly<Record<string, unknown>>): CompileScope {
  const values = { ...scope.values }
  const deferred = { ...scope.deferred }
  for (const [name, template] of Object.entries(added)) {
    const value = substituteDeferred(template, scope.deferred)
    const isKnown = isStatic(value, scope.values)
    const filled = isKnown ? interpolate(value, scope.values) : value
    sizeOfValue(filled)
    delete values[name]
    delete deferred[name]
    const target = isKnown ? values : deferred
    target[name] = filled
  }
  return { values, deferred }
}

/** Adds names, whose values can read the names before them. */
export function defineNamesInOrder(scope: CompileScope, added: Readonly<Record<string, unknown>>): CompileScope {
  let defined = scope
  for (const [name, value] of Object.entries(added)) defined = defineNames(defined, { [name]: value })
  return defined
}

/** Puts deferred values into a template: `$(who.name)` with who = `$(anna)` becomes `$(anna.name)`. */
export function substituteDeferred(template: unknown, deferred: InterpolationScope): unknown {
  if (Object.keys(deferred).length === 0) return template
  return mapTexts(template, text => {
    const path = onlyPath(text)
    if (path !== undefined) return replacement(path, deferred) ?? text
    const replaceInner = (inner: string) => {
      const value = replacement(inner, deferred)
      return value === undefined ? undefined : asText(value)
    }
    return replacePlaceholders(text, replaceInner, '$$(')
  })
}

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

export interface NamedText {
  /** The mistake that the text reveals. */
  readonly about: string
  readonly text: string
}

/** Texts that often break real systems: `$(texts.NAME)`. */
const NAMED_TEXTS: Readonly<Record<string, NamedText>> = textsFile.texts
export const TEXT_NAMES: readonly string[] = Object.keys(NAMED_TEXTS)

/** The texts of these names; unknown names are left out. */
export function namedTexts(names: Iterable<string>): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const name of names) {
    const named = Object.hasOwn(NAMED_TEXTS, name) ? NAMED_TEXTS[name] : undefined
    if (named !== undefined) texts[name] = named.text
  }
  return texts
}

/** Names that exist in every run, with the parts each has; `null` means any part. */
const BUILT_IN: Readonly<Record<string, readonly string[] | null>> = {
  chat: ['id', 'user_id', 'language', 'source', 'name'],
  bot: ['id', 'name'],
  sim: ['url', 'api_key', 'bot_id'],
  env: null,
  config: null,
  texts: TEXT_NAMES,
}
export const RESERVED_NAMES: readonly string[] = [...Object.keys(BUILT_IN), 'i', 'user']

const SETTINGS_BESIDE_KNOBS = [
  'port',
  'host',
  'seed',
  'clock',
  'base_url',
  'webhook.url',
  'bot.id',
  'bot.name',
  'bot.organization_id',
]

/** `; there are a, b`, after a problem with a name. */
export const existingNames = (names: readonly string[]): string =>
  `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`

/** Problems of every `$(...)` inside `value`; `names` are those defined before it. */
export function unknownNames(value: unknown, names: ReadonlySet<string>): { path: Path; message: string }[] {
  const problems: { path: Path; message: string }[] = []
  for (const { text, path } of textsIn(value))
    for (const name of namesIn(text)) {
      const message = nameProblem(name, names)
      if (message !== null) problems.push({ path, message })
    }
  return problems
}

function nameProblem(name: string, names: ReadonlySet<string>): string | null {
  const first = firstWord(name)
  if (names.has(first)) return null
  if (name === '') return '$() names nothing; write $$( for a literal $('
  const parts = Object.hasOwn(BUILT_IN, first) ? BUILT_IN[first] : undefined
  if (parts === undefined) {
    const definedNames = [...new Set([...names, ...Object.keys(BUILT_IN)])]
    return `$(${name}) is not defined at this point${nearest(first, definedNames) || existingNames(definedNames)}`
  }
  const rest = name.slice(first.length + 1)
  if (first === 'config') {
    if (rest === '' || isKnob(rest) || SETTINGS_BESIDE_KNOBS.includes(rest)) return null
    return `$(config.${rest}) is not a setting${nearest(rest, [...KNOB_NAMES, ...SETTINGS_BESIDE_KNOBS])}`
  }
  if (parts === null || rest === '' || parts.includes(firstWord(rest))) return null
  return `$(${name}) does not exist${nearest(rest, parts) || `; ${first} has ${parts.join(', ')}`}`
}
