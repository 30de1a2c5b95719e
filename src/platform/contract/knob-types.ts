/**
 * Defines the types of knobs. A type parses what a user wrote (text of a flag, YAML, JSON), formats the value in one
 * canonical form, and describes the allowed values.
 */
import { DURATION_PATTERN, type Duration, formatDuration, parseDuration } from '../../base/text/quantities.ts'

export type JsonShape = Readonly<Record<string, unknown>>

export interface KnobType<T, Input = T> {
  readonly initial: T
  /** The allowed values in words, for error messages and docs. */
  readonly allowed: string
  /** The allowed values as JSON Schema, for editors. */
  readonly schema: JsonShape
  /** The value, or undefined when `raw` is not allowed. */
  parse(raw: unknown): T | undefined
  format(value: T): unknown
  /** Only a type: how code writes the value. */
  readonly input?: Input
}

const knobType = <T, Input = T>(
  initial: T,
  allowed: string,
  schema: JsonShape,
  parse: KnobType<T>['parse'],
  format: KnobType<T>['format'] = value => value,
): KnobType<T, Input> => ({ initial, allowed, schema, parse, format })

const spelled = (raw: unknown): unknown => (raw === true ? 'on' : raw === false ? 'off' : raw === null ? 'null' : raw)

/** Words that YAML and JSON can also write as a value. */
const spellings: Record<string, unknown> = { on: true, off: false, null: null, true: true }
const written = (word: string): unknown[] => {
  if (Object.hasOwn(spellings, word)) return [word, spellings[word]]
  return /^\d+$/.test(word) ? [word, Number(word)] : [word]
}
const OFF: JsonShape = { enum: written('off') }

type Off = 'off' | false

/** A word, and what YAML and code write for it: `on` is true, `400` a number. */
type Spelled<Word extends string> =
  | Word
  | (Word extends 'on' | 'true'
      ? true
      : Word extends 'off'
        ? false
        : Word extends 'null'
          ? null
          : Word extends `${infer Count extends number}`
            ? Count
            : never)

/** Adds `off`, the default, which null stands for. */
const orOff = <T, Input>({ allowed, schema, parse, format }: KnobType<T, Input>): KnobType<T | null, Input | Off> =>
  knobType<T | null, Input | Off>(
    null,
    `off | ${allowed}`,
    { anyOf: [OFF, schema] },
    raw => (spelled(raw) === 'off' ? null : parse(raw)),
    value => (value === null ? 'off' : format(value)),
  )

export function choiceKnob<const V extends readonly string[]>(
  values: V,
  initial: V[number],
): KnobType<V[number], Spelled<V[number]>> {
  const named = (raw: unknown) => values.find(value => typeof raw !== 'object' && value === String(raw))
  const schema = { enum: values.flatMap(written) }
  return knobType<V[number], Spelled<V[number]>>(
    initial,
    values.join(' | '),
    schema,
    raw => named(raw) ?? named(spelled(raw)),
  )
}

const DURATION: JsonShape = { type: 'string', pattern: DURATION_PATTERN }

/** A duration in milliseconds. */
export const durationKnob = (initialMs: number): KnobType<number, Duration> =>
  knobType(
    initialMs,
    'a duration such as 500ms, 5s, 10m, 12h',
    DURATION,
    raw => parseDuration(raw) ?? undefined,
    formatDuration,
  )

export const durationOrOffKnob = (): KnobType<number | null, Duration | Off> => orOff(durationKnob(0))

/** `[a, b]` in YAML and JSON, `[a,b]` or `a,b` in a flag; `off` is the empty list. */
function listOf(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw
  if (spelled(raw) === 'off') return []
  if (typeof raw !== 'string') return undefined
  const inner = raw.trim().replace(/^\[(.*)\]$/s, '$1')
  return inner.trim() === '' ? [] : inner.split(',').map(part => part.trim())
}

