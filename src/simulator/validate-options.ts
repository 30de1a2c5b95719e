/** Validates options given in code: unknown names and values of another kind are errors. */
import { isMap } from '../files/is-map.ts'
import { nearest, sentence } from '../text/near-names.ts'
import { defineTexts } from '../text/texts.ts'
import { InvalidOptionError, type SettingProblem } from './options.ts'

const TEXTS = defineTexts({
  unexpected: (name: string, expected: string, received: string) => `${name} must be ${expected}, got ${received}.`,
  objectWith: (names: readonly string[]) => `an object with ${names.join(', ')}`,
  unknown: (what: string, name: string, hint: string) => `${what} takes no ${name}${hint}`,
  known: (names: readonly string[]) => `; it takes ${names.join(', ')}`,
  function: 'a function',
})

/** A kind of value: whether a value is of it, and how errors name it. */
export interface OptionKind {
  readonly expected: string
  fits(value: unknown): boolean
}
export type Shape = { readonly [name: string]: OptionKind | Shape }

const kind = (expected: string, fits: (value: unknown) => boolean): OptionKind => ({ expected, fits })

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)

export const anything = kind('anything', () => true)
export const text = kind('a string', value => typeof value === 'string')
export const flag = kind('true or false', value => typeof value === 'boolean')
export const whole = kind('an integer from 0', value => isInteger(value) && value >= 0)
export const positive = kind('an integer from 1', value => isInteger(value) && value >= 1)
export const callable = kind('a function', value => typeof value === 'function')
export const map = kind('an object', isMap)
export const list = kind('an array', Array.isArray)
export const either = (...kinds: readonly OptionKind[]): OptionKind =>
  kind(kinds.map(({ expected }) => expected).join(' or '), value => kinds.some(one => one.fits(value)))
export const only = (...values: readonly unknown[]): OptionKind =>
  kind(values.map(value => JSON.stringify(value)).join(' or '), value => values.includes(value))

/** Throws `InvalidOptionError` with every problem. `what` names the value itself. */
export function validateOptions(what: string, value: unknown, shape: Shape): void {
  const problems = problemsIn(what, value, shape, '')
  if (problems.length > 0) throw new InvalidOptionError(problems)
}

function problemsIn(what: string, value: unknown, shape: Shape, path: string): SettingProblem[] {
  if (!isMap(value)) {
    const expected = TEXTS.objectWith(Object.keys(shape))
    return [{ name: path || what, message: TEXTS.unexpected(what, expected, describeValue(value)) }]
  }
  return Object.entries(value).flatMap(([name, one]) => {
    if (one === undefined) return []
    const at = path === '' ? name : `${path}.${name}`
    const below = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (below === undefined) return [unknown(what, name, at, shape)]
    if (!isKind(below)) return problemsIn(at, one, below, at)
    return below.fits(one) ? [] : [{ name: at, message: TEXTS.unexpected(at, below.expected, describeValue(one)) }]
  })
}

const isKind = (below: OptionKind | Shape): below is OptionKind => typeof below.fits === 'function'

/** Up to this many known names are listed in an error. */
const FEW = 4

function unknown(what: string, name: string, at: string, shape: Shape): SettingProblem {
  const names = Object.keys(shape)
  const near = names.length > FEW ? nearest(name, names) : ''
  return { name: at, message: sentence(TEXTS.unknown(what, name, near || TEXTS.known(names))), allowed: names }
}

const MOST = 80

export function describeValue(value: unknown): string {
  if (typeof value === 'function') return TEXTS.function
  const whole = writtenOut(value)
  return whole.length > MOST ? `${whole.slice(0, MOST)}…` : whole
}

/** A value without JSON, such as a circular one, by its kind. */
function writtenOut(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
