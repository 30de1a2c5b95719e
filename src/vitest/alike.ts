/** Of what came, the part a test spoke of: a diff with everything else in it would show nothing. */
import { isAsymmetric } from '../scenario/fill.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp)

/** `actual` without the fields that `expected` leaves open. */
export function alike(expected: unknown, actual: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((item, at) => alike(expected[at], item))
  if (!isFields(expected) || !isFields(actual) || isAsymmetric(expected) || isOperator(expected)) return actual
  const named = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(named.map(([key, inner]) => [key, alike(inner, actual[key])]))
}

const isOperator = (value: Fields): boolean => Object.keys(value).some(key => key.startsWith('$'))
