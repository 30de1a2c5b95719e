/** Checks the expected body of a test. */
import { isMap } from '../base/objects.ts'
import { sentence } from '../base/text/error-text.ts'
import { unknownFields } from '../evaluation/scenario/compile/call-patterns.ts'
import { type Matcher, matcherProblems } from '../evaluation/scenario/format/matchers.ts'
import { isAsymmetric } from '../evaluation/scenario/interpolation.ts'
import type { CallId } from '../platform/contract/endpoints.ts'
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

const OPTIONS = ['within', 'times', 'since', 'for']

/**
 * Returns null for any body. Throws `InvalidOptionError` for a pattern that no body can match. `call`: null for an event.
 * An unwanted call must have known fields only, because it would never be noticed; an expected one may have fields that the
 * platform does not define, whose names are not similar to its own.
 */
export function bodyPattern(call: CallId | null, expected: unknown, isUnwanted = false): unknown {
  if (expected === undefined || expected === null) return null
  if (!isMap(expected) || expected instanceof RegExp)
    throw invalidOption('body', `body must be an object, or a matcher of one, got ${describeValue(expected)}.`)
  checkOperators(expected)
  // No body has only fields with the names of options: the expectation would only time out.
  const names = Object.keys(expected)
  if (names.length > 0 && names.every(name => OPTIONS.includes(name))) {
    const message = `body must not be options, got ${describeValue(expected)}. Options come after the body: (name, {}, options).`
    throw invalidOption('body', message)
  }
  if (call !== null)
    for (const { name, hint, hasNearName } of unknownFields({ call, body: expected }))
      if (isUnwanted || hasNearName) throw invalidOption('body', sentence(`${call} has no field ${name}${hint}`))
  return expected
}

/** Rejects unknown operators, which would match nothing. */
export function checkOperators(expected: unknown): void {
  const [first] = matcherProblems(withoutMatchers(expected))
  if (first !== undefined)
    throw invalidOption('body', `${first.path.map(String).join('.') || 'body'} ${first.message}.`)
}

/** Replaces asymmetric matchers and patterns, which have no operators. */
function withoutMatchers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutMatchers)
  if (value instanceof RegExp || isAsymmetric(value)) return null
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutMatchers(inner)]))
}
