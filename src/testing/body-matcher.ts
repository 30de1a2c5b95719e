/** What a test wants of a body: any part of it, with matchers where a value is not known or does not matter. */

import { isMap } from '../files/is-map.ts'
import { matcherProblems } from '../scenario/format/matchers.ts'
import { isAsymmetric } from '../scenario/interpolation.ts'
import { shown } from '../simulator/validate-options.ts'
import { invalid } from './options.ts'

/** `{ $op: argument }`, as scenarios write it; `$` of `handover-sim/scenario` makes them. */
type Operator = { readonly [op in `$${string}`]?: unknown }

/** What test runners make: `expect.any(String)`. */
interface RunnerMatcher {
  asymmetricMatch(other: unknown): boolean
}

/** A part of `T`. In place of each value: an operator, a matcher of the test runner, for texts a pattern too. */
export type BodyMatcher<T> =
  | Operator
  | RunnerMatcher
  | (T extends readonly (infer Item)[]
      ? readonly BodyMatcher<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]?: BodyMatcher<NonNullable<T[Key]>> }
        : T extends string
          ? T | RegExp
          : T)

/** What a body has to be like, as data for the judge; null for any. Throws `InvalidOptionError` for what no body can be. */
export function bodyPattern(expected: unknown): unknown {
  if (expected === undefined || expected === null) return null
  if (!isMap(expected) || expected instanceof RegExp)
    throw invalid('body', `body must be an object, or a matcher of one, got ${shown(expected)}.`)
  checkOperators(expected)
  checkPlace(expected)
  return literally(expected)
}

const OPTIONS = ['within', 'times', 'since', 'for']

/** Nothing the platform knows has such a field, and waiting for one would not tell why it never comes. */
function checkPlace(expected: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(expected)
  if (names.length === 0 || !names.every(name => OPTIONS.includes(name))) return
  throw invalid(
    'body',
    `${shown(expected)} stands in the place of the body. Options come after it: (name, {}, options).`,
  )
}

/** An operator nobody knows would fit nothing, whatever comes. */
export function checkOperators(expected: unknown): void {
  const [first] = matcherProblems(withoutMatchers(expected))
  if (first !== undefined) throw invalid('body', `${first.path.map(String).join('.') || 'body'} ${first.message}.`)
}

/** Those of a test runner are its own business. */
function withoutMatchers(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(withoutMatchers)
  if (typeof expected !== 'object' || expected === null) return expected
  if (expected instanceof RegExp || isAsymmetric(expected)) return null
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, withoutMatchers(value)]))
}

/** As data for the judge: what looks like `$(name)` in it means itself. */
export function literally(expected: unknown): unknown {
  if (typeof expected === 'string') return expected.replaceAll('$(', '$$$$(')
  if (Array.isArray(expected)) return expected.map(literally)
  if (typeof expected !== 'object' || expected === null) return expected
  if (expected instanceof RegExp || isAsymmetric(expected)) return expected
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, literally(value)]))
}
