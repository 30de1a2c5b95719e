/**
 * Compares an expected value with a received one. Scalars equal; objects partial; arrays of the same length, their items
 * partial; `{ $op: … }` as TESTS says.
 */

import { limitPattern, testPattern } from '../../base/runtime/patterns.ts'
import { fieldName } from '../../base/schemas/explain-issues.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { readPattern } from '../scenario/format/matchers.ts'
import { type Asymmetric, asText, isAsymmetric } from '../scenario/interpolation.ts'
import { aroundDifference, flow, type Notation } from '../scenario/value-text.ts'
import { type DifferenceNote, keyNote, noteFor } from './difference-notes.ts'
import type { PatternTester } from './pattern-tester.ts'

/** A field whose value is not the expected one. */
export interface Difference {
  /** `message`, `sender.name`, `attachments[0].name`; empty for the whole. */
  readonly path: string
  readonly expected: Notation
  /** Null: absent. */
  readonly received: Notation | null
  readonly note?: DifferenceNote
}

export interface MatchOptions {
  /** Takes from a text what does not count: an appended token. */
  readonly clean?: (text: string) => string
  /** Tests regular expressions and records those that are too slow. Without it, a slow one throws `SlowPatternError`. */
  readonly patterns?: Pick<PatternTester, 'test' | 'limit'>
}

/** No report shows more differences. */
const MOST_DIFFERENCES = 50

/** The differences between an expected value and a received one, at most 50; none when it fits. */
export function match(expected: unknown, actual: unknown, options: MatchOptions = {}): Difference[] {
  const gaps = compare(expected, actual, [], meansOf(options)).slice(0, MOST_DIFFERENCES)
  return gaps.map(gap => differenceOf(gap, actual))
}

/** The number of differences, at most 50. */
export const countDifferences = (expected: unknown, actual: unknown, options: MatchOptions = {}): number =>
  Math.min(MOST_DIFFERENCES, compare(expected, actual, [], meansOf(options)).length)

/** The same without the differences. */
export const fits = (expected: unknown, actual: unknown, options: MatchOptions = {}): boolean =>
  compare(expected, actual, [], meansOf(options)).length === 0

/** How texts are compared. */
type Means = Required<MatchOptions>
const UNCHANGED = (text: string) => text
const UNRECORDED: Means['patterns'] = { test: testPattern, limit: limitPattern }
const meansOf = ({ clean = UNCHANGED, patterns = UNRECORDED }: MatchOptions): Means => ({ clean, patterns })

type Path = readonly PropertyKey[]

interface Gap {
  readonly path: Path
  readonly expected: unknown
  readonly actual: unknown
  readonly note?: DifferenceNote
}

function compare(expected: unknown, actual: unknown, path: Path, means: Means): Gap[] {
  if (expected === undefined) return []
  const differs = [{ path, expected, actual }]
  if (typeof expected !== 'object' || expected === null) return sameScalar(expected, actual, means) ? [] : differs
  if (expected instanceof RegExp) return compare({ $re: expected }, actual, path, means)
  if (isAsymmetric(expected)) return byItself(expected, actual, path, means)
  if (Array.isArray(expected)) return compareLists(expected, actual, path, means)
  const operator = operatorIn(expected)
  if (operator === null) return compareMaps({ ...expected }, actual, path, means)
  if (operator.name === '$each' && Array.isArray(actual)) {
    return actual.flatMap((item, index) => compare(operator.argument, item, [...path, index], means))
  }
  return operator.holds(actual, innerOf(means)) ? [] : differs
}

/** A matcher of a test runner or of the user: one that throws fits nothing. */
function byItself(expected: Asymmetric, actual: unknown, path: Path, { patterns }: Means): Gap[] {
  const pattern = patternIn(expected)
  const fitting = () => expected.asymmetricMatch(actual)
  try {
    const isFitting =
      pattern === null
        ? fitting()
        : patterns.limit(
            pattern,
            (typeof actual === 'string' ? actual : (JSON.stringify(actual) ?? '')).length,
            fitting,
          )
    return isFitting ? [] : [{ path, expected, actual }]
  } catch (error) {
    return [{ path, expected, actual, note: { code: 'matcher_threw', message: flow(messageOf(error)) } }]
  }
}

