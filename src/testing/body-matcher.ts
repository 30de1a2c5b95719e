/** Converts the expected body of a test to a pattern of the evaluator. */
import { isMap } from '../contract/objects.ts'
import { matcherProblems } from '../scenario/format/matchers.ts'
import { isAsymmetric } from '../scenario/interpolation.ts'
import { describeValue } from '../simulator/options.ts'
import { invalid } from './options.ts'

/** `{ $op: argument }` as in scenarios. `$` of `handover-sim/scenario` creates operators. */
type Operator = { readonly [op in `$${string}`]?: unknown }

/** An asymmetric matcher of a test runner, such as `expect.any(String)`. */
interface RunnerMatcher {
  asymmetricMatch(other: unknown): boolean
}

/**
 * A part of `T`: fields that are left out may have any value. Each value may also be an operator of scenarios, an
 * asymmetric matcher of the test runner, or for strings a regular expression.
 */
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

/** Returns null for any body. Throws `InvalidOptionError` for a pattern that no body can match. */
export function bodyPattern(expected: unknown): unknown {
  if (expected === undefined || expected === null) return null
  if (!isMap(expected) || expected instanceof RegExp)
    throw invalid('body', `body must be an object, or a matcher of one, got ${describeValue(expected)}.`)
  checkOperators(expected)
  checkNotOptions(expected)
  return escapeReferences(expected)
}

const OPTIONS = ['within', 'times', 'since', 'for']

/** Rejects options in the place of the body: no body has these fields, so the expectation would only time out. */
function checkNotOptions(expected: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(expected)
  if (names.length === 0 || !names.every(name => OPTIONS.includes(name))) return
  throw invalid(
    'body',
    `body must not be options, got ${describeValue(expected)}. Options come after the body: (name, {}, options).`,
  )
}

/** Rejects unknown operators, which would match nothing. */
export function checkOperators(expected: unknown): void {
  const [first] = matcherProblems(withoutMatchers(expected))
  if (first !== undefined) throw invalid('body', `${first.path.map(String).join('.') || 'body'} ${first.message}.`)
}

/** Removes asymmetric matchers and patterns, which have no operators. */
function withoutMatchers(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(withoutMatchers)
  if (typeof expected !== 'object' || expected === null) return expected
  if (expected instanceof RegExp || isAsymmetric(expected)) return null
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, withoutMatchers(value)]))
}

/** Escapes `$(name)`, which is a reference in scenarios and plain text in a test. */
export function escapeReferences(expected: unknown): unknown {
  if (typeof expected === 'string') return expected.replaceAll('$(', '$$$$(')
  if (Array.isArray(expected)) return expected.map(escapeReferences)
  if (typeof expected !== 'object' || expected === null) return expected
  if (expected instanceof RegExp || isAsymmetric(expected)) return expected
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, escapeReferences(value)]))
}
