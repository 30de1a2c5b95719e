/** Replaces secrets by `***` in texts and JSON values, found by their values in every usual encoding. */
import { visible } from './terminal-text.ts'

/** What a secret becomes. */
export const REDACTED = '***'

/** The secrets of a process or a simulator. Without secrets, redaction returns its argument and costs nothing. */
export interface Redactor {
  /** Adds values of any form: keys, passwords, URLs. Ignores what is too short or too common, and public values. */
  add(...values: readonly (string | null | undefined)[]): void
  /** Adds the credentials of a URL, also short ones, which are replaced only inside of that URL. */
  addUrl(url: string | null | undefined): void
  redact(text: string): string
  /** The text in parts without secrets, also those that begin in one part and end in the next. */
  redactParts(parts: Iterable<string>): Iterable<string>
  /** A copy of a JSON value without secrets, or the value itself when it has none. Field names and codes of one word stay. */
  redactDeep<Value>(value: Value): Value
}

/** The oldest secret is forgotten when there are more. */
const MOST_SECRETS = 1_000
const SHORTEST = 6
const SHORTEST_NUMBER = 8

/** `publicValues` are never redacted. */
export function createRedactor(publicValues: readonly string[] = []): Redactor {
  const secrets = new Map<string, readonly Replacement[]>()
  let replacer: Replacer | null = null
  const remember = (name: string, replacements: () => readonly Replacement[]) => {
    if (secrets.has(name)) return
    secrets.set(name, replacements())
    for (const oldest of secrets.keys()) {
      if (secrets.size <= MOST_SECRETS) break
      secrets.delete(oldest)
    }
    replacer = null
  }
  const redact = (text: string): string => {
    if (secrets.size === 0) return text
    const { pattern, replacementOf } = currentReplacer()
    return text.replace(pattern, replacementOf)
  }
  const currentReplacer = () => {
    replacer ??= replacerOf([...secrets.values()].flat(), [...secrets.keys()])
    return replacer
  }
  const addValue = (value: string) => {
    if (isSecret(value) && !publicValues.includes(value)) remember(value, () => formsOf(value))
  }
  const addUrl = (url: string | null | undefined) => {
    for (const { value, phrase } of credentialsIn(url ?? '')) {
      for (const form of [value, decoded(value)]) addValue(form)
      remember(phrase.text, () => [phrase])
    }
  }
  return {
    add: (...values) => {
      for (const value of values) {
        if (!value) continue
        if (/^[a-z][\w+.-]*:\/\/\S+$/i.test(value)) addUrl(value)
        else addValue(value)
      }
    },
    addUrl,
    redact,
    redactParts: parts => (secrets.size === 0 ? parts : replacedParts(parts, currentReplacer())),
    redactDeep: value => (secrets.size === 0 ? value : deep(value, redact)),
  }
}

/** Other values occur everywhere in an output, which would be unreadable without them. */
function isSecret(value: string): boolean {
  if (/^\d+$/.test(value)) return value.length >= SHORTEST_NUMBER
  return value.length >= SHORTEST && !/^(true|false)$/i.test(value) && value.trim() !== '' && !/^\**$/.test(value)
}

interface Replacement {
  readonly text: string
  readonly by: string
}

interface Replacer {
  readonly pattern: RegExp
  /** The length of the longest text that the pattern looks at. */
  readonly longest: number
  replacementOf(found: string): string
}

/** One alternation of all forms, longest first, so that one pass over a text finds every secret, also one that was cut. */
function replacerOf(replacements: readonly Replacement[], secrets: readonly string[]): Replacer {
  const byText = new Map(replacements.map(({ text, by }) => [text, by]))
  const texts = [...byText.keys()].sort((a, b) => b.length - a.length)
  const cut = secrets.filter(secret => secret.length > SHORTEST).map(cutAlternative)
  const pattern = new RegExp([...texts.map(alternative), ...cut].join('|'), 'g')
  return {
    pattern,
    longest: Math.max(SHORTEST + MOST_CUT_CHARS, texts[0]?.length ?? 0) + 2,
    replacementOf: found => byText.get(found) ?? REDACTED,
  }
}

/** Holds back as many characters at the end of a part as a secret may have. */
function* replacedParts(parts: Iterable<string>, { pattern, longest, replacementOf }: Replacer): Generator<string> {
  let rest = ''
  for (const part of parts) {
    rest += part
    let replaced = ''
    let end = 0
    const safe = rest.length - longest
    for (const found of rest.matchAll(pattern)) {
      if (found.index >= safe) break
      replaced += rest.slice(end, found.index) + replacementOf(found[0])
      end = found.index + found[0].length
    }
    yield replaced + rest.slice(end, Math.max(end, safe))
    rest = rest.slice(Math.max(end, safe))
  }
  yield rest.replace(pattern, replacementOf)
}

/** A number is a secret only as a whole: not inside of a longer one, such as a time. */
const alternative = (text: string): string => (/^\d+$/.test(text) ? `(?<!\\d)${text}(?!\\d)` : escapeText(text))