const DEEPEST = 4

/** The first regular expression inside a matcher of a test runner: `expect.stringMatching(/a/)`. */
function patternIn(value: unknown, depth = 0): RegExp | null {
  if (value instanceof RegExp) return value
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return null
  for (const inner of Object.values(value)) {
    const found = patternIn(inner, depth + 1)
    if (found !== null) return found
  }
  return null
}

const innerOf = (means: Means): Inner => ({
  ...means,
  fits: (expected, actual) => compare(expected, actual, [], means).length === 0,
  equals: (expected, actual) => same(expected, actual, means),
})

function sameScalar(expected: unknown, actual: unknown, means: Means): boolean {
  if (expected === actual) return true
  return typeof expected === 'string' && typeof actual === 'string' && means.clean(expected) === means.clean(actual)
}

type Fields = Readonly<Record<string, unknown>>
const isMap = (value: unknown): value is Fields => typesOf(value)[0] === 'object'

function compareMaps(expected: Fields, actual: unknown, path: Path, means: Means): Gap[] {
  if (!isMap(actual)) return actual === undefined ? absentMap(expected, path, means) : [{ path, expected, actual }]
  return Object.entries(expected).flatMap(([key, wanted]) =>
    compare(wanted, Object.hasOwn(actual, key) ? actual[key] : undefined, [...path, key], means),
  )
}

/** Named by the fields that are missed; only fields that are to be absent may miss their parent. */
function absentMap(expected: Fields, path: Path, means: Means): Gap[] {
  const gaps = Object.entries(expected).flatMap(([key, wanted]) => compare(wanted, undefined, [...path, key], means))
  const wanted = Object.values(expected)
  const allAbsent = wanted.length > 0 && wanted.every(one => isMap(one) && operatorIn(one)?.name === '$absent')
  return gaps.length > 0 || allAbsent ? gaps : [{ path, expected, actual: undefined }]
}

function compareLists(expected: readonly unknown[], actual: unknown, path: Path, means: Means): Gap[] {
  if (!Array.isArray(actual)) return [{ path, expected, actual }]
  if (actual.length !== expected.length) {
    const note = { code: 'item_count', expected: expected.length, received: actual.length } as const
    return [{ path, expected, actual, note }]
  }
  const gaps = expected.flatMap((wanted, index) => compare(wanted, actual[index], [...path, index], means))
  const shuffled = gaps.length > 0 && isShuffled(expected, actual, means)
  return shuffled ? [{ path, expected, actual, note: { code: 'item_order' } }] : gaps
}

const MOST_SHUFFLED = 50

