/**
 * Interpolates `$(...)` at compile time. Vars, matrix, parameters, `i` and `user` are known then and can decide which
 * steps there are. A parameter or var that itself holds a `$(...)` of the run is put into the texts that use it.
 */
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
  valueAt,
} from '../interpolation.ts'

export interface CompileScope {
  /** Names with known values. */
  readonly values: InterpolationScope
  /** Names whose values still hold `$(...)`. */
  readonly deferred: InterpolationScope
}

export const EMPTY_SCOPE: CompileScope = { values: {}, deferred: {} }

const isStatic = (template: unknown, values: InterpolationScope) =>
  namesIn(template).every(path => valueAt(path, values) !== MISSING)

/** Adds names, whose values cannot read each other; a value that reads something unknown is deferred. */
export function defineNames(scope: CompileScope, added: Readonly<Record<string, unknown>>): CompileScope {
  let { values, deferred } = scope
  for (const [name, template] of Object.entries(added)) {
    const value = substituteDeferred(template, scope.deferred)
    const known = isStatic(value, scope.values)
    values = known ? { ...values, [name]: interpolate(value, scope.values) } : without(values, name)
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
export const escapePlaceholders = (value: unknown): unknown => mapTexts(value, text => text.replaceAll('$(', '$$$$('))
