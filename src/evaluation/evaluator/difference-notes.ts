/** Names the mistake behind two values that nearly agree. */

import { fieldName } from '../../base/schemas/explain-issues.ts'
import { nearest } from '../../base/text/error-text.ts'
import { counted } from '../../base/text/quantities.ts'
import { commonLength } from '../scenario/value-text.ts'

/** The mistake that explains a difference: a code for programs, and what it means. */
export interface DifferenceNote {
  readonly code: string
  readonly text: string
}

const note = (code: string, text: string): DifferenceNote => ({ code, text })

export function noteFor(expected: unknown, actual: unknown): DifferenceNote | undefined {
  if (typeof expected === 'string' && typeof actual === 'string') return textNote(expected, actual)
  const [expectedType, received] = [expected, actual].map(value => {
    if (typeof value === 'object' || value === undefined) return null
    return typeof value === 'string' ? 'text' : typeof value
  })
  if (expectedType && received && String(expected) === String(actual))
    return note('type', `a ${received}, not a ${expectedType}`)
  const isJson = typeof actual === 'string' && /^\s*[[{]/.test(actual) && parseJson(actual) !== undefined
  return isJson && typeof expected === 'object' ? note('json_text', 'it is JSON inside a text') : undefined
}

/** Comparing longer texts character by character takes too long. */
const MAX_TEXT_CHARS = 50_000
const MIN_CHARS = 3
const INVISIBLE = /\p{Cf}|\ufe0e|\ufe0f/gu
const LINE_BREAKS = /[\r\n]+/g
const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
/** Characters that are two units in UTF-16. */
const ASTRAL = /[\u{10000}-\u{10ffff}]/gu
const MARKER = /^\[[\w-]*>[\w-]*\] /

/** The mistake behind two texts; the more exact ones come first. */
function textNote(expected: string, actual: string): DifferenceNote | undefined {
  if (expected === actual) return undefined
  if (Math.max(expected.length, actual.length) <= MAX_TEXT_CHARS) {
    const encoding = encodingNote(expected, actual)
    if (encoding !== undefined) return encoding
  }
  // Cut off, with or without an ellipsis, or longer.
  const ellipsis = ['…', '...'].find(end => actual.endsWith(end)) ?? ''
  const short = actual.slice(0, actual.length - ellipsis.length)
  if (short.length >= MIN_CHARS && expected.startsWith(short))
    return note('cut', `cut off after ${countChars(short)} of ${countChars(expected)} characters`)
  if (expected.length >= MIN_CHARS && actual.includes(expected)) {
    const more = counted(countChars(actual) - countChars(expected), 'more character')
    if (actual.startsWith(expected)) return note('added_at_end', `${more} at the end`)
    if (actual.endsWith(expected)) return note('added_in_front', `${more} in front`)
    return note('surrounded', 'the expected text is part of a longer one')
  }
  // Only for long texts, where the difference is hard to see.
  const at = countChars(expected.slice(0, commonLength(expected, actual)))
  return at > LONG ? note('from_position', `differs from character ${at + 1} on`) : undefined
}

/** A position after this many characters is hard to see. */
const LONG = 40

function encodingNote(expected: string, actual: string): DifferenceNote | undefined {
  if (expected.toLowerCase() === actual.toLowerCase()) return note('letter_case', 'only upper and lower case differ')
  if (expected.replace(/\s+/gu, '') === actual.replace(/\s+/gu, '')) {
    if (expected.trim() === actual) return note('white_space', 'only white space differs: trimmed')
    if (actual.trim() === expected) return note('white_space', 'only white space differs: more of it at the ends')
    for (const space of ['', ' '])
      if (expected.replace(LINE_BREAKS, space) === actual.replace(LINE_BREAKS, space))
        return note('line_breaks', 'line breaks were changed')
    return note('white_space', 'only white space differs')
  }
  for (const form of FORMS)
    if (expected.normalize(form) === actual) return note('normalisation', `the text was normalised to ${form}`)
  if (expected.normalize() === actual.normalize())
    return note('normalisation', 'only the Unicode normalisation differs')
  if (expected.replace(INVISIBLE, '') === actual.replace(INVISIBLE, '')) {
    const lost = [...expected.matchAll(INVISIBLE)].length - [...actual.matchAll(INVISIBLE)].length
    return note('invisible', `only invisible characters differ${lost > 0 ? ': some were lost' : ''}`)
  }
  const once = unescapeHtml(actual)
  if (once === expected) return note('html', 'only HTML escaping differs')
  if (unescapeHtml(once) === expected) return note('html', 'only HTML escaping differs: escaped twice')
  if (unescapeHtml(expected) === actual) return note('html', 'only HTML escaping differs: the escapes were resolved')
  // A translation marker in front of one of them.
  const [added, missing] = [actual, expected].map(text => MARKER.exec(text)?.[0])
  if (added !== undefined && actual.slice(added.length) === expected)
    return note('marker_added', `a translation marker stands in front: ${added.trim()}`)
  if (missing !== undefined && expected.slice(missing.length) === actual)
    return note('marker_missing', `the translation marker ${missing.trim()} is missing`)
  if (parseJson(actual) === expected) return note('json_twice', 'encoded as JSON once more')
  if (parseJson(`"${actual}"`) === expected)
    return note('json_escapes', 'has JSON escapes in it: encoded as JSON once more')
  if (/%|\+/.test(actual) && decodeUrl(actual) === expected) return note('url_encoding', 'only URL encoding differs')
  // What UTF-8 looks like when it is taken for one byte per character.
  const bytes = new TextEncoder().encode(expected)
  const isMisread =
    String.fromCharCode(...bytes.subarray(0, MAX_ARGUMENTS)) === actual ||
    new TextDecoder('windows-1252').decode(bytes) === actual
  if (isMisread) return note('latin1', 'UTF-8 read as Latin-1')
  const halved = expected.replace(ASTRAL, character => String.fromCharCode((character.codePointAt(0) ?? 0) & 0xffff))
  const without = expected.replace(ASTRAL, '')
  const isReplaced = actual.replace(/[\ud800-\udfff\ufffd?]+/g, '') === without.replace(/\?+/g, '')
  if (halved !== expected && (halved === actual || isReplaced))
    return note('surrogates', 'characters above U+FFFF, such as emoji, were cut or replaced')
  // `?` or the replacement character in place of what is outside of ASCII, or nothing at all.
  const ascii = expected.replace(/[^\0-\x7f]+/gu, '')
  if (ascii !== expected && actual.replace(/[?\ufffd]+/g, '') === ascii.replace(/\?+/g, ''))
    return note('non_ascii_lost', 'characters outside of ASCII were lost')
  if (actual !== '' && expected.replace(/<[^<>]*>/g, '') === actual)
    return note('markup_removed', 'the markup in it was removed')
  return undefined
}

/** A function call takes no more arguments everywhere. */
const MAX_ARGUMENTS = 30_000
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

const unescapeHtml = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, dec?: string, hex = '', name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decodeUrl(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

const countChars = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

type Path = readonly PropertyKey[]

const MAX_DEPTH = 4
const MAX_PATHS = 200
const MIN_KEY_CHARS = 4

/** Finds a field that may be the missing one under another name: `senderName` for `sender.name`. */
export function keyNote(missing: Path, root: unknown): DifferenceNote | undefined {
  const paths = pathsIn(root)
  const name = plainName(missing)
  const key = String(missing.at(-1) ?? '')
  const parent = fieldName(missing.slice(0, -1))
  const similar =
    paths.find(path => plainName(path) === name) ??
    // A field of the same object with nearly the same name.
    paths.find(path => {
      if (key.length < MIN_KEY_CHARS || path.length !== missing.length) return false
      return fieldName(path.slice(0, -1)) === parent && nearest(key, [String(path.at(-1))]) !== ''
    }) ??
    // The same name one level too high or too low.
    paths.find(path => path.length !== missing.length && path.at(-1) === missing.at(-1))
  return similar && note('other_key', `the body has ${fieldName(similar)}: did you mean ${fieldName(missing)}?`)
}

/** `sender.name`, `senderName`, `sender_name` and `Sender-Name` alike. */
const plainName = (path: Path) =>
  path
    .map(String)
    .join('')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

function pathsIn(value: unknown, path: Path = [], paths: Path[] = []): Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length === MAX_DEPTH) return paths
  for (const [key, inner] of Object.entries(value)) {
    if (paths.length === MAX_PATHS) break
    paths.push([...path, key])
    pathsIn(inner, [...path, key], paths)
  }
  return paths
}
