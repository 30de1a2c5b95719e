/** Converts the expected body of a test to a pattern of the evaluator. */
import { isMap } from '../base/objects.ts'
import { type Matcher, matcherProblems } from '../evaluation/scenario/format/matchers.ts'
import { isAsymmetric } from '../evaluation/scenario/interpolation.ts'
import { describeValue, invalidOption } from '../platform/simulator/options.ts'

/** An asymmetric matcher of a test runner, such as `expect.any(String)`. */
interface RunnerMatcher {
  asymmetricMatch(other: unknown): boolean
}

/**
 * A part of `T`: fields that are left out may have any value. Each value may also be an operator of scenarios, an
 * asymmetric matcher of the test runner, or for strings a regular expression.
 */
export type BodyMatcher<T> =
  | Matcher
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
    throw invalidOption('body', `body must be an object, or a matcher of one, got ${describeValue(expected)}.`)
  checkOperators(expected)
  checkNotOptions(expected)
  return expected
}

const OPTIONS = ['within', 'times', 'since', 'for']

/** Rejects options in the place of the body: no body has these fields, so the expectation would only time out. */
function checkNotOptions(expected: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(expected)
  if (names.length === 0 || !names.every(name => OPTIONS.includes(name))) return
  throw invalidOption(
    'body',
    `body must not be options, got ${describeValue(expected)}. Options come after the body: (name, {}, options).`,
  )
}

/** Rejects unknown operators, which would match nothing. */
export function checkOperators(expected: unknown): void {
  // Removes asymmetric matchers and patterns, which have no operators.
  const [first] = matcherProblems(mapLeaves(expected, leaf => (typeof leaf === 'object' ? null : leaf)))
  if (first !== undefined)
    throw invalidOption('body', `${first.path.map(String).join('.') || 'body'} ${first.message}.`)
}

/** Replaces every value that is neither a list nor a plain object. */
function mapLeaves(value: unknown, replace: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => mapLeaves(item, replace))
  const isLeaf = typeof value !== 'object' || value === null || value instanceof RegExp || isAsymmetric(value)
  if (isLeaf) return replace(value)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapLeaves(inner, replace)]))
}
