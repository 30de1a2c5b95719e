/** Names the mistake behind two values that nearly agree, as a code. */

import { fieldName } from '../../base/schemas/explain-issues.ts'
import type { Bare, Coded } from '../../base/text/coded.ts'
import { nearest } from '../../base/text/error-text.ts'
import { commonLength } from '../scenario/value-text.ts'

/** The mistake that explains a difference. */
export type DifferenceNote = Coded<{
  letter_case: Bare
  white_space: { how: 'trimmed' | 'added' | 'other' }
  normalisation: Bare
  invisible: { lost: boolean }
  html: { how: 'escaped' | 'escaped_twice' | 'unescaped' }
  marker_added: { marker: string }
  marker_missing: { marker: string }
  json_twice: Bare
  json_escapes: Bare
  json_text: Bare
  url_encoding: Bare
  latin1: Bare
  non_ascii_lost: Bare
  markup_removed: Bare
  cut: { length: number; of: number }
  added_at_end: { count: number }
  added_in_front: { count: number }
  surrounded: Bare
  from_position: { position: number }
  type: { expected: string; received: string }
  item_count: { expected: number; received: number }
  item_order: Bare
  other_key: { found: string; missing: string }
  matcher_threw: { message: string }
}>

export function noteFor(expected: unknown, actual: unknown): DifferenceNote | undefined {
  if (typeof expected === 'string' && typeof actual === 'string') {
    if (expected === actual) return undefined
    const isLong = Math.max(expected.length, actual.length) > LONGEST_TEXT
    for (const rule of isLong ? RULES_FOR_LONG_TEXTS : RULES) {
      const note = rule(expected, actual)
      if (note) return note
    }
    return undefined
  }
  if (isScalar(expected) && isScalar(actual) && String(expected) === String(actual))
    return { code: 'type', expected: typeName(expected), received: typeName(actual) }
  if (
    typeof actual === 'string' &&
    typeof expected === 'object' &&
    /^\s*[[{]/.test(actual) &&
    fromJson(actual) !== undefined
  )
    return { code: 'json_text' }
  return undefined
}

const isScalar = (value: unknown) => typeof value !== 'object' && typeof value !== 'undefined'

const typeName = (value: unknown) => (typeof value === 'string' ? 'text' : typeof value)

type Rule = (expected: string, actual: string) => DifferenceNote | undefined | false

/** The first that holds is the note; the more exact ones come first. */
const RULES: readonly Rule[] = [
  (expected, actual) => expected.toLowerCase() === actual.toLowerCase() && { code: 'letter_case' },
  whiteSpace,
  (expected, actual) => expected.normalize() === actual.normalize() && { code: 'normalisation' },
  invisible,
  htmlEscaping,
  (expected, actual) => untranslated(actual) === expected && { code: 'marker_added', marker: marker(actual) },
  (expected, actual) => untranslated(expected) === actual && { code: 'marker_missing', marker: marker(expected) },
  (expected, actual) => fromJson(actual) === expected && { code: 'json_twice' },
  (expected, actual) => fromJson(`"${actual}"`) === expected && { code: 'json_escapes' },
  (expected, actual) => fromUrl(actual) === expected && { code: 'url_encoding' },
  (expected, actual) => misread(expected).includes(actual) && { code: 'latin1' },
  replaced,
  (expected, actual) => actual !== '' && expected.replace(/<[^<>]*>/g, '') === actual && { code: 'markup_removed' },
  cutOrLonger,
  position,
]

/** Rules that compare longer texts would take too long. */
const LONGEST_TEXT = 50_000
const RULES_FOR_LONG_TEXTS: readonly Rule[] = [cutOrLonger, position]

const squeezed = (text: string) => text.replace(/\s+/gu, '')

function whiteSpace(expected: string, actual: string): DifferenceNote | undefined {
  if (squeezed(expected) !== squeezed(actual)) return undefined
  const how = expected.trim() === actual ? 'trimmed' : actual.trim() === expected ? 'added' : 'other'
  return { code: 'white_space', how }
}

const INVISIBLE = /\p{Cf}|\ufe0e|\ufe0f/gu

function invisible(expected: string, actual: string): DifferenceNote | undefined {
  if (expected.replace(INVISIBLE, '') !== actual.replace(INVISIBLE, '')) return undefined
  const lost = [...expected.matchAll(INVISIBLE)].length - [...actual.matchAll(INVISIBLE)].length
  return { code: 'invisible', lost: lost > 0 }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

const unescaped = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, dec?: string, hex = '', name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

function htmlEscaping(expected: string, actual: string): DifferenceNote | false {
  const once = unescaped(actual)
  if (once === expected) return { code: 'html', how: 'escaped' }
  if (unescaped(once) === expected) return { code: 'html', how: 'escaped_twice' }
  return unescaped(expected) === actual && { code: 'html', how: 'unescaped' }
}

const MARKER = /^\[[\w-]*>[\w-]*\] /
const untranslated = (text: string) => (MARKER.test(text) ? text.replace(MARKER, '') : null)
const marker = (text: string) => MARKER.exec(text)?.[0].trim() ?? ''

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
function fromUrl(text: string): string | null {
  try {
    return /%|\+/.test(text) ? decodeURIComponent(text.replaceAll('+', ' ')) : null
  } catch {
    return null
  }
}

/** What UTF-8 looks like when it is taken for one byte per character. */
function misread(text: string): string[] {
  const bytes = new TextEncoder().encode(text)
  return [String.fromCharCode(...bytes.subarray(0, LONGEST)), new TextDecoder('windows-1252').decode(bytes)]
}
const LONGEST = 30_000

/** `?` or the replacement character in place of what is outside of ASCII, or nothing at all. */
function replaced(expected: string, actual: string): DifferenceNote | undefined | false {
  const ascii = expected.replace(/[^\0-\x7f]+/gu, '')
  if (ascii === expected) return undefined
  return actual.replace(/[?\ufffd]+/g, '') === ascii.replace(/\?+/g, '') && { code: 'non_ascii_lost' }
}

const FEWEST = 3

/** In characters. */
const lengthOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

function cutOrLonger(expected: string, actual: string): DifferenceNote | undefined | false {
  const ellipsis = ['…', '...'].find(end => actual.endsWith(end)) ?? ''
  const short = actual.slice(0, actual.length - ellipsis.length)
  if (short.length >= FEWEST && expected.startsWith(short))
    return { code: 'cut', length: lengthOf(short), of: lengthOf(expected) }
  if (expected.length < FEWEST) return undefined
  const surplus = () => lengthOf(actual) - lengthOf(expected)
  if (actual.startsWith(expected)) return { code: 'added_at_end', count: surplus() }
  if (actual.endsWith(expected)) return { code: 'added_in_front', count: surplus() }
  return actual.includes(expected) && { code: 'surrounded' }
}

const LONG = 40

/** Only for long texts, where the difference is hard to see. */
function position(expected: string, actual: string): DifferenceNote | false {
  const at = lengthOf(expected.slice(0, commonLength(expected, actual)))
  return at > LONG && { code: 'from_position', position: at + 1 }
}

type Path = readonly PropertyKey[]

const DEEPEST = 4
const MOST = 200

/** Finds a field that may be the missing one under another name: `senderName` for `sender.name`. */
export function keyNote(missing: Path, root: unknown): DifferenceNote | undefined {
  const paths = pathsIn(root)
  const name = plain(missing)
  const found = paths.find(path => plain(path) === name) ?? misspelt(missing, paths) ?? elsewhere(missing, paths)
  return found && { code: 'other_key', found: fieldName(found), missing: fieldName(missing) }
}

/** `sender.name`, `senderName`, `sender_name` and `Sender-Name` alike. */
const plain = (path: Path) =>
  path
    .map(String)
    .join('')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

const SHORTEST = 4

/** A field of the same object with nearly the same name. */
function misspelt(missing: Path, there: readonly Path[]): Path | undefined {
  const name = String(missing.at(-1) ?? '')
  const parent = fieldName(missing.slice(0, -1))
  const siblings = there.filter(path => path.length === missing.length && fieldName(path.slice(0, -1)) === parent)
  if (name.length < SHORTEST) return undefined
  return siblings.find(path => nearest(name, [String(path.at(-1))]) !== '')
}

/** The same name one level too high or too low. */
function elsewhere(missing: Path, there: readonly Path[]): Path | undefined {
  return there.find(path => path.length !== missing.length && path.at(-1) === missing.at(-1))
}

function pathsIn(value: unknown, path: Path = [], found: Path[] = []): Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length === DEEPEST) return found
  for (const [key, inner] of Object.entries(value)) {
    if (found.length === MOST) break
    found.push([...path, key])
    pathsIn(inner, [...path, key], found)
  }
  return found
}
