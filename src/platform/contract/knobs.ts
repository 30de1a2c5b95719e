/**
 * Lists every knob by its dotted name, with its type, allowed values and default. `assumptions.ts` says what each one
 * changes and which rule of the platform is missing.
 */

import { keysOf } from '../../base/objects.ts'
import { DURATION_PATTERN, type Duration, formatDuration, parseDuration } from '../../base/text/quantities.ts'
import { BY_LANGUAGE } from './bot-texts.ts'
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

function choiceKnob<const V extends readonly string[]>(
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
const durationKnob = (initialMs: number): KnobType<number, Duration> =>
  knobType(
    initialMs,
    'a duration such as 500ms, 5s, 10m, 12h',
    DURATION,
    raw => parseDuration(raw) ?? undefined,
    formatDuration,
  )

const durationOrOffKnob = (): KnobType<number | null, Duration | Off> => orOff(durationKnob(0))

/** `[a, b]` in YAML and JSON, `[a,b]` or `a,b` in a flag; `off` is the empty list. */
function parseList(raw: unknown): unknown[] | undefined {
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
    const parsed = parseList(raw)?.map(parseItem)
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

const durationListKnob = (): KnobType<readonly number[], readonly Duration[] | Duration | Off> =>
  list<number, Duration>('durations such as [1s, 5s]', [], DURATION, parseDuration, formatDuration)

/** A list of words from a fixed set. */
const choiceListKnob = <const V extends readonly string[]>(values: V, initial: readonly V[number][]) =>
  list<V[number]>(values.join(', '), initial, { enum: values }, raw => values.find(value => value === raw) ?? null)

/** A list of words of one form, such as `web=chatbubble`; `form` describes it in errors. */
const patternListKnob = (form: string, pattern: RegExp, initial: readonly string[] = []) =>
  list<string>(form, initial, { type: 'string', pattern: pattern.source }, raw =>
    typeof raw === 'string' && pattern.test(raw) ? raw : null,
  )

function countKnob(initial: number, max = Number.MAX_SAFE_INTEGER): KnobType<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= max ? value : undefined
  }
  const allowed = `a whole number from 1${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`
  return knobType(initial, allowed, { type: 'integer', minimum: 1, maximum: max }, parse)
}

const countOrOffKnob = (): KnobType<number | null, number | Off> => orOff(countKnob(1))

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

const rateOrOffKnob = (): KnobType<Rate | null, `${number}/${Duration}` | Off> =>
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
const textKnob = (initial: string, mayBeEmpty = false): KnobType<string> =>
  knobType(
    initial,
    mayBeEmpty ? 'a text' : 'a text that is not empty',
    { type: 'string', ...(mayBeEmpty ? {} : { minLength: 1 }) },
    raw => (typeof raw === 'string' && (mayBeEmpty || raw !== '') ? raw : undefined),
  )

/** Free text, or `word`, which stands for built-in texts. */
const wordOrTextKnob = (word: string): KnobType<string> => ({
  ...textKnob(word),
  allowed: `${word} | a text that is not empty`,
})

/** One of the values of `words`, or the path of a module of the user. */
const wordOrModuleKnob = (words: KnobType<string>): KnobType<string> => ({
  ...textKnob(words.initial),
  allowed: `${words.allowed} | the path of a module`,
})

/** One printable word, such as a key or a header name. */
const wordKnob = (initial: string, allowed: string, pattern = /^[\x21-\x7e]+$/): KnobType<string> =>
  knobType(initial, allowed, { type: 'string', pattern: pattern.source }, raw =>
    typeof raw === 'string' && pattern.test(raw) ? raw : undefined,
  )

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const header = (initial: string) => wordKnob(initial, 'an HTTP header name', token)
const origin = /^(\*|https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?)$/i
const pair = /^[^=\s,]*=[^,]*$/

const engineWords = choiceKnob(['marker', 'identity'], 'marker')