const escapeText = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** The beginning of a secret before the `…` of a text that was too long. */
function cutAlternative(secret: string): string {
  const rest = [...secret.slice(SHORTEST, SHORTEST + MOST_CUT_CHARS)]
  const optional = rest.reduceRight((inner, character) => `(?:${escapeText(character)}${inner})?`, '')
  return `${escapeText(secret.slice(0, SHORTEST))}${optional}(?=…)`
}

const MOST_CUT_CHARS = 100

/** A value as it is, as part of JSON, of JSON in JSON, of an address, of base64, and as terminals show it. */
function formsOf(value: string): Replacement[] {
  const inJson = jsonText(value)
  const inAddress = [encodeURIComponent(value.toWellFormed()), encodeURI(value.toWellFormed())]
  const forms = [
    value,
    binaryText(value),
    visible(value),
    inJson,
    jsonText(inJson),
    ...inAddress,
    ...inAddress.map(lowerEscapes),
    ...inAddress.map(text => text.replaceAll('%20', '+')),
    ...base64FormsOf(value),
  ]
  return [...new Set(forms)].map(text => ({ text, by: REDACTED }))
}

/** The bytes of the text, one character each, as contents of files are handled. */
const binaryText = (text: string) => String.fromCharCode(...new TextEncoder().encode(text.slice(0, MOST_BASE64_BYTES)))

const jsonText = (text: string) => JSON.stringify(text).slice(1, -1)
const lowerEscapes = (text: string) => text.replace(/%[0-9A-F]{2}/g, found => found.toLowerCase())

/** Base64 of a text that contains the value: at each of three offsets, without the characters that its neighbours share. */
function base64FormsOf(value: string): string[] {
  const bytes = binaryText(value).slice(0, MOST_BASE64_BYTES)
  const standard = [0, 1, 2].map(offset => {
    const padded = '\0'.repeat(offset) + bytes
    const wholeChars = Math.floor((padded.length * 8) / 6)
    return btoa(padded).slice(Math.ceil((offset * 8) / 6), wholeChars)
  })
  const inAddress = standard.map(encodeURIComponent)
  const urlSafe = standard.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [...standard, ...urlSafe, ...inAddress].filter(text => text.length >= SHORTEST)
}

/** Longer secrets are found by their beginning. */
const MOST_BASE64_BYTES = 3_000

interface Credential {
  readonly value: string
  /** The part of the URL around it, with its replacement. */
  readonly phrase: Replacement
}

const USER_INFO = /^([a-z][\w+.-]*:)?\/\/([^/?#]*)@/i
const SECRET_PARAMETER = /key|token|secret|pass|pwd|sig|auth|code|credential|session|jwt/i

/** The user info and the values of parameters with the name of a secret. */
function credentialsIn(url: string): Credential[] {
  const userInfo = USER_INFO.exec(url)?.[2]
  const [query = ''] = /[?#].*$/s.exec(url) ?? []
  const parameters = query.split(/[?&#]/).flatMap(parameter => {
    const value = parameter.slice(parameter.indexOf('=') + 1)
    const name = parameter.slice(0, parameter.length - value.length)
    return name !== '' && value !== '' && SECRET_PARAMETER.test(name)
      ? [{ value, phrase: { text: parameter, by: `${name}${REDACTED}` } }]
      : []
  })
  return [...(userInfo ? userInfoCredentials(userInfo) : []), ...parameters]
}

/** A user name is a secret only when it stands alone, as tokens do. */
function userInfoCredentials(userInfo: string): Credential[] {
  const phrase = { text: `//${userInfo}@`, by: `//${REDACTED}@` }
  const [, password] = /^[^:]*:(.+)$/s.exec(userInfo) ?? []
  return [userInfo, ...(password === undefined ? [] : [password])].map(value => ({ value, phrase }))
}

/** A URL with `***` in place of its credentials, for texts about a URL that no redactor knows. */
export const withoutCredentials = (url: string): string =>
  credentialsIn(url).reduce((text, { phrase }) => text.replaceAll(phrase.text, phrase.by), url)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Field names and codes of one word are the structure that readers of the value rely on. */
const CODE_FIELDS: ReadonlySet<string> = new Set(
  'auth code endpoint event kind method mode note obstacle outcome phase reasonCode rule sign state status type verb'.split(
    ' ',
  ),
)
const WORD = /^[A-Za-z]+([_.][A-Za-z]+)*$/

function deep<Value>(value: Value, redact: (text: string) => string): Value
function deep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 10 ** (SHORTEST_NUMBER - 1) && redact(String(value)) === REDACTED
      ? REDACTED
      : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(item => deep(item, redact))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  return isPlainObject(value) ? deepObject(value, redact) : value
}

function deepObject(value: object, redact: (text: string) => string): object {
  let changed = false
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
    const kept = typeof inner === 'string' && CODE_FIELDS.has(name) && WORD.test(inner)
    const pair: [string, unknown] = [WORD.test(name) ? name : redact(name), kept ? inner : deep(inner, redact)]
    changed ||= pair[0] !== name || pair[1] !== inner
    return pair
  })
  return changed ? Object.fromEntries(entries) : value
}

/** Not for regular expressions, dates and matchers. True for objects of another realm, such as those of a `Response` in jest. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
