/** Checks options and settings, and reads knobs. */

import { isMap } from '../../base/objects.ts'
import type { NodeListener } from '../../base/runtime/http-transport.ts'
import type { WebhookContext } from '../../base/runtime/transport.ts'
import { fieldName, MAX_PROBLEMS } from '../../base/schemas/explain-issues.ts'
import { cut } from '../../base/text/cut.ts'
import { nearest, sentence, shortName, suggest } from '../../base/text/error-text.ts'
import { parseBytes } from '../../base/text/quantities.ts'
import { withoutCredentials } from '../../base/text/redactor.ts'
import { describeSecret, isSecretPath } from '../../base/text/secret-positions.ts'
import type { Evidence } from '../contract/assumptions.ts'
import type { JsonShape, KnobSettings } from '../contract/knobs.ts'
import {
  allowedFor,
  defaultKnobs,
  isKnob,
  KNOB_NAMES,
  type KnobName,
  type KnobOrigin,
  type Knobs,
  parseKnob,
} from '../contract/knobs.ts'
import type { HoursProblems } from '../rules/business-hours.ts'
import type { Summarize, Translate } from '../rules/engines.ts'
import type { BotReply } from '../rules/state.ts'
import { MemoryLimitError } from '../rules/state.ts'

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
    /**
     * Receives events in-process instead of over the network. It is called as a worker is: the option may be the worker
     * itself.
     */
    fetch?(request: Request, env: unknown, context: WebhookContext): Response | Promise<Response>
    /** What `fetch` receives as `env`: bindings and secrets. Default `{}`. */
    readonly env?: unknown
    /** Receives events in-process as a request listener of `node:http`; `fromNode` and `fromFastify` create it. */
    readonly listener?: NodeListener
  }
  /**
   * Business hours as in the config file (docs/reference/config.md), by weekday and by date:
   * `{ time_zone: 'Europe/Oslo', 'mon-fri': ['09:00-12:00', '13:00-17:00'], '2026-12-24': 'closed' }`. Null: always open.
   */
  readonly businessHours?: Readonly<Record<string, unknown>> | null
  /** Knobs by dotted name (docs/reference/config.md), with values as in the config file. */
  readonly knobs?: KnobSettings
  /** Whether answers name their assumptions in the header `x-handover-sim-unspecified`. Default true. */
  readonly markers?: boolean
  /** What recorded traffic shows about the platform; answers do not name these assumptions. `calibrate --write` makes it. */
  readonly evidence?: Evidence
  /** Replaces the translation engine. May return a promise. */
  readonly translate?: Translate
  /** Replaces the summary engine. May return a promise. */
  readonly summarize?: Summarize
  /** The maximum number of journal entries; older ones are evicted. Default 10,000. */
  readonly journalLimit?: number
  /**
   * The maximum memory of the journal, and separately of all transcripts, as an estimate: bytes, or a text such as
   * `64mb` or `500kb`. The oldest entries and messages are evicted. Default `64mb`.
   */
  readonly memoryLimit?: number | string
}

/** Knobs and settings that `configure` changes. */
export type SettingChanges = KnobSettings & {
  readonly base_url?: string
  readonly 'webhook.url'?: string | null
  readonly 'bot.replies'?: readonly BotReply[]
  readonly business_hours?: PlatformSimulatorOptions['businessHours']
}

export const DEFAULTS = {
  port: 4747,
  host: '127.0.0.1',
  seed: 1,
  baseUrl: 'https://bot.example.test',
  /** The address of a webhook in this process. */
  webhookUrl: 'https://intermediary.example.test/webhook',
  botId: 1042,
  botName: 'Nora',
  organizationId: 7,
  journalLimit: 10_000,
  memoryLimit: 64 * 1_048_576,
} as const

/** The bound of the journal, and of the transcripts, in bytes. */
export const memoryLimitOf = ({ memoryLimit }: Pick<PlatformSimulatorOptions, 'memoryLimit'>): number =>
  parseBytes(memoryLimit) ?? DEFAULTS.memoryLimit

/** A problem of one option or setting. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** The accepted values or names, if they can be listed. */
  readonly allowed?: string | readonly string[]
}

const firstProblems = (problems: readonly SettingProblem[]): readonly SettingProblem[] =>
  problems.length <= MAX_PROBLEMS
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), { name: 'settings', message: 'There are more problems.' }]

/** Options or settings are invalid. `problems` has one item for each invalid name or value; nothing was changed. */
export class InvalidOptionError extends Error {
  override readonly name = 'InvalidOptionError'
  readonly problems: readonly SettingProblem[]
  constructor(problems: readonly SettingProblem[]) {
    const shown = firstProblems(problems)
    super(shown.map(problem => problem.message).join(' '))
    this.problems = shown
  }
}

/** Creates the error of one problem. */
export const invalidOption = (name: string, message: string) => new InvalidOptionError([{ name, message }])