function list<T, Item = T>(
  items: string,
  initial: readonly T[],
  schema: JsonShape,
  parseItem: (raw: unknown) => T | null,
  formatItem: (item: T) => unknown = item => item,
): KnobType<readonly T[], readonly Item[] | Item | Off> {
  const parse = (raw: unknown) => {
    const parsed = listOf(raw)?.map(parseItem)
    return parsed?.every(item => item !== null) ? parsed : undefined
  }
  const anyOf = [OFF, { type: 'array', items: schema }, { type: 'string' }]
  const format = (value: readonly T[]) => (value.length === 0 ? 'off' : value.map(formatItem))
  return knobType<readonly T[], readonly Item[] | Item | Off>(
    initial,
    `off | a list of ${items}`,
    { anyOf },
    parse,
    format,
  )
}

export const durationListKnob = (): KnobType<readonly number[], readonly Duration[] | Duration | Off> =>
  list<number, Duration>('durations such as [1s, 5s]', [], DURATION, parseDuration, formatDuration)

/** A list of words from a fixed set. */
export const choiceListKnob = <const V extends readonly string[]>(values: V, initial: readonly V[number][]) =>
  list<V[number]>(values.join(', '), initial, { enum: values }, raw => values.find(value => value === raw) ?? null)

/** A list of words of one form, such as `web=chatbubble`; `form` describes it in errors. */
export const patternListKnob = (form: string, pattern: RegExp, initial: readonly string[] = []) =>
  list<string>(form, initial, { type: 'string', pattern: pattern.source }, raw =>
    typeof raw === 'string' && pattern.test(raw) ? raw : null,
  )

export function countKnob(initial: number, max = Number.MAX_SAFE_INTEGER): KnobType<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= max ? value : undefined
  }
  const allowed = `a whole number from 1${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`
  return knobType(initial, allowed, { type: 'integer', minimum: 1, maximum: max }, parse)
}

export const countOrOffKnob = (): KnobType<number | null, number | Off> => orOff(countKnob(1))

/** Calls per window, written `10/1s`. */
export interface Rate {
  readonly calls: number
  readonly windowMs: number
}

function parseRate(raw: unknown): Rate | undefined {
  const [, calls, window] = (typeof raw === 'string' && /^([1-9]\d{0,8})\/(.*)$/.exec(raw)) || []
  const windowMs = parseDuration(window)
  return windowMs ? { calls: Number(calls), windowMs } : undefined
}

export const rateOrOffKnob = (): KnobType<Rate | null, `${number}/${Duration}` | Off> =>
  orOff(
    knobType<Rate, `${number}/${Duration}`>(
      { calls: 1, windowMs: 1000 },
      'calls per window such as 10/1s',
      { type: 'string', pattern: '^[1-9]\\d{0,8}/\\d+(\\.\\d+)?(ms|s|m|h)$' },
      parseRate,
      ({ calls, windowMs }) => `${calls}/${formatDuration(windowMs)}`,
    ),
  )

/** Free text; with `mayBeEmpty`, also the empty text. */
export const textKnob = (initial: string, mayBeEmpty = false): KnobType<string> =>
  knobType(
    initial,
    mayBeEmpty ? 'a text' : 'a text that is not empty',
    { type: 'string', ...(mayBeEmpty ? {} : { minLength: 1 }) },
    raw => (typeof raw === 'string' && (mayBeEmpty || raw !== '') ? raw : undefined),
  )

/** Free text, or `word`, which stands for built-in texts. */
export const wordOrTextKnob = (word: string): KnobType<string> => ({
  ...textKnob(word),
  allowed: `${word} | a text that is not empty`,
})

/** One of the values of `words`, or the path of a module of the user. */
export const wordOrModuleKnob = (words: KnobType<string>): KnobType<string> => ({
  ...textKnob(words.initial),
  allowed: `${words.allowed} | the path of a module`,
})

/** One printable word, such as a key or a header name. */
export const wordKnob = (initial: string, allowed: string, pattern = /^[\x21-\x7e]+$/): KnobType<string> =>
  knobType(initial, allowed, { type: 'string', pattern: pattern.source }, raw =>
    typeof raw === 'string' && pattern.test(raw) ? raw : undefined,
  )
