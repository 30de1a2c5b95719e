/**
 * Compares an expected value with a received one. Scalars equal; objects partial; arrays of the same length, their items
 * partial; `{ $op: … }` as `testOperator` says. Throws `SlowPatternError` for a regular expression that takes too long.
 */

import { limitPattern, SlowPatternError, testPattern } from '../../base/runtime/patterns.ts'
import { fieldName } from '../../base/schemas/explain-issues.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { counted } from '../../base/text/quantities.ts'
import type { Difference } from '../finding.ts'
import { readPattern } from '../scenario/format/matchers.ts'
import { type Asymmetric, asText, isAsymmetric } from '../scenario/interpolation.ts'
import { aroundDifference, flow } from '../scenario/value-text.ts'
import { type DifferenceNote, keyNote, noteFor } from './difference-notes.ts'

export interface MatchOptions {
  /** Takes from a text what does not count: an appended token. */
  readonly clean?: (text: string) => string
}

/** What stands for a value that is not there; a text would have quotes. */
export const ABSENT = 'absent'

/** No report shows more differences. */
const MAX_DIFFERENCES = 50

/** The differences between an expected value and a received one, at most 50; none when it fits. */
export function match(expected: unknown, actual: unknown, options: MatchOptions = {}): Difference[] {
  const gaps = compare(expected, actual, [], options).slice(0, MAX_DIFFERENCES)
  return gaps.map(gap => describeDifference(gap, actual))
}

/** The number of differences, at most 50. */
export const countDifferences = (expected: unknown, actual: unknown, options: MatchOptions = {}): number =>
  Math.min(MAX_DIFFERENCES, compare(expected, actual, [], options).length)

export const fits = (expected: unknown, actual: unknown, options: MatchOptions = {}): boolean =>
  countDifferences(expected, actual, options) === 0

type Path = readonly PropertyKey[]

interface Gap {
  readonly path: Path
  readonly expected: unknown
  readonly actual: unknown
  readonly note?: DifferenceNote
}

const NO_GAPS: readonly Gap[] = []

function compare(expected: unknown, actual: unknown, path: Path, options: MatchOptions): readonly Gap[] {
  if (expected === undefined) return NO_GAPS
  const differs = [{ path, expected, actual }]
  if (typeof expected !== 'object' || expected === null)
    return isSameScalar(expected, actual, options) ? NO_GAPS : differs
  if (expected instanceof RegExp)
    return testOperator('$re', expected, actual, options) ? NO_GAPS : [{ path, expected: { $re: expected }, actual }]
  if (isAsymmetric(expected)) return compareAsymmetric(expected, actual, path)
  if (Array.isArray(expected)) return compareLists(expected, actual, path, options)
  const operator = operatorIn(expected)
  if (operator === null) return compareMaps({ ...expected }, actual, path, options)
  const [name, argument] = operator
  if (name === '$each' && Array.isArray(actual))
    return actual.flatMap((item, index) => compare(argument, item, [...path, index], options))
  return testOperator(name, argument, actual, options) ? NO_GAPS : differs
}

/** Calls a matcher of a test runner or of the user. One that throws fits nothing. */
function compareAsymmetric(expected: Asymmetric, actual: unknown, path: Path): readonly Gap[] {
  const pattern = patternIn(expected)
  const test = () => expected.asymmetricMatch(actual)
  try {
    const length = pattern === null ? 0 : (typeof actual === 'string' ? actual : (JSON.stringify(actual) ?? '')).length
    const isFitting = pattern === null ? test() : limitPattern(pattern, length, test)
    return isFitting ? NO_GAPS : [{ path, expected, actual }]
  } catch (error) {
    if (error instanceof SlowPatternError) throw error
    return [
      { path, expected, actual, note: { code: 'matcher_threw', text: `the matcher threw: ${flow(messageOf(error))}` } },
    ]
  }
}

const MAX_MATCHER_DEPTH = 4

/** The first regular expression inside a matcher of a test runner: `expect.stringMatching(/a/)`. */
function patternIn(value: unknown, depth = 0): RegExp | null {
  if (value instanceof RegExp) return value
  if (typeof value !== 'object' || value === null || depth === MAX_MATCHER_DEPTH) return null
  for (const inner of Object.values(value)) {
    const pattern = patternIn(inner, depth + 1)
    if (pattern !== null) return pattern
  }
  return null
}

function isSameScalar(expected: unknown, actual: unknown, { clean }: MatchOptions): boolean {
  if (expected === actual) return true
  if (clean === undefined || typeof expected !== 'string' || typeof actual !== 'string') return false
  return clean(expected) === clean(actual)
}

type Fields = Readonly<Record<string, unknown>>
const isMap = (value: unknown): value is Fields => typesOf(value)[0] === 'object'

function compareMaps(expected: Fields, actual: unknown, path: Path, options: MatchOptions): readonly Gap[] {
  if (actual !== undefined && !isMap(actual)) return [{ path, expected, actual }]
  const gaps: Gap[] = []
  let allAbsent = true
  for (const [key, value] of Object.entries(expected)) {
    const received = actual !== undefined && Object.hasOwn(actual, key) ? actual[key] : undefined
    gaps.push(...compare(value, received, [...path, key], options))
    allAbsent &&= isMap(value) && operatorIn(value)?.[0] === '$absent'
  }
  // A missing object is named by its missing fields; only fields that are to be absent may miss their parent.
  if (actual !== undefined || gaps.length > 0 || (allAbsent && Object.keys(expected).length > 0)) return gaps
  return [{ path, expected, actual }]
}

const MAX_SHUFFLED = 50