export const KNOBS = {
  'webhook.signature': choiceKnob(['base64', 'hex', 'off'], 'base64'),
  'webhook.signatureHeader': header('Kindly-HMAC'),
  'webhook.algorithmHeader': header('Kindly-HMAC-algorithm'),
  'webhook.algorithm': choiceKnob(['sha256', 'sha1', 'sha512'], 'sha256'),
  'webhook.signedContent': choiceKnob(['body', 'url-and-body'], 'body'),
  'webhook.json': choiceKnob(['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'], 'compact'),
  'webhook.retry': durationListKnob(),
  'webhook.timeout': durationKnob(10_000),
  'webhook.redirect': choiceKnob(['fail', 'follow'], 'fail'),
  'webhook.order': choiceKnob(['chat', 'none', 'shuffle'], 'chat'),
  'webhook.basicAuth': choiceKnob(['off', 'on'], 'off'),
  'webhook.idHeader': wordKnob('off', 'off | an HTTP header name', token),
  'typing.webhook': choiceKnob(['echo', 'off'], 'echo'),
  'typing.response': choiceKnob(['empty', 'event'], 'empty'),
  'typing.clearOn': choiceListKnob(['end', 'message'], ['end']),
  'errors.body': choiceKnob(['json', 'empty', 'html', 'text'], 'json'),
  'errors.validation': choiceKnob(['400', '422'], '400'),
  'errors.idMismatch': choiceKnob(['404', '400', '403'], '404'),
  'summarize.errorStatus': choiceKnob(['400', '409', '422'], '400'),
  'summarize.count': choiceKnob(['codepoints', 'utf16'], 'codepoints'),
  'summarize.latency': durationKnob(0),
  'summarize.vary': choiceKnob(['off', 'on'], 'off'),
  'summarize.text': textKnob('template'),
  'summarize.prompt': textKnob('', true),
  'availability.initial': choiceKnob(['OPEN', 'CLOSED'], 'OPEN'),
  'availability.otherQueues': choiceKnob(['reject', 'accept'], 'reject'),
  'availability.closedBlocksStart': choiceKnob(['off', 'on'], 'off'),
  'time.format': choiceKnob(['iso', 'epoch', 'offset'], 'iso'),
  'keys.handover': wordKnob('sim-handover-key', 'a key: printable characters without spaces'),
  'keys.bot': wordKnob('sim-bot-key', 'a key: printable characters without spaces'),
  'keys.more': patternListKnob('key:bot_id, such as [other-key:2002]', /^[\x21-\x2b\x2d-\x7e]+:[1-9]\d{0,14}$/),
  'keys.shared': choiceKnob(['off', 'on'], 'off'),
  'keys.graceful': durationOrOffKnob(),
  'request.repeat': choiceKnob(['event', 'ignore'], 'event'),
  'request.forwardPending': choiceKnob(['off', 'on'], 'off'),
  'request.closedButton': choiceKnob(['shown', 'hidden'], 'shown'),
  'start.unrequested': choiceKnob(['accept', '409'], 'accept'),
  'start.again': choiceKnob(['accept', '409'], 'accept'),
  'end.idle': choiceKnob(['accept', '409'], 'accept'),
  'message.requiresTakeover': choiceKnob(['off', 'on'], 'off'),
  'message.allowEmpty': choiceKnob(['off', 'on'], 'off'),
  'messages.open': wordOrTextKnob(BY_LANGUAGE),
  'messages.closed': wordOrTextKnob(BY_LANGUAGE),
  'messages.entering': wordOrTextKnob(BY_LANGUAGE),
  'messages.left': wordOrTextKnob(BY_LANGUAGE),
  'bot.delay': durationKnob(0),
  'strict.sender': choiceKnob(['off', 'on'], 'off'),
  'buttons.form': choiceKnob(['typed', 'own'], 'typed'),
  'buttons.schema': choiceKnob(['any', 'strict'], 'any'),
  'limits.body': countKnob(1_048_576, 1_073_741_824),
  'limits.rate': rateOrOffKnob(),
  'limits.attachmentKb': countOrOffKnob(),
  'attachments.auth': choiceKnob(['off', 'on'], 'off'),
  'attachments.ttl': durationOrOffKnob(),
  'attachments.whenEmpty': choiceKnob(['empty', 'absent'], 'empty'),
  'translation.match': choiceKnob(['primary', 'exact'], 'primary'),
  'translation.aliases': patternListKnob('pairs such as [no=nb]', pair),
  'translation.engine': wordOrModuleKnob(engineWords),
  'transcript.text': choiceKnob(['seen', 'both'], 'seen'),
  'transcript.state': patternListKnob(
    'pairs such as [agent=taken_over], of bot, pending, agent',
    /^(bot|pending|agent)=[^,]+$/,
  ),
  'transcript.source': patternListKnob('pairs such as [web=chatbubble]', pair, ['web=chatbubble']),
  'transcript.takenOver': choiceKnob(['true', 'null', 'time'], 'true'),
  'transcript.extra': patternListKnob(
    'pairs such as [channel=widget], and the word client',
    /^([^=\s,]*=[^,]*|client)$/,
  ),
  'transcript.handover': choiceKnob(['record', 'minimal'], 'record'),
  'transcript.agentFromBot': choiceKnob(['on', 'off'], 'on'),
  'transcript.noticeExchange': choiceKnob(['on', 'off'], 'on'),
  'transcript.exchangeType': choiceKnob(['usersays', 'by-kind'], 'usersays'),
  'ids.chat': choiceKnob(['uuid', 'hex24'], 'uuid'),
  'ids.message': choiceKnob(['hex24', 'uuid'], 'hex24'),
  'ids.user': choiceKnob(['hex24', 'hex32'], 'hex24'),
  'ids.exchange': choiceKnob(['uuid', 'hex24'], 'uuid'),
  'api.trailingSlash': choiceKnob(['accept', 'strict', 'redirect'], 'accept'),
  'api.contentType': choiceKnob(['accept', '415'], 'accept'),
  'api.answers': choiceKnob(['as-is', 'extra', 'reordered'], 'as-is'),
  'api.unknownFields': choiceKnob(['accept', '400'], 'accept'),
  'api.nulls': choiceKnob(['accept', '400'], 'accept'),
  'api.emptyFields': choiceKnob(['accept', '400'], 'accept'),
  'api.versions': patternListKnob('further versions of the handover paths, such as [v3]', /^v\d+$/),
  'api.cors': patternListKnob('origins such as [https://desk.example.test], or * for every page', origin),
  'chat.idleTimeout': durationOrOffKnob(),
  'chat.closed': choiceKnob(['kept', 'ended', '404'], 'kept'),
  'chat.deleted': choiceKnob(['404', 'empty'], '404'),
  'chat.reopens': choiceKnob(['on', 'off'], 'on'),
} as const satisfies Record<string, KnobType<never> | KnobType<unknown> | object>

