/** Recognizes an HMAC in the value of a header, and the mistakes in its form. */
import { type Bytes, fromSignature, toBase64, toHex, utf8 } from '../hmac.ts'
import { candidatesOf, type FoundMistake, foundMistake, type Variants, variant } from './catalogue.ts'

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_')
const unpadded = (base64: string) => base64.replace(/=+$/, '')
const ofText = (text: string) => toBase64(utf8(text))

/** The right signature in a wrong form. */
const FORMS = {
  hex: mac => [variant(toHex(mac)), variant(toHex(mac).toUpperCase())],
  unpadded: mac => [variant(unpadded(toBase64(mac)))],
  base64url: mac => [variant(urlSafe(toBase64(mac))), variant(unpadded(urlSafe(toBase64(mac))))],
  doubled: mac => [
    variant(ofText(toHex(mac)), 'base64 of the hexadecimal text'),
    variant(ofText(toBase64(mac)), 'base64 of the base64 text'),
    variant(toHex(utf8(toBase64(mac))), 'hexadecimal of the base64 text'),
  ],
  'url-encoding': mac => [
    variant(encodeURIComponent(toBase64(mac)), 'URL-encoded'),
    variant(toBase64(mac).replaceAll('+', ' '), 'each + became a space'),
  ],
} satisfies Partial<Variants<Bytes, string>>

interface Written {
  readonly text: string
  /** Empty for plain base64. */
  readonly how: readonly FoundMistake[]
}

/** The mistakes that turn the HMAC into this text; an empty list when there is none, null when it is another HMAC. */
export function howWritten(given: string, mac: Bytes): readonly FoundMistake[] | null {
  const texts = writings(mac)
  const exact = texts.find(({ text }) => text === given)
  if (exact !== undefined) return exact.how
  const compact = given.replace(/\s+/g, '')
  const spaced = texts.find(({ text }) => text === compact)
  if (spaced !== undefined) return [foundMistake('whitespace'), ...spaced.how]
  return inside(given, texts) ?? recased(given, mac) ?? cut(given.trim(), texts)
}

function writings(mac: Bytes): Written[] {
  const others = [...candidatesOf(FORMS, mac)].map(({ value, id, detail }) => ({
    text: value,
    how: [foundMistake(id, detail)],
  }))
  return [{ text: toBase64(mac), how: [] }, ...others]
}

function inside(given: string, texts: readonly Written[]): readonly FoundMistake[] | null {
  const found = texts.find(({ text }) => given.includes(text))
  if (found === undefined) return null
  const at = given.indexOf(found.text)
  return [around(given.slice(0, at).trim(), given.slice(at + found.text.length).trim()), ...found.how]
}

const KNOWN_PREFIX = /^(v\d|t|sha-?\d{1,3}|hmac([-_]?sha-?\d{1,3})?|signature|kindly-hmac|base64)\s*[=:]$/i

/** Names only known prefixes, because other text may be secret. */
function around(before: string, after: string): FoundMistake {
  if (/^["'`]$/.test(before) && before === after) return foundMistake('quoted')
  if (before.endsWith(',') || after.startsWith(',')) return foundMistake('repeated-header')
  if (after !== '') return foundMistake('extra-text')
  return foundMistake('prefix', KNOWN_PREFIX.test(before) ? before : '')
}

function recased(given: string, mac: Bytes): readonly FoundMistake[] | null {
  return given.trim().toLowerCase() === toBase64(mac).toLowerCase() ? [foundMistake('letter-case')] : null
}

/** Two HMACs do not share this many first characters by accident. */
const SHORTEST_CUT = 8

function cut(given: string, texts: readonly Written[]): readonly FoundMistake[] | null {
  if (given.length < SHORTEST_CUT) return null
  const whole = texts.find(({ text }) => text.startsWith(given))
  return whole === undefined ? null : [foundMistake('truncated', `${given.length} characters remain`), ...whole.how]
}

/** The mistake in the form alone, when the signed content is unknown. */
export function describeForm(given: string): FoundMistake | null {
  if (given !== given.trim()) return foundMistake('whitespace')
  if (/^(["'`]).*\1$/.test(given)) return foundMistake('quoted')
  if (/^[A-Za-z0-9+/]{43}=\s*,/.test(given)) return foundMistake('repeated-header')
  if (/^([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i.test(given)) return foundMistake('hex')
  if (/^[a-z][\w-]{0,20}[=:]\s*[\w+/-]{20}/i.test(given)) return foundMistake('prefix')
  if (/%(2b|2f|3d)/i.test(given)) return foundMistake('url-encoding', 'URL-encoded')
  return base64FormOf(given)
}

function base64FormOf(given: string): FoundMistake | null {
  if (/^(?=.*[-_])[\w-]{43}=?$/.test(given)) return foundMistake('base64url')
  if (/^[A-Za-z0-9+/]{43}$/.test(given)) return foundMistake('unpadded')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(given) || given.length % 4 !== 0) return foundMistake('not-base64')
  const length = atob(given).length
  if (length !== 32) return foundMistake('wrong-length', LENGTHS[length] ?? `${length} bytes`)
  return fromSignature(given) !== null ? null : foundMistake('not-base64', 'its last character cannot end 32 bytes')
}

const LENGTHS: Readonly<Record<number, string>> = {
  20: '20 bytes, as of SHA-1',
  48: '48 bytes, as of SHA-384, or as of a hexadecimal SHA-256 decoded as base64',
  64: '64 bytes, as of SHA-512, or as of a hexadecimal SHA-256',
}
