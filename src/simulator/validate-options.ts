/** What a test hands over, read strictly: a name nobody knows and a value of another kind are told at once. */

import { isMap } from '../files/is-map.ts'
import { nearest } from '../text/near-names.ts'
import { InvalidOptionError, type SettingProblem } from './options.ts'

/** What one value has to be: in words, and whether it is. Or the names below it. */
export interface Kind {
  readonly must: string
  fits(value: unknown): boolean
}
export type Shape = { readonly [name: string]: Kind | Shape }

const kind = (must: string, fits: (value: unknown) => boolean): Kind => ({ must, fits })

export const anything = kind('anything', () => true)
export const text = kind('a text', value => typeof value === 'string')
export const flag = kind('true or false', value => typeof value === 'boolean')
export const whole = kind('a whole number from 0', value => Number.isSafeInteger(value) && (value as number) >= 0)
export const positive = kind('a whole number from 1', value => Number.isSafeInteger(value) && (value as number) >= 1)
export const callable = kind('a function', value => typeof value === 'function')
export const map = kind('an object', isMap)
export const list = kind('a list', Array.isArray)
export const either = (...kinds: readonly Kind[]): Kind =>
  kind(kinds.map(({ must }) => must).join(' or '), value => kinds.some(one => one.fits(value)))
export const only = (...values: readonly unknown[]): Kind =>
  kind(values.map(value => JSON.stringify(value)).join(' or '), value => values.includes(value))

/** Throws `InvalidOptionError` that names everything wrong. `what` it is, for an object that is none. */
export function validateOptions(what: string, value: unknown, shape: Shape): void {
  const problems = problemsIn(what, value, shape, '')
  if (problems.length > 0) throw new InvalidOptionError(problems)
}

function problemsIn(what: string, value: unknown, shape: Shape, path: string): SettingProblem[] {
  if (!isMap(value)) {
    const message = `${what} must be an object with ${Object.keys(shape).join(', ')}, got ${shown(value)}.`
    return [{ name: path || what, message }]
  }
  return Object.entries(value).flatMap(([name, one]) => {
    if (one === undefined) return []
    const at = path === '' ? name : `${path}.${name}`
    const below = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (below === undefined) return [unknown(what, name, at, shape)]
    if (!isKind(below)) return problemsIn(at, one, below, at)
    return below.fits(one) ? [] : [{ name: at, message: `${at} must be ${below.must}, got ${shown(one)}.` }]
  })
}

const isKind = (below: Kind | Shape): below is Kind => typeof below.fits === 'function'

/** So few names are all named. */
const FEW = 4

function unknown(what: string, name: string, at: string, shape: Shape): SettingProblem {
  const names = Object.keys(shape)
  const near = names.length > FEW ? nearest(name, names) : ''
  return { name: at, message: `${what} takes no ${name}${near || `; it takes ${names.join(', ')}.`}` }
}

const MOST = 80

export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const whole = writtenOut(value)
  return whole.length > MOST ? `${whole.slice(0, MOST)}…` : whole
}

/** What has no JSON, such as what holds itself, by its kind. */
function writtenOut(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
