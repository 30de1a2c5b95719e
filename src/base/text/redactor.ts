/** Replaces secrets by `***` in texts and JSON values, in all forms in which programs write them. */

import { literal, type SecretForms, secretForms } from './secret-forms.ts'
import { decoded } from './url-text.ts'

/** What a secret becomes. */
export const REDACTED = '***'

declare const redacted: unique symbol
/** A value without secrets. Only a redactor makes one, and what writes reports, entries and logs takes nothing else. */
export type Redacted<Value> = Value & { readonly [redacted]: true }

/** The secrets of a process or a simulator. Without secrets, redaction returns its argument and costs nothing. */
export interface Redactor {
  /** Adds values of any form: keys, passwords, URLs. Ignores what is too short or too common, and public values. */
  add(...values: readonly (string | null | undefined)[]): void
  /** Adds the credentials of a URL, also short ones, which are replaced only inside of that URL. */
  addUrl(url: string | null | undefined): void
  /** Also finds what is left of a secret beside an ellipsis, in a text that was shortened before. */
  redact(text: string): Redacted<string>
  /** A copy of a JSON value without secrets, or the value itself when it has none. Field names and codes of one word stay. */
  redactDeep<Value>(value: Value): Redacted<Value>
}

/** The oldest secret is forgotten when there are more. */
const MAX_SECRETS = 1_000
const MIN_CHARS = 6
const MIN_DIGITS = 8

/** `publicValues` are never redacted. */
export function createRedactor(publicValues: readonly string[] = []): Redactor {
  /** By secret, or by the text of a URL around one. */
  const secrets = new Map<string, SecretForms & { readonly replacement?: string }>()
  let pattern: RegExp | null = null

  function remember(secret: string, forms: () => SecretForms & { readonly replacement?: string }): void {
    if (secrets.has(secret)) return
    secrets.set(secret, forms())
    const [oldest = ''] = secrets.keys()
    if (secrets.size > MAX_SECRETS) secrets.delete(oldest)
    pattern = null
  }

  function addValue(value: string): void {
    if (isSecret(value) && !publicValues.includes(value)) remember(value, () => secretForms(value))
  }

  function addUrl(url: string | null | undefined): void {
    for (const { value, text, replacement } of credentialsIn(url ?? '')) {
      addValue(value)
      addValue(decoded(value))
      remember(text, () => ({ source: literal(text), cutIn: () => [], replacement }))
    }
  }

  function redact(text: string): string {
    if (secrets.size === 0) return text
    if (pattern === null) {
      // Longer texts first: a secret may contain a shorter one.
      const longestFirst = [...secrets].sort(([a], [b]) => b.length - a.length)
      pattern = new RegExp(longestFirst.map(([secret, { source }]) => standing(secret, source)).join('|'), 'g')
    }
    const shown = text.replace(pattern, match => secrets.get(match)?.replacement ?? REDACTED)
    if (!shown.includes('…')) return shown
    // What was shortened before, such as the values in a failure: the evaluator compares and shortens whole values.
    const cuts = [...secrets.values()].flatMap(({ cutIn }) => cutIn(shown)).sort(([a], [b]) => a - b)
    let whole = ''
    let at = 0
    for (const [from, to] of cuts) {
      if (from >= at) whole += shown.slice(at, from) + REDACTED
      at = Math.max(at, to)
    }
    return whole + shown.slice(at)
  }

  return {
    add(...values) {
      for (const value of values) {
        if (!value) continue
        if (/^[a-z][\w+.-]*:\/\/\S+$/i.test(value)) addUrl(value)
        else addValue(value)
      }
    },
    addUrl,
    redact: text => redact(text) as Redacted<string>,
    redactDeep: <Value>(value: Value) => (secrets.size === 0 ? value : redactIn(value, redact)) as Redacted<Value>,
  }
}

/** Other values occur everywhere in an output, which would be unreadable without them. */
function isSecret(value: string): boolean {
  if (/^\d+$/.test(value)) return value.length >= MIN_DIGITS
  return value.length >= MIN_CHARS && !/^(true|false)$/i.test(value) && value.trim() !== '' && !/^\**$/.test(value)
}

/** A number is a secret only as a whole: not inside of a longer one, such as a time. */
const standing = (secret: string, source: string): string =>
  /^\d+$/.test(secret) ? `(?<!\\d)${source}(?!\\d)` : source

interface Credential {
  readonly value: string
  /** The part of the URL around the value, with its replacement. */
  readonly text: string
  readonly replacement: string
}

const USER_INFO = /^([a-z][\w+.-]*:)?\/\/([^/?#]*)@/i
/** Words of a name, also of `sessionId=`; other names, such as `author` and `design`, contain them by chance. */
const SECRET_PARAMETER =
  /(?:^|[^a-z])(?:keys?|sig|signature|hmac|auth|authorization|session|sid|jwt|pass|pwd)(?:[^a-z]|$)|token|secret|passw|passphrase|credential|sessionid|(?:api|access|shared)_?key|^code=?$/

/** `accessKey=` becomes `access_key=`. */
const toSnakeCase = (name: string): string => name.replace(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase()

/** The user info, and the values of parameters with the name of a secret. */
function credentialsIn(url: string): Credential[] {
  const credentials: Credential[] = []
  const userInfo = USER_INFO.exec(url)?.[2]
  if (userInfo) {
    // A user name is a secret only when it stands alone, as tokens do.
    const around = { text: `//${userInfo}@`, replacement: `//${REDACTED}@` }
    const [, password] = /^[^:]*:(.+)$/s.exec(userInfo) ?? []
    credentials.push({ value: userInfo, ...around })
    if (password !== undefined) credentials.push({ value: password, ...around })
  }
  const [query = ''] = /[?#].*$/s.exec(url) ?? []
  for (const parameter of query.split(/[?&#]/)) {
    const value = parameter.slice(parameter.indexOf('=') + 1)
    const name = parameter.slice(0, parameter.length - value.length)
    if (value !== '' && SECRET_PARAMETER.test(toSnakeCase(name)))
      credentials.push({ value, text: parameter, replacement: `${name}${REDACTED}` })
  }
  return credentials
}

/** A URL with `***` in place of its credentials, for texts about a URL that no redactor knows. */
export function withoutCredentials(url: string): string {
  let shown = url
  for (const { text, replacement } of credentialsIn(url)) shown = shown.replaceAll(text, replacement)
  return shown
}

/** Field names and codes of one word are the structure that readers of the value rely on. */
const CODE_FIELDS: ReadonlySet<string> = new Set(
  'auth code endpoint event kind method mode note obstacle outcome phase reasonCode rule sign state status type verb'.split(
    ' ',
  ),
)
const WORD = /^[A-Za-z]+([_.][A-Za-z]+)*$/

function redactIn<Value>(value: Value, redact: (text: string) => string): Value
function redactIn(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redact(String(value)) === REDACTED ? REDACTED : value
  if (Array.isArray(value)) {
    const items = value.map(item => redactIn(item, redact))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isPlainObject(value)) return value
  const copy: [name: string, inner: unknown][] = []
  let isChanged = false
  for (const [name, inner] of Object.entries(value)) {
    const isCode = typeof inner === 'string' && CODE_FIELDS.has(name) && WORD.test(inner)
    const shown = isCode ? inner : redactIn(inner, redact)
    const shownName = WORD.test(name) ? name : redact(name)
    isChanged ||= shown !== inner || shownName !== name
    copy.push([shownName, shown])
  }
  return isChanged ? Object.fromEntries(copy) : value
}

/** Not for regular expressions, dates and matchers. True for objects of another realm, such as those of a `Response` in jest. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
