/**
 * `$(...)` before the play. What is known by then (vars, matrix, parameters, `i`, `user`) can decide what is played.
 * A parameter or var that itself holds a `$(...)` of the play is put into the texts that use it.
 */
import { interpolate, MISSING, namesIn, type Scope, valueAt } from '../interpolation.ts'

export interface Known {
  /** Values. */
  readonly scope: Scope
  /** Names whose values still hold `$(...)`. */
  readonly open: Scope
}

export const firstWord = (path: string): string => path.trim().split(/[.[]/)[0]!

const isStatic = (template: unknown, scope: Scope) => namesIn(template).every(path => valueAt(path, scope) !== MISSING)

/** New names beside the old: each is a value when all it reads is known, else stays open. They do not read each other. */
export function withNames(known: Known, added: Readonly<Record<string, unknown>>): Known {
  let { scope, open } = known
  for (const [name, template] of Object.entries(added)) {
    const value = substitute(template, known.open)
    const fixed = isStatic(value, known.scope)
    scope = fixed ? { ...scope, [name]: interpolate(value, known.scope) } : without(scope, name)
    open = fixed ? without(open, name) : { ...open, [name]: value }
  }
  return { scope, open }
}

/** The same for names of which later ones may read earlier ones. */
export const withNamesInOrder = (known: Known, added: Readonly<Record<string, unknown>>): Known =>
  Object.entries(added).reduce((before, [name, value]) => withNames(before, { [name]: value }), known)

function without(scope: Scope, name: string): Scope {
  if (!Object.hasOwn(scope, name)) return scope
  const { [name]: _, ...rest } = scope
  return rest
}

const PLACE = /\$\$\(|\$\(([^()]*)\)/g

/** Puts open values in: `$(who.name)` with who = `$(anna)` becomes `$(anna.name)`. */
export function substitute(template: unknown, open: Scope): unknown {
  if (Object.keys(open).length === 0) return template
  if (typeof template === 'string') return substituteText(template, open)
  if (Array.isArray(template)) return template.map(item => substitute(item, open))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([key, inner]) => [key, substitute(inner, open)]))
}

function substituteText(text: string, open: Scope): unknown {
  const alone = /^\$\(([^()]*)\)$/.exec(text)?.[1]
  if (alone !== undefined) return replacement(alone, open) ?? text
  return text.replace(PLACE, (whole, path: string | undefined) => {
    const value = path === undefined ? undefined : replacement(path, open)
    return value === undefined ? whole : typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function replacement(path: string, open: Scope): unknown {
  const name = firstWord(path)
  if (!Object.hasOwn(open, name)) return undefined
  const rest = path.trim().slice(name.length)
  const value = open[name]
  const inner = typeof value === 'string' ? /^\$\(([^()]*)\)$/.exec(value)?.[1] : undefined
  if (rest === '') return value
  if (inner !== undefined) return `$(${inner}${rest})`
  const part = valueAt(rest.replace(/^\./, ''), value)
  return part === MISSING ? undefined : part
}

/** Fills what is known and leaves the rest, escapes included, to be filled later. */
export function fillKnown(template: unknown, scope: Scope): unknown {
  if (typeof template === 'string') return isStatic(template, scope) ? interpolate(template, scope) : template
  if (Array.isArray(template)) return template.map(item => fillKnown(item, scope))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([key, inner]) => [key, fillKnown(inner, scope)]))
}

/** A value as a template that gives it again. */
export function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$(', '$$$$(')
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]))
}