type Table = typeof KNOBS
export type KnobName = keyof Table
/** The effective values by name: durations in milliseconds (null when off), lists as arrays. */
export type Knobs = { -readonly [Name in KnobName]: Table[Name]['initial'] }

/** Knobs by name, with values as code writes them. */
export type KnobSettings = {
  readonly [Name in KnobName]?: Table[Name] extends { readonly input?: infer Input } ? Input : never
}

export const KNOB_NAMES = keysOf(KNOBS)

/**
 * Where a value comes from. `user`: flags, the config file, and options in code. `data`: scenarios, snapshots and the
 * control API, which name no module, because a module is code.
 */
export type KnobOrigin = 'user' | 'data'

const engineInData = {
  ...engineWords,
  allowed: `${engineWords.allowed} (a module is named only by --set translation.engine=FILE, the config file, or options in code)`,
}
const kindOf = (name: KnobName, origin: KnobOrigin = 'user') =>
  (origin === 'data' && name === 'translation.engine' ? engineInData : KNOBS[name]) as unknown as KnobType<unknown>

const INITIAL = Object.fromEntries(KNOB_NAMES.map(name => [name, kindOf(name).initial])) as unknown as Knobs

export const defaultKnobs = (): Knobs => ({ ...INITIAL })

export const isKnob = (name: string): name is KnobName => Object.hasOwn(KNOBS, name)

/** The allowed values of a knob in words. */
export const allowedFor = (name: KnobName, origin?: KnobOrigin): string => kindOf(name, origin).allowed

/** The allowed values of a knob as JSON Schema, for editors. */
export const schemaFor = (name: KnobName, origin?: KnobOrigin): JsonShape => kindOf(name, origin).schema

export const parseKnob = (name: KnobName, raw: unknown, origin?: KnobOrigin): unknown => kindOf(name, origin).parse(raw)

/** The canonical spelling of a value, as `--set` and the config file take it. */
export const formatKnob = (name: KnobName, value: unknown): unknown => kindOf(name).format(value)

export function formatKnobs(knobs: Knobs): Record<string, unknown> {
  const formatted: Record<string, unknown> = {}
  for (const name of KNOB_NAMES) formatted[name] = formatKnob(name, knobs[name])
  return formatted
}
