/** The matchers `{ $op: argument }`: what each asks of a value. */
import { readPattern } from '../../scenario/format/matchers.ts'
import { textOf } from './value-text.ts'

/** How an operator compares what is inside it; `at` continues the path. */
export interface Inner {
  fits(expected: unknown, actual: unknown): boolean
  equals(expected: unknown, actual: unknown): boolean
  /** The text as it counts: without its token when tokens are on. */
  clean(text: string): string
}

type Test = (argument: unknown, actual: unknown, inner: Inner) => boolean

const TESTS: Readonly<Record<string, Test>> = {
  $any: (_, actual) => actual !== undefined,
  $absent: (wanted, actual) => (actual === undefined) === (wanted !== false),
  $type: (name, actual) => typesOf(actual).includes(String(name)),
  $re: (pattern, actual, { clean }) =>
    typeof actual === 'string' && [actual, clean(actual)].some(text => regExpOf(pattern).test(text)),
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
export function operatorIn(expected: object): Operator | null {
  const [only, ...others] = Object.entries(expected)
  if (only === undefined || others.length > 0) return null
  const [name, argument] = only
  const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined
  return test === undefined ? null : { name, argument, holds: (actual, inner) => test(argument, actual, inner) }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function regExpOf(pattern: unknown): RegExp {
  const made = pattern instanceof RegExp ? pattern : readPattern(textOf(pattern))
  return made.global || made.sticky ? new RegExp(made.source, made.flags.replace(/[gy]/g, '')) : made
}

export function typesOf(value: unknown): readonly string[] {
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