function isShuffled(expected: readonly unknown[], actual: readonly unknown[], means: Means): boolean {
  if (expected.length > MOST_SHUFFLED) return false
  const left = [...actual]
  return expected.every(wanted => {
    const at = left.findIndex(item => compare(wanted, item, [], means).length === 0)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
}

/** Deeply equal, nothing more and nothing less. */
function same(expected: unknown, actual: unknown, means: Means): boolean {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false
    return expected.every((item, index) => same(item, actual[index], means))
  }
  if (!isMap(expected)) return sameScalar(expected, actual, means)
  const keys = Object.keys(expected)
  if (!isMap(actual) || Object.keys(actual).length !== keys.length) return false
  return keys.every(key => Object.hasOwn(actual, key) && same(expected[key], actual[key], means))
}

function differenceOf({ path, expected, actual, note }: Gap, root: unknown): Difference {
  const found = note ?? (actual === undefined ? keyNote(path, root) : noteFor(expected, actual))
  const both = typeof expected === 'string' && typeof actual === 'string'
  const [left, right] = both ? aroundDifference(expected, actual) : [flow(expected), flow(actual)]
  const received = actual === undefined ? null : right
  return { path: fieldName(path), expected: left, received, ...(found === undefined ? {} : { note: found }) }
}

export const distanceOf = (differences: readonly Difference[]): number =>
  differences.reduce(
    (sum, { note, expected, received }) =>
      sum + (note === undefined ? 1 - likeness(expected, received ?? 'absent') / 3 : 0.5),
    0,
  )

/** From 0 to 1: the share of neighbouring pairs of characters two texts have in common (Dice). */
function likeness(a: string, b: string): number {
  const [pairs, others] = [pairsOf(a), pairsOf(b)]
  const common = [...pairs].filter(pair => others.has(pair)).length
  return pairs.size + others.size === 0 ? 0 : (2 * common) / (pairs.size + others.size)
}

const pairsOf = (text: string): Set<string> =>
  new Set([...text].map((_, at, signs) => signs.slice(at, at + 2).join('')))

/** How an operator compares what is inside it; `clean` gives the text as it counts, without its token. */
export interface Inner extends Means {
  fits(expected: unknown, actual: unknown): boolean
  equals(expected: unknown, actual: unknown): boolean
}

type Test = (argument: unknown, actual: unknown, inner: Inner) => boolean

const TESTS: Readonly<Record<string, Test>> = {
  $any: (_, actual) => actual !== undefined,
  $absent: (wanted, actual) => (actual === undefined) === (wanted !== false),
  $type: (name, actual) => typesOf(actual).includes(String(name)),
  $re: (pattern, actual, { clean, patterns }) =>
    typeof actual === 'string' &&
    [...new Set([actual, clean(actual)])].some(text =>
      patterns.test(pattern instanceof RegExp ? pattern : readPattern(asText(pattern)), text),
    ),
  $has: has,
  $oneOf: (choices, actual, { fits }) => listOf(choices).some(choice => fits(choice, actual)),
  $not: (unwanted, actual, { fits }) => !fits(unwanted, actual),
  $each: (item, actual, { fits }) => Array.isArray(actual) && actual.every(one => fits(item, one)),
  $len: (wanted, actual, { fits, clean }) => lengthsOf(actual, clean).some(length => fits(wanted, length)),
  $gt: ordered((actual, bound) => actual > bound),
  $gte: ordered((actual, bound) => actual >= bound),
  $lt: ordered((actual, bound) => actual < bound),
  $lte: ordered((actual, bound) => actual <= bound),
  $exact: (value, actual, { equals }) => equals(value, actual),
  $uuid: (_, actual) => typeof actual === 'string' && UUID.test(actual),
  $iso: (_, actual) => typeof actual === 'string' && ISO.test(actual) && !Number.isNaN(Date.parse(actual)),
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

export interface Operator {
  readonly name: string
  readonly argument: unknown
  holds(actual: unknown, inner: Inner): boolean
}

/** Null when the value is no matcher but data. */
function operatorIn(expected: object): Operator | null {
  const [only, ...others] = Object.entries(expected)
  if (only === undefined || others.length > 0) return null
  const [name, argument] = only
  const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
  return test === undefined ? null : { name, argument, holds: (actual, inner) => test(argument, actual, inner) }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function typesOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}

/** A list with such an item, or a text with such a part; several wanted ones must all be there. */
function has(wanted: unknown, actual: unknown, { fits, clean }: Inner): boolean {
  const there = (one: unknown) => {
    if (typeof actual === 'string') return typeof one === 'string' && `${actual}\n${clean(actual)}`.includes(one)
    return Array.isArray(actual) && actual.some(item => fits(one, item))
  }
  return listOf(wanted).every(there)
}

/** Of texts in code points, with and without a token. */
function lengthsOf(value: unknown, clean: (text: string) => string): number[] {
  if (Array.isArray(value)) return [value.length]
  return typeof value === 'string' ? [[...value].length, [...clean(value)].length] : []
}

/** Numbers by size, texts (times, mostly) by their characters. */
function ordered(compare: (actual: number | string, bound: number | string) => boolean): Test {
  return (bound, actual) => {
    if (typeof bound === 'number' && typeof actual === 'number') return compare(actual, bound)
    return typeof bound === 'string' && typeof actual === 'string' && compare(actual, bound)
  }
}
