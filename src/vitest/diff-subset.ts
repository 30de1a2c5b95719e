/** Of what came, the part a test spoke of: a diff with everything else in it would show nothing. */
import { isAsymmetric } from '../scenario/interpolation.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp)

/** `actual` without the fields that `expected` leaves open. */
export function groupFailures(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, at) => groupFailures(expected[at], item))
  if (!isFields(expected) || !isFields(actual) || isAsymmetric(expected) || isOperator(expected)) return actual
  const named = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(named.map(([key, inner]) => [key, groupFailures(inner, actual[key])]))
}

const isOperator = (value: Fields): boolean => Object.keys(value).some(key => key.startsWith('$'))