/** Throws `InvalidOptionError` when the state would exceed `memoryLimit`. */
export function withinMemory<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw error instanceof MemoryLimitError ? invalidOption('memoryLimit', error.message) : error
  }
}

/** Reads one knob, or returns its problem. */
export function readKnob(
  name: string,
  raw: unknown,
  origin?: KnobOrigin,
): { name: KnobName; value: unknown } | SettingProblem {
  if (!isKnob(name)) {
    const message = `${shortName(name)} is not a knob${suggest(name, KNOB_NAMES)}`
    return { name: shortName(name), message }
  }
  const value = parseKnob(name, raw, origin)
  if (value !== undefined) return { name, value }
  const allowed = allowedFor(name, origin)
  const received = isSecretPath([name]) ? describeSecret(raw) : describeValue(raw)
  return { name, message: `${name} must be ${allowed}, got ${received}.`, allowed }
}

/** Sets the named knobs, all or none. Throws `InvalidOptionError`. */
export function applyKnobs(knobs: Knobs, raw: Readonly<Record<string, unknown>>): void {
  const read = Object.entries(raw).map(([name, value]) => readKnob(name, value))
  const problems = read.filter((setting): setting is SettingProblem => 'message' in setting)
  if (problems.length > 0) throw new InvalidOptionError(problems)
  for (const setting of read) if ('value' in setting) Object.assign(knobs, { [setting.name]: setting.value })
}

export function knobsFrom(raw: Readonly<Record<string, unknown>>): Knobs {
  const knobs = defaultKnobs()
  applyKnobs(knobs, raw)
  return knobs
}

/** A kind of value: whether a value is of it, how errors name it, and its JSON Schema. */
export interface OptionKind<Value = unknown> {
  readonly expected: string
  readonly schema: JsonShape
  /** The kind of each item of a list. */
  readonly items?: OptionKind
  /** False for what is accepted and has no effect: errors do not name it. */
  readonly isOffered?: boolean
  fits(value: unknown): value is Value
  /** Reads the text of a flag or a variable. */
  fromText(text: string): unknown
}
export type Shape = { readonly [name: string]: OptionKind | Shape }

/** Creates a kind of values. */
export const optionKind = <Value = unknown>(
  expected: string,
  fits: (value: unknown) => boolean,
  schema: JsonShape = {},
  fromText: (text: string) => unknown = text => text,
): OptionKind<Value> => ({ expected, schema, fits: (value): value is Value => fits(value), fromText })

