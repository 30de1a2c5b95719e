/**
 * The kinds of value a knob can have. Each kind reads what a user wrote (a flag's text, YAML, JSON) into the
 * value the code uses, writes it back in one canonical form, and says in words what it allows.
 */
import { formatDuration, parseDuration } from './duration.ts'

export interface KnobKind<T> {
  readonly initial: T
  /** In words, for error messages and docs. */
  readonly allowed: string
  /** The value, or undefined when `raw` is not allowed. */
  parse(raw: unknown): T | undefined
  show(value: T): unknown
}

const spelled = (raw: unknown): unknown => (raw === true ? 'on' : raw === false ? 'off' : raw === null ? 'null' : raw)

export function oneOf<const V extends readonly string[]>(values: V, initial: V[number]): KnobKind<V[number]> {
  const find = (raw: unknown) => values.find(value => value === String(spelled(raw)))
  return { initial, allowed: values.join(' | '), parse: find, show: value => value }
}

/** A duration in milliseconds; with `off`, null stands for off. */
export function duration(initialMs: number): KnobKind<number> {
  return {
    initial: initialMs,
    allowed: 'a duration such as 500ms, 5s, 10m, 12h',
    parse: raw => parseDuration(raw) ?? undefined,
    show: formatDuration,
  }
}

export function durationOrOff(): KnobKind<number | null> {
  return {
    initial: null,
    allowed: 'off | a duration such as 500ms, 5s, 10m, 12h',
    parse: raw => (spelled(raw) === 'off' ? null : (parseDuration(raw) ?? undefined)),
    show: value => (value === null ? 'off' : formatDuration(value)),
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

function list<T>(allowed: string, initial: readonly T[], one: (raw: unknown) => T | null, show: (item: T) => unknown) {
  const kind: KnobKind<readonly T[]> = {
    initial,
    allowed,
    parse(raw) {
      const items = listOf(raw)?.map(one)
      return items === undefined || items.includes(null) ? undefined : (items as T[])
    },
    show: value => (value.length === 0 ? 'off' : value.map(show)),
  }
  return kind
}

export const durations = (): KnobKind<readonly number[]> =>
  list('off | a list of durations such as [1s, 5s]', [], parseDuration, formatDuration)

/** Words from a fixed set. */
export const someOf = <const V extends readonly string[]>(values: V, initial: readonly V[number][]) =>
  list<V[number]>(
    `off | a list of ${values.join(', ')}`,
    initial,
    raw => values.find(value => value === raw) ?? null,
    value => value,
  )

/** Words of a given form, such as `web=chatbubble`; `form` says it in the error. */
export const wordsLike = (form: string, pattern: RegExp, initial: readonly string[] = []) =>
  list<string>(
    `off | a list of ${form}`,
    initial,
    raw => (typeof raw === 'string' && pattern.test(raw) ? raw : null),
    value => value,
  )

export function count(initial: number, max = Number.MAX_SAFE_INTEGER): KnobKind<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
    return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= max
      ? (value as number)
      : undefined
  }
  return { initial, allowed: `a whole number from 1 to ${max}`, parse, show: value => value }
}

export function countOrOff(): KnobKind<number | null> {
  const inner = count(1)
  return {
    initial: null,
    allowed: 'off | a whole number from 1',
    parse: raw => (spelled(raw) === 'off' ? null : inner.parse(raw)),
    show: value => value ?? 'off',
  }
}

/** Calls per window, written `10/1s`; null is off. */
export interface Rate {
  readonly calls: number
  readonly windowMs: number
}
export function rateOrOff(): KnobKind<Rate | null> {
  return {
    initial: null,
    allowed: 'off | calls per window such as 10/1s',
    parse(raw) {
      if (spelled(raw) === 'off') return null
      const [calls, window] = String(raw).split('/')
      const windowMs = parseDuration(window)
      return /^[1-9]\d*$/.test(calls ?? '') && windowMs ? { calls: Number(calls), windowMs } : undefined
    },
    show: value => (value === null ? 'off' : `${value.calls}/${formatDuration(value.windowMs)}`),
  }
}

/** Free text; `mayBeEmpty` for settings where nothing is a value. */
export function text(initial: string, mayBeEmpty = false): KnobKind<string> {
  return {
    initial,
    allowed: mayBeEmpty ? 'a text' : 'a text that is not empty',
    parse: raw => (typeof raw === 'string' && (mayBeEmpty || raw !== '') ? raw : undefined),
    show: value => value,
  }
}

/** One printable word, such as a key or a header name. */
export function word(initial: string, allowed: string, pattern = /^[\x21-\x7e]+$/): KnobKind<string> {
  return {
    initial,
    allowed,
    parse: raw => (typeof raw === 'string' && pattern.test(raw) ? raw : undefined),
    show: value => value,
  }
}
