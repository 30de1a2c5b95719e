/**
 * `$(path)` in texts and data. A value that is only `$(x)` keeps its type; inside a longer text it becomes text.
 * `$$(` is a literal `$(`.
 */
import { nearest } from '../text/near-names.ts'

export type Scope = Readonly<Record<string, unknown>>

/** A `$(...)` that leads nowhere, in words: what is missing, and what there is. */
export class InterpolationError extends Error {
  override readonly name = 'InterpolationError'
}

export const PLACEHOLDER = /\$\$\(|\$\(([^()]*)\)/g
const ALONE = /^\$\(([^()]*)\)$/

/** What test runners make: `expect.any(String)`, `expect.stringContaining('a')`. */
export interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean
}

export const isAsymmetric = (value: unknown): value is Asymmetric =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Asymmetric>).asymmetricMatch === 'function'

/** Compared as a whole: nothing inside is looked into. */
const isWhole = (value: object): boolean => value instanceof RegExp || isAsymmetric(value)

/** Fills every text inside, keys left alone. Throws `InterpolationError`. */
export function interpolate(template: unknown, scope: Scope): unknown {
  if (typeof template === 'string') return fillText(template, scope)
  if (Array.isArray(template)) return template.map(item => interpolate(item, scope))
  if (typeof template !== 'object' || template === null || isWhole(template)) return template
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, interpolate(value, scope)]))
}

function fillText(text: string, scope: Scope): unknown {
  const alone = ALONE.exec(text)
  if (alone !== null) return lookUp(alone[1]!, scope)
  return text.replace(PLACEHOLDER, (_, path: string | undefined) =>
    path === undefined ? '$(' : asText(lookUp(path, scope)),
  )
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** `body.sender.name`, `languages[0]`; a dotted name that is a key as it stands wins: `config.messages.open`. */
export function lookUp(path: string, scope: Scope): unknown {
  const found = valueAt(path.trim(), scope)
  if (found !== MISSING) return found
  const first = path.trim().split(/[.[]/)[0]!
  const known = Object.keys(scope)
  const hint = Object.hasOwn(scope, first)
    ? `; ${first} has no such part`
    : nearest(first, known) || `; there are ${known.join(', ')}`
  throw new InterpolationError(`$(${path}) is not known here${hint}`)
}

export const MISSING: unique symbol = Symbol('missing')

export function valueAt(path: string, value: unknown): unknown {
  if (path === '') return value
  if (typeof value !== 'object' || value === null) return MISSING
  if (Object.hasOwn(value, path)) return (value as Record<string, unknown>)[path]
  for (let end = lastBreak(path, path.length); end > 0; end = lastBreak(path, end)) {
    const [head, rest] = [path.slice(0, end), path.slice(end)]
    if (!Object.hasOwn(value, head)) continue
    return valueAt(rest.replace(/^\./, '').replace(/^\[(\d+)\]/, '$1'), (value as Record<string, unknown>)[head])
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