function compareLists(
  expected: readonly unknown[],
  actual: unknown,
  path: Path,
  options: MatchOptions,
): readonly Gap[] {
  if (!Array.isArray(actual)) return [{ path, expected, actual }]
  if (actual.length !== expected.length) {
    const note = {
      code: 'item_count',
      text: `expected ${counted(expected.length, 'item')}, received ${actual.length}`,
    }
    return [{ path, expected, actual, note }]
  }
  const gaps: Gap[] = []
  for (const [index, item] of expected.entries()) gaps.push(...compare(item, actual[index], [...path, index], options))
  if (gaps.length === 0 || expected.length > MAX_SHUFFLED) return gaps
  // The same items in another order are one difference.
  const rest = [...actual]
  for (const item of expected) {
    const at = rest.findIndex(candidate => fits(item, candidate, options))
    if (at < 0) return gaps
    rest.splice(at, 1)
  }
  return [{ path, expected, actual, note: { code: 'item_order', text: 'the same items in another order' } }]
}

/** Whether both are deeply equal, nothing more and nothing less. */
function isEqual(expected: unknown, actual: unknown, options: MatchOptions): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => isEqual(item, actual[index], options))
    )
  if (!isMap(expected)) return isSameScalar(expected, actual, options)
  const keys = Object.keys(expected)
  if (!isMap(actual) || Object.keys(actual).length !== keys.length) return false
  return keys.every(key => Object.hasOwn(actual, key) && isEqual(expected[key], actual[key], options))
}

function describeDifference({ path, expected, actual, note }: Gap, root: unknown): Difference {
  const explanation = note ?? (actual === undefined ? keyNote(path, root) : noteFor(expected, actual))
  const both = typeof expected === 'string' && typeof actual === 'string'
  const [left, right] = both ? aroundDifference(expected, actual) : [flow(expected), flow(actual)]
  const received = actual === undefined ? ABSENT : right
  return {
    path: fieldName(path),
    expected: left,
    received,
    ...(explanation && { code: explanation.code, hint: explanation.text }),
  }
}

/** How far a value is from the expected one: similar texts are nearer, and those with a known mistake nearest. */
export function distanceOf(differences: readonly Difference[]): number {
  let distance = 0
  for (const { code, expected, received } of differences)
    distance += code === undefined ? 1 - likeness(expected, received) / 3 : 0.5
  return distance
}

/** From 0 to 1: the share of neighbouring pairs of characters two texts have in common (Dice). */
function likeness(a: string, b: string): number {
  const [left, right] = [a, b].map(text => {
    const chars = [...text]
    return new Set(chars.map((char, at) => char + (chars[at + 1] ?? '')))
  }) as [Set<string>, Set<string>]
  let common = 0
  for (const pair of left) if (right.has(pair)) common++
  return left.size + right.size === 0 ? 0 : (2 * common) / (left.size + right.size)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

const OPERATORS: ReadonlySet<string> = new Set(
  '$any $absent $type $re $has $oneOf $not $each $len $gt $gte $lt $lte $exact $uuid $iso'.split(' '),
)

/** The name and the argument of an operator; null when the value is no matcher but data. */
function operatorIn(expected: object): readonly [string, unknown] | null {
  const [only, ...more] = Object.entries(expected)
  return only === undefined || more.length > 0 || !OPERATORS.has(only[0]) ? null : only
}

function testOperator(name: string, argument: unknown, actual: unknown, options: MatchOptions): boolean {
  const text = typeof actual === 'string' ? actual : null
  // A text may count without its token.
  const cleaned = text === null ? '' : (options.clean?.(text) ?? text)
  const list = Array.isArray(argument) ? argument : [argument]
  switch (name) {
    case '$any':
      return actual !== undefined
    case '$absent':
      return (actual === undefined) === (argument !== false)
    case '$type':
      return typesOf(actual).includes(String(argument))
    case '$re': {
      if (text === null) return false
      const pattern = argument instanceof RegExp ? argument : readPattern(asText(argument))
      return testPattern(pattern, text) || (cleaned !== text && testPattern(pattern, cleaned))
    }
    case '$has':
      // A list with such an item, or a text with such a part; several expected ones must all be there.
      if (text !== null) return list.every(part => typeof part === 'string' && `${text}\n${cleaned}`.includes(part))
      return Array.isArray(actual) && list.every(item => actual.some(candidate => fits(item, candidate, options)))
    case '$oneOf':
      return list.some(choice => fits(choice, actual, options))
    case '$not':
      return !fits(argument, actual, options)
    case '$each':
      return Array.isArray(actual) && actual.every(item => fits(argument, item, options))
    case '$len': {
      // The length of a text in code points, with and without a token.
      if (Array.isArray(actual)) return fits(argument, actual.length, options)
      return (
        text !== null && (fits(argument, [...text].length, options) || fits(argument, [...cleaned].length, options))
      )
    }
    case '$exact':
      return isEqual(argument, actual, options)
    case '$uuid':
      return text !== null && UUID.test(text)
    case '$iso':
      return text !== null && ISO.test(text) && !Number.isNaN(Date.parse(text))
    default:
      return isOrdered(name, actual, argument)
  }
}

/** Compares numbers by size, texts (times, mostly) by their characters. */
function isOrdered(name: string, actual: unknown, bound: unknown): boolean {
  const isComparable =
    (typeof actual === 'number' && typeof bound === 'number') ||
    (typeof actual === 'string' && typeof bound === 'string')
  if (!isComparable) return false
  if (name === '$gt') return actual > bound
  if (name === '$gte') return actual >= bound
  return name === '$lt' ? actual < bound : actual <= bound
}

function typesOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}