const wholeNumber = (expected: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  optionKind<number>(
    expected,
    value => Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
    { type: 'integer', minimum, maximum },
    text => (/^\d+$/.test(text) ? Number(text) : text),
  )
const matching = (expected: string, schema: JsonShape, fits: (value: string) => boolean) =>
  optionKind<string>(expected, value => typeof value === 'string' && fits(value), { type: 'string', ...schema })

export const anything = optionKind('anything', () => true)
export const text = matching('a string', {}, () => true)
export const filledText = matching('a string that is not empty', { minLength: 1 }, value => value !== '')
export const flag = optionKind<boolean>('true or false', value => typeof value === 'boolean', { type: 'boolean' })
const integer = wholeNumber('an integer', Number.MIN_SAFE_INTEGER)
export const whole = wholeNumber('a whole number from 0', 0)
export const positive = wholeNumber('a whole number from 1', 1)
export const port = wholeNumber('a whole number from 0 to 65535 (0 takes any free port)', 0, 65_535)
export const host = matching('an address or host name such as 127.0.0.1', { minLength: 1 }, value =>
  /^[\w.:%[\]-]+$/.test(value),
)
/** No white space, control characters, halves of characters, and quotes: `URL` would encode or drop them. */
const urlPattern = (not: string) =>
  `^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\p{C}"<>\\\\^\`{|}/?#][^\\s\\p{C}"<>\\\\^\`{|}${not}]*$`
const urlKind = (expected: string, not = '') => {
  const pattern = urlPattern(not)
  return matching(expected, { pattern }, value => new RegExp(pattern, 'u').test(value) && URL.canParse(value))
}
export const httpUrl = (example: string) => urlKind(`an http or https URL such as ${example}`)
export const callable = optionKind('a function', value => typeof value === 'function')
export const map = optionKind<Record<string, unknown>>('an object', isMap)
export const list = optionKind<unknown[]>('an array', Array.isArray)
export const listKind = <Item>(items: OptionKind<Item>, expected: string): OptionKind<Item[]> => ({
  ...optionKind<Item[]>(expected, value => Array.isArray(value) && value.every(items.fits)),
  items,
})
export const either = <First, Second>(first: OptionKind<First>, second: OptionKind<Second>) =>
  optionKind<First | Second>(
    `${first.expected} or ${second.expected}`,
    value => first.fits(value) || second.fits(value),
  )
export const only = <const Value>(...values: readonly Value[]) =>
  optionKind<Value>(values.map(value => JSON.stringify(value)).join(' or '), value =>
    values.some(allowedValue => allowedValue === value),
  )

const baseUrl = urlKind('an http or https URL without a query, such as https://bot.example.test', '?#')
/** Fewer bytes would not hold one long body. */
const MIN_MEMORY_BYTES = 65_536
const memory = optionKind<number | string>(
  'a number of bytes from 65536, or a text such as 64mb or 500kb',
  value => (parseBytes(value) ?? 0) >= MIN_MEMORY_BYTES,
  {
    anyOf: [
      { type: 'integer', minimum: MIN_MEMORY_BYTES },
      { type: 'string', pattern: '^[0-9]+(kb|mb|gb)?$' },
    ],
  },
)
const reply = optionKind<BotReply>(
  '{ match, text, buttons? }',
  value => isMap(value) && text.fits(value.match) && text.fits(value.text),
)
const replies = listKind(reply, 'a list of { match, text, buttons? }')

/** The settings of a simulator by their names in config files, besides clock and knobs; code writes the names in camel case. */
export const SETTING_KINDS = {
  seed: whole,
  base_url: baseUrl,
  'bot.id': positive,
  'bot.name': filledText,
  'bot.organization_id': integer,
  'bot.replies': replies,
  'webhook.url': httpUrl('http://127.0.0.1:3000/webhook'),
  business_hours: either(map, only(null)),
  markers: flag,
  evidence: map,
  memory_limit: memory,
} as const

/** Throws `InvalidOptionError` with every problem. `what` names the value itself. */
export function validateOptions(what: string, value: unknown, shape: Shape): void {
  const problems = problemsIn(what, value, shape, '')
  if (problems.length > 0) throw new InvalidOptionError(problems)
}

function problemsIn(what: string, value: unknown, shape: Shape, path: string): SettingProblem[] {
  if (!isMap(value)) {
    const expected = `an object with ${offeredIn(shape).join(', ')}`
    const received = `${describeValue(value)}${fieldHint(value, shape)}`
    return [{ name: path || what, message: `${what} must be ${expected}, got ${received}.` }]
  }
  return Object.entries(value).flatMap(([name, field]) => {
    if (field === undefined) return []
    const at = path === '' ? name : `${path}.${name}`
    const below = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (below === undefined) return [unknown(what, name, at, shape)]
    if (!isKind(below)) return problemsIn(at, field, below, at)
    return below.fits(field) ? [] : [unexpected(at, below, field)]
  })
}

/** The most fields that an error offers for a value. */
const MAX_FIELDS = 2

/** Names the fields that take a value which was written instead of the object, such as the URL of `webhook`. */
function fieldHint(value: unknown, shape: Shape): string {
  if (typeof value !== 'string' && typeof value !== 'function') return ''
  const names = offeredIn(shape).filter(name => {
    const kind = shape[name]
    return kind !== undefined && isKind(kind) && kind.fits(value)
  })
  if (names.length === 0 || names.length > MAX_FIELDS) return ''
  return `; write { ${names.join(': ... } or { ')}: ... }`
}

/** The problem of a value that is not of its kind, or of its first such item. */
export function unexpected(name: string, { expected, items }: OptionKind, value: unknown): SettingProblem {
  if (items !== undefined && Array.isArray(value)) {
    const wrong = value.findIndex(item => !items.fits(item))
    return unexpected(`${name}[${wrong}]`, items, value[wrong])
  }
  return { name, message: `${name} must be ${expected}, got ${describeValue(value)}.` }
}

export const hoursProblems = ({ problems }: HoursProblems): readonly SettingProblem[] =>
  problems.map(({ path, message }) => {
    const name = fieldName(['business_hours', ...path])
    return { name, message: sentence(`${name} ${message}`) }
  })

const isKind = (below: OptionKind | Shape): below is OptionKind => typeof below.fits === 'function'

const offeredIn = (shape: Shape): string[] =>
  Object.entries(shape).flatMap(([name, below]) => (isKind(below) && below.isOffered === false ? [] : [name]))

/** Up to this many known names are listed in an error. */
const FEW = 4

function unknown(what: string, name: string, at: string, shape: Shape): SettingProblem {
  const names = offeredIn(shape)
  const near = names.length > FEW ? nearest(name, names) : ''
  return {
    name: shortName(at),
    message: sentence(`${what} takes no ${shortName(name)}${near || `; it takes ${names.join(', ')}`}`),
    allowed: names,
  }
}

const MAX_VALUE_CHARS = 80

export function describeValue(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  return cut(writtenOut(value), MAX_VALUE_CHARS)
}

/** A value without JSON, such as a circular one, by its kind. */
function writtenOut(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return JSON.stringify(withoutCredentials(value))
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
