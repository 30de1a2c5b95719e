/**
 * Defines the types of knobs. A type parses what a user wrote (text of a flag, YAML, JSON), formats the value in one
 * canonical form, and describes the allowed values.
 */
import { formatDuration, parseDuration } from '../text/quantities.ts'

export interface KnobType<T> {
  readonly initial: T
  /** The allowed values in words, for error messages and docs. */
  readonly allowed: string
  /** The value, or undefined when `raw` is not allowed. */
  parse(raw: unknown): T | undefined
  format(value: T): unknown
  /** The allowed values as JSON Schema, for editors. */
  readonly schema: JsonShape
}
export type JsonShape = Readonly<Record<string, unknown>>

const spelled = (raw: unknown): unknown => (raw === true ? 'on' : raw === false ? 'off' : raw === null ? 'null' : raw)

/** Words that YAML and JSON can also write as a value. */
const spellings: Record<string, unknown> = { on: true, off: false, null: null, true: true }
const written = (wordKnob: string): unknown[] => {
  if (Object.hasOwn(spellings, wordKnob)) return [wordKnob, spellings[wordKnob]]
  return /^\d+$/.test(wordKnob) ? [wordKnob, Number(wordKnob)] : [wordKnob]
}
const OFF: JsonShape = { enum: written('off') }
const DURATION: JsonShape = { type: 'string', pattern: '^\\s*\\d+(\\.\\d+)?(ms|s|m|h)\\s*$' }
const orOff = (shape: JsonShape): JsonShape => ({ anyOf: [OFF, shape] })

export function choiceKnob<const V extends readonly string[]>(values: V, initial: V[number]): KnobType<V[number]> {
  const named = (raw: unknown) => values.find(value => typeof raw !== 'object' && value === String(raw))
  const find = (raw: unknown) => named(raw) ?? named(spelled(raw))
  const schema = { enum: values.flatMap(written) }
  return { initial, allowed: values.join(' | '), parse: find, format: value => value, schema }
}

/** A duration in milliseconds; with `off`, null stands for off. */
export function durationKnob(initialMs: number): KnobType<number> {
  return {
    initial: initialMs,
    allowed: 'a duration such as 500ms, 5s, 10m, 12h',
    parse: raw => parseDuration(raw) ?? undefined,
    format: formatDuration,
    schema: DURATION,
  }
}

export function durationOrOffKnob(): KnobType<number | null> {
  return {
    initial: null,
    allowed: 'off | a duration such as 500ms, 5s, 10m, 12h',
    parse: raw => (spelled(raw) === 'off' ? null : (parseDuration(raw) ?? undefined)),
    format: value => (value === null ? 'off' : formatDuration(value)),
    schema: orOff(DURATION),
  }
}

/** `[a, b]` in YAML and JSON, `[a,b]` or `a,b` in a flag; `off` is the empty list. */
function listOf(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw
  if (spelled(raw) === 'off') return []
  if (typeof raw !== 'string') return undefined
  const inner = raw.trim().replace(/^\[(.*)\]$/s, '$1')
  return inner.trim() === '' ? [] : inner.split(',').map(part => part.trim())
}

function list<T>(
  allowed: string,
  initial: readonly T[],
  one: (raw: unknown) => T | null,
  format: (item: T) => unknown,
  items: JsonShape,
) {
  const kind: KnobType<readonly T[]> = {
    initial,
    allowed,
    parse(raw) {
      const items = listOf(raw)?.map(one)
      return items?.every(item => item !== null) ? items : undefined
    },
    format: value => (value.length === 0 ? 'off' : value.map(format)),
    schema: { anyOf: [OFF, { type: 'array', items }, { type: 'string' }] },
  }
  return kind
}

export const durationListKnob = (): KnobType<readonly number[]> =>
  list('off | a list of durations such as [1s, 5s]', [], parseDuration, formatDuration, DURATION)

/** A list of words from a fixed set. */
export const choiceListKnob = <const V extends readonly string[]>(values: V, initial: readonly V[number][]) =>
  list<V[number]>(
    `off | a list of ${values.join(', ')}`,
    initial,
    raw => values.find(value => value === raw) ?? null,
    value => value,
    { enum: values },
  )

/** A list of words of one form, such as `web=chatbubble`; `form` describes it in errors. */
export const patternListKnob = (form: string, pattern: RegExp, initial: readonly string[] = []) =>
  list<string>(
    `off | a list of ${form}`,
    initial,
    raw => (typeof raw === 'string' && pattern.test(raw) ? raw : null),
    value => value,
    { type: 'string', pattern: pattern.source },
  )

export function countKnob(initial: number, max = Number.MAX_SAFE_INTEGER): KnobType<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= max ? value : undefined
  }
  const schema = { type: 'integer', minimum: 1, maximum: max }
  return { initial, allowed: `a whole number from 1 to ${max}`, parse, format: value => value, schema }
}

export function countOrOffKnob(): KnobType<number | null> {
  const inner = countKnob(1)
  return {
    initial: null,
    allowed: 'off | a whole number from 1',
    parse: raw => (spelled(raw) === 'off' ? null : inner.parse(raw)),
    format: value => value ?? 'off',
    schema: orOff(inner.schema),
  }
}

/** Calls per window, written `10/1s`; null is off. */
export interface Rate {
  readonly calls: number
  readonly windowMs: number
}
export function rateOrOffKnob(): KnobType<Rate | null> {
  return {
    initial: null,
    allowed: 'off | calls per window such as 10/1s',
    parse(raw) {
      if (spelled(raw) === 'off') return null
      const [, calls, window] = (typeof raw === 'string' && /^([1-9]\d{0,8})\/(.*)$/.exec(raw)) || []
      const windowMs = parseDuration(window)
      return windowMs ? { calls: Number(calls), windowMs } : undefined
    },
    format: value => (value === null ? 'off' : `${value.calls}/${formatDuration(value.windowMs)}`),
    schema: orOff({ type: 'string', pattern: '^[1-9]\\d{0,8}/\\d+(\\.\\d+)?(ms|s|m|h)$' }),
  }
}

/** Free text; with `mayBeEmpty`, also the empty text. */
export function textKnob(initial: string, mayBeEmpty = false): KnobType<string> {
  return {
    initial,
    allowed: mayBeEmpty ? 'a text' : 'a text that is not empty',
    parse: raw => (typeof raw === 'string' && (mayBeEmpty || raw !== '') ? raw : undefined),
    format: value => value,
    schema: { type: 'string', ...(mayBeEmpty ? {} : { minLength: 1 }) },
  }
}

/** One printable word, such as a key or a header name. */
export function wordKnob(initial: string, allowed: string, pattern = /^[\x21-\x7e]+$/): KnobType<string> {
  return {
    initial,
    allowed,
    parse: raw => (typeof raw === 'string' && pattern.test(raw) ? raw : undefined),
    format: value => value,
    schema: { type: 'string', pattern: pattern.source },
  }
}
