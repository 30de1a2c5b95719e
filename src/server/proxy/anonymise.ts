/**
 * Replaces personal values by others of the same form: an id by an id, a time by a time, a text by a text of the same length,
 * script and emoji. Equal values stay equal; without the salt, which is written nowhere, no value leads back to its origin.
 */
import { hmac } from '../../base/runtime/node.ts'
import { randomFrom } from '../../base/runtime/random.ts'
import { decoded } from '../../base/text/url-text.ts'
import { ALIASES, ENDPOINT_ROUTES } from '../../platform/contract/endpoint-routes.ts'

export interface Anonymiser {
  text(value: string): string
  /** Replaces the values in a JSON text, whose white space, order and escapes stay. */
  json(text: string): string
  /** Replaces the ids and names in a path and its query; the paths of the platform stay. */
  path(target: string): string
}

const WORD = /^[a-z][a-z0-9_-]{0,30}$/
const LANGUAGE = /^[a-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/

/** Values that the platform defines: they stay where they are valid, and outside of what is free. */
const DEFINED = new Map<string, RegExp>(
  Object.entries({
    event: /^[A-Z][A-Z ]{0,40}$/,
    availability: /^(OPEN|CLOSED)$/,
    reason: /^(AGENT_AVAILABILITY|BUSINESS_HOURS|OTHER)$/,
    queue: /^DEFAULT$/,
    bot_id: /^\d+$/,
    language: LANGUAGE,
    language_code: LANGUAGE,
    language_codes: LANGUAGE,
    source: WORD,
    state: WORD,
    exchange_type: WORD,
    code: WORD,
    field: /^[a-z_][a-z0-9_.[\]]{0,60}$/,
    type: /^[a-z]+\/[a-z0-9.+-]+$/,
  }),
)
const DEFINED_NUMBERS = new Set(['bot_id', 'organization_id', 'size_kb', 'timeout', 'status'])
/** What has any fields and values, of which nothing stays. */
const FREE = new Set(['context', 'comments', 'labels'])

/** Names of fields as programs write them; others may be values themselves. */
const FIELD_NAME = /^[a-z_][A-Za-z0-9_-]{0,40}$/
const PATH_PARTS: ReadonlySet<string> = new Set([
  ...Object.values(ENDPOINT_ROUTES).flatMap(({ path }) => path.split('/')),
  ...[...ALIASES, 'files', ''],
])

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const HEX = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{8,}$/i
const TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/
const URL_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^\s/]/i

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]|[^"{}[\],:\d-]+|./gs

/** The first code point of a kind, and how many it has. */
const ASCII_KINDS = [
  [97, 26],
  [65, 26],
  [48, 10],
] as const
const LETTER_KINDS = [/\p{Lu}/u, /\p{Ll}/u, /\p{Lo}/u, /\p{L}/u, /\p{N}/u, /\p{Extended_Pictographic}/u, /\p{RI}/u]
/** Scripts and groups of emoji lie in blocks of this many code points. */
const BLOCK = 128
const TRIES = 64
const MAX_SHIFT_DAYS = 3_000

/** `origins`: addresses of programs that stay in links, such as that of the platform. */
export function createAnonymiser(salt: string, origins: readonly string[]): Anonymiser {
  const digestText = (value: string): string => hmac('sha256', salt, value, 'hex')
  const randomOf = (value: string) => randomFrom(Number.parseInt(digestText(value).slice(0, 8), 16))
  const shiftMs = (1 + randomOf('time').below(MAX_SHIFT_DAYS * 86_400)) * -1_000

  function text(value: string): string {
    if (UUID.test(value)) return likeId(value, [14, 19])
    if (HEX.test(value)) return likeId(value, [])
    const time = TIME.exec(value)
    if (time !== null) return likeTime(value, time)
    return URL_FORM.test(value) && URL.canParse(value) ? likeUrl(value) : likeText(value)
  }

  /** `fixed`: the positions that say which kind of id it is. */
  function likeId(id: string, fixed: readonly number[]): string {
    let digits = ''
    while (digits.length < id.length) digits += digestText(`${id.toLowerCase()} ${digits.length}`)
    const isUpper = /[A-F]/.test(id)
    const changed = [...id]
      .map((char, at) => (char === '-' || fixed.includes(at) ? char : (digits[at] ?? '0')))
      .join('')
    return isUpper ? changed.toUpperCase() : changed
  }

  /** All times move by the same span, so that their order and distance stay. */
  function likeTime(value: string, [, seconds = '', fraction = '', zone = '']: readonly string[]): string {
    const ms = Date.parse(`${seconds.replace(' ', 'T')}Z`)
    if (Number.isNaN(ms)) return likeText(value)
    const moved = new Date(ms + shiftMs).toISOString().slice(0, 19)
    return `${seconds.includes(' ') ? moved.replace('T', ' ') : moved}${fraction}${zone}`
  }

  function likeUrl(value: string): string {
    const { origin, protocol, host, pathname, search, hash } = new URL(value)
    const isKept = origins.includes(origin)
    const begin = isKept ? origin : `${protocol}//${digestText(host).slice(0, 12)}.example`
    const end = `${path(pathname + search)}${hash && `#${likeText(hash.slice(1))}`}`
    return begin + (end === '/' && !value.endsWith('/') ? '' : end)
  }

  /** Replaces each letter, digit and emoji by one of its kind and script. */
  function likeText(value: string): string {
    const random = randomOf(value)
    return value.replace(/[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}]/gu, char => {
      const point = char.codePointAt(0) ?? 0
      for (const [first, count] of ASCII_KINDS) {
        const place = point - first
        if (place >= 0 && place < count)
          return String.fromCharCode(first + ((place + 1 + random.below(count - 1)) % count))
      }
      const kind = LETTER_KINDS.find(letterKind => letterKind.test(char))
      const begin = point - (point % BLOCK)
      for (let count = 0; count < TRIES; count++) {
        const substitute = String.fromCodePoint(begin + random.below(BLOCK))
        if (substitute !== char && substitute.length === char.length && kind?.test(substitute)) return substitute
      }
      return char.length === 2 ? '\u{1f642}' : 'x'
    })
  }

  function path(target: string): string {
    const [before = '', query] = target.split(/\?(.*)/s)
    const parts = before.split('/').map(part => (PATH_PARTS.has(part) ? part : encodeURIComponent(text(decoded(part)))))
    if (query === undefined) return parts.join('/')
    const pairs = query.split('&').map(pair => {
      const [name = '', given] = pair.split(/=(.*)/s)
      const shown = FIELD_NAME.test(name) ? name : encodeURIComponent(text(decoded(name)))
      return given === undefined ? shown : `${shown}=${encodeURIComponent(text(decoded(given)))}`
    })
    return `${parts.join('/')}?${pairs.join('&')}`
  }

  function json(source: string): string {
    const isAscii = !/[\u0080-\uffff]/.test(source) && /\\u[0-9a-f]{4}/i.test(source)
    const hasEscapedSlashes = source.includes('\\/')
    const written = (value: string): string => {
      let quoted = JSON.stringify(value)
      if (isAscii)
        quoted = quoted.replace(/[\u0080-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      return hasEscapedSlashes ? quoted.replaceAll('/', '\\/') : quoted
    }
    /** The field of each open object or list: its name, and whether its values may be anything. */
    const open: { readonly isObject: boolean; name: string; readonly isFree: boolean }[] = []
    let isName = false
    return source.replace(TOKENS, token => {
      const inner = open.at(-1)
      const { name = '', isFree = false } = inner ?? {}
      const [first = ''] = token
      if (first === '{' || first === '[') {
        open.push({ isObject: first === '{', name: first === '{' ? '' : name, isFree: isFree || FREE.has(name) })
        isName = first === '{'
      } else if (first === '}' || first === ']') open.pop()
      else if (first === ',') isName = inner?.isObject === true
      else if (first === ':') isName = false
      else if (first === '"') {
        const value: string = JSON.parse(token)
        if (isName && inner !== undefined) {
          inner.name = value
          return !isFree && FIELD_NAME.test(value) ? token : written(text(value))
        }
        return !isFree && DEFINED.get(name)?.test(value) ? token : written(text(value))
      } else if (/[\d-]/.test(first)) {
        const isDefined = DEFINED_NUMBERS.has(name) || (name === 'id' && open.at(-2)?.name === 'bot')
        return isDefined && !isFree ? token : likeNumber(token)
      }
      return isFree ? token.replace(/true|false/, 'true') : token
    })
  }

  /** As many digits before an exponent, and no zero before others. */
  function likeNumber(token: string): string {
    const [digits = '', exponent = ''] = token.split(/(?=[eE])/)
    return likeText(digits).replace(/^(-?)0(?=\d)/, '$11') + exponent
  }

  return { text, json, path }
}
