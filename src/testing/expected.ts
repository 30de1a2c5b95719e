/** What a test wants of a body: any part of it, with matchers where a value is not known or does not matter. */
import { isAsymmetric } from '../scenario/fill.ts'

/** `{ $op: argument }`, as scenarios write it; `$` of `handover-sim/scenario` makes them. */
type Operator = { readonly [op in `$${string}`]?: unknown }

/** What test runners make: `expect.any(String)`. */
interface RunnerMatcher {
  asymmetricMatch(other: unknown): boolean
}

/** A part of `T`. In place of each value: an operator, a matcher of the test runner, for texts a pattern too. */
export type Expected<T> =
  | Operator
  | RunnerMatcher
  | (T extends readonly (infer Item)[]
      ? readonly Expected<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]?: Expected<NonNullable<T[Key]>> }
        : T extends string
          ? T | RegExp
          : T)

/** As data for the judge: what looks like `$(name)` in it means itself. */
export function literally(expected: unknown): unknown {
  if (typeof expected === 'string') return expected.replaceAll('$(', '$$$$(')
  if (Array.isArray(expected)) return expected.map(literally)
  if (typeof expected !== 'object' || expected === null) return expected
  if (expected instanceof RegExp || isAsymmetric(expected)) return expected
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, literally(value)]))
}
