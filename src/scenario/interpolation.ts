/**
 * Interpolates `$(path)` in texts and data. A value that is only `$(x)` keeps its type; inside a longer text it becomes
 * text. `$$(` is a literal `$(`.
 */
import { nearest } from '../text/error-text.ts'
import { defineTexts } from '../text/texts.ts'

const TEXTS = defineTexts({
  unknown: (path: string, hint: string) => `$(${path}) is not known here${hint}`,
  noPart: (name: string) => `; ${name} has no such part`,
  names: (names: readonly string[]) => `; there are ${names.join(', ')}`,
})

export type InterpolationScope = Readonly<Record<string, unknown>>

/** A `$(...)` has no value; the message names the missing part and the names that exist. */
export class InterpolationError extends Error {
  override readonly name = 'InterpolationError'
}

export const PLACEHOLDER = /\$\$\(|\$\(([^()]*)\)/g
const ALONE = /^\$\(([^()]*)\)$/

/** The path of a text that is a single `$(path)`. */
export const onlyPath = (text: string): string | undefined => ALONE.exec(text)?.[1]

/** A matcher of a test runner: `expect.any(String)`, `expect.stringContaining('a')`. */
export interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean
}

export const isAsymmetric = (value: unknown): value is Asymmetric =>
  typeof value === 'object' &&
  value !== null &&
  'asymmetricMatch' in value &&
  typeof value.asymmetricMatch === 'function'

const isMatcher = (value: object): boolean => value instanceof RegExp || isAsymmetric(value)

/** A copy of a value with every text inside changed; keys and matchers of test runners stay as they are. */
export function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => mapTexts(item, change))
  if (typeof value !== 'object' || value === null || isMatcher(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]))
}

/** Interpolates every text inside. Throws `InterpolationError`. */
export const interpolate = (template: unknown, scope: InterpolationScope): unknown =>
  mapTexts(template, text => interpolateText(text, scope))

function interpolateText(text: string, scope: InterpolationScope): unknown {
  const path = onlyPath(text)
  return path === undefined
    ? replacePlaceholders(text, inner => asText(lookUp(inner, scope)), '$(')
    : lookUp(path, scope)
}

/** Replaces each `$(path)` for which `replace` gives a text, and each `$$(` by `literal`. */
export const replacePlaceholders = (
  text: string,
  replace: (path: string) => string | undefined,
  literal: string,
): string =>
  text.replace(PLACEHOLDER, (whole, path: string | undefined) =>
    path === undefined ? literal : (replace(path) ?? whole),
  )

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')

/** Resolves `body.sender.name` or `languages[0]`; a key with dots, as in `config.messages.open`, comes first. */
export function lookUp(path: string, scope: InterpolationScope): unknown {
  const found = valueAt(path.trim(), scope)
  if (found !== MISSING) return found
  const first = firstWord(path)
  const names = Object.keys(scope)
  const hint = Object.hasOwn(scope, first) ? TEXTS.noPart(first) : nearest(first, names) || TEXTS.names(names)
  throw new InterpolationError(TEXTS.unknown(path, hint))
}

/** The name that a path begins with: `body` of `body.sender.name`. */
export const firstWord = (path: string): string => path.trim().split(/[.[]/)[0] ?? ''

export const MISSING: unique symbol = Symbol('missing')

/** The part of a value at a path, or `MISSING`. */
export function valueAt(path: string, value: unknown): unknown {
  if (path === '') return value
  if (typeof value !== 'object' || value === null) return MISSING
  if (Object.hasOwn(value, path)) return Reflect.get(value, path)
  for (let end = lastBreak(path, path.length); end > 0; end = lastBreak(path, end)) {
    const [head, rest] = [path.slice(0, end), path.slice(end)]
    if (!Object.hasOwn(value, head)) continue
    return valueAt(rest.replace(/^\./, '').replace(/^\[(\d+)\]/, '$1'), Reflect.get(value, head))
  }
  return MISSING
}

const lastBreak = (path: string, before: number) =>
  Math.max(path.lastIndexOf('.', before - 1), path.lastIndexOf('[', before - 1))

/** The path of every `$(...)` inside: `env.TEAM`, `chat.id`, `who`. */
export const namesIn = (template: unknown): string[] =>
  stringsIn(template).flatMap(text =>
    [...text.matchAll(PLACEHOLDER)].flatMap(([, path]) => (path === undefined ? [] : [path.trim()])),
  )

/** Every text inside a value, keys left out. */
export const stringsIn = (value: unknown): string[] => Array.from(textsIn(value), ({ text }) => text)

/** Every text inside a value with the path to it, keys left out. */
export function* textsIn(
  value: unknown,
  path: readonly PropertyKey[] = [],
): Generator<{ text: string; path: readonly PropertyKey[] }> {
  if (typeof value === 'string') yield { text: value, path }
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index])
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, [...path, key])
  }
}
