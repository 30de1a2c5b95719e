/** Defines the options of a simulator and their defaults, and reads knobs. */
import {
  allowedFor,
  defaultKnobs,
  isKnob,
  KNOB_NAMES,
  type KnobName,
  type Knobs,
  parseKnob,
} from '../contract/knobs.ts'
import { isMap } from '../contract/objects.ts'
import type { Summarize, Translate } from '../platform/engines.ts'
import type { BotReply } from '../platform/state.ts'
import { nearest, sentence, suggest } from '../text/error-text.ts'
import { defineTexts } from '../text/texts.ts'

/** Options of the platform. */
export interface PlatformSimulatorOptions {
  /** Determines ids, names, texts and payload bytes. Default 1. */
  readonly seed?: number
  /** The beginning of `_links.self` and of attachment links. Default `https://bot.example.test`. */
  readonly baseUrl?: string
  /** A `virtual` clock moves only with `clock.advance`. Default: virtual in-process, real for a server. */
  readonly clock?: 'real' | 'virtual' | { readonly mode: 'virtual'; readonly start?: string | Date }
  /** The bot of the workspace. Defaults: id 1042, name Nora, organizationId 7. */
  readonly bot?: {
    readonly id?: number
    readonly name?: string
    readonly organizationId?: number
    readonly replies?: readonly BotReply[]
  }
  readonly webhook?: {
    readonly url?: string
    /** Receives events in-process instead of over the network. */
    readonly fetch?: (request: Request) => Response | Promise<Response>
  }
  /** Business hours as in the config file: `{ time_zone, 'mon-fri': '09:00-17:00' }`. Null: always open. */
  readonly businessHours?: Readonly<Record<string, unknown>> | null
  /** Knobs by dotted name (docs/config.md), with values as in the config file. */
  readonly knobs?: Readonly<Record<string, unknown>>
  /** Whether answers name their assumptions in the header `x-handover-sim-unspecified`. Default true. */
  readonly markers?: boolean
  /** Replaces the translation engine. May return a promise. */
  readonly translate?: Translate
  /** Replaces the summary engine. May return a promise. */
  readonly summarize?: Summarize
  /** The maximum number of journal entries; older ones are evicted. Default 10,000. */
  readonly journalLimit?: number
}

export const DEFAULTS = {
  seed: 1,
  baseUrl: 'https://bot.example.test',
  botId: 1042,
  botName: 'Nora',
  organizationId: 7,
  journalLimit: 10_000,
} as const

/** A problem of one option or setting. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** The accepted values or names, if they can be listed. */
  readonly allowed?: string | readonly string[]
}

/** Options or settings are invalid. `problems` has one item for each invalid name or value; nothing was changed. */
export class InvalidOptionError extends Error {
  override readonly name = 'InvalidOptionError'
  readonly problems: readonly SettingProblem[]
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(problem => problem.message).join(' '))
    this.problems = problems
  }
}

/** Reads one knob, or returns its problem. */
export function readKnob(name: string, raw: unknown): { name: KnobName; value: unknown } | SettingProblem {
  if (!isKnob(name)) return { name, message: `${name} is not a knob${suggest(name, KNOB_NAMES)}` }
  const value = parseKnob(name, raw)
  if (value !== undefined) return { name, value }
  const allowed = allowedFor(name)
  return { name, message: `${name} must be ${allowed}, got ${JSON.stringify(raw)}.`, allowed }
}

/** Sets the named knobs, all or none. Throws `InvalidOptionError`. */
export function applyKnobs(knobs: Knobs, raw: Readonly<Record<string, unknown>>): void {
  const read = Object.entries(raw).map(([name, value]) => readKnob(name, value))
  const problems = read.filter((one): one is SettingProblem => 'message' in one)
  if (problems.length > 0) throw new InvalidOptionError(problems)
  for (const one of read) if ('value' in one) Object.assign(knobs, { [one.name]: one.value })
}

export function knobsFrom(raw: Readonly<Record<string, unknown>>): Knobs {
  const knobs = defaultKnobs()
  applyKnobs(knobs, raw)
  return knobs
}

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
