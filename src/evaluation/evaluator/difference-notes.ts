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
  if (typeof expected === 'string' && typeof actual === 'string') return textNote(expected, actual)
  const [expectedType, received] = [expected, actual].map(value => {
    if (typeof value === 'object' || value === undefined) return null
    return typeof value === 'string' ? 'text' : typeof value
  })
  if (expectedType && received && String(expected) === String(actual))
    return { code: 'type', expected: expectedType, received }
  const isJson = typeof actual === 'string' && /^\s*[[{]/.test(actual) && parseJson(actual) !== undefined
  return isJson && typeof expected === 'object' ? { code: 'json_text' } : undefined
}

/** Comparing longer texts character by character takes too long. */
const LONGEST_TEXT = 50_000
const MIN_CHARS = 3
const INVISIBLE = /\p{Cf}|\ufe0e|\ufe0f/gu
const MARKER = /^\[[\w-]*>[\w-]*\] /

/** The mistake behind two texts; the more exact ones come first. */
function textNote(expected: string, actual: string): DifferenceNote | undefined {
  if (expected === actual) return undefined
  if (Math.max(expected.length, actual.length) <= LONGEST_TEXT) {
    const note = encodingNote(expected, actual)
    if (note !== undefined) return note
  }
  // Cut off, with or without an ellipsis, or longer.
  const ellipsis = ['…', '...'].find(end => actual.endsWith(end)) ?? ''
  const short = actual.slice(0, actual.length - ellipsis.length)
  if (short.length >= MIN_CHARS && expected.startsWith(short))
    return { code: 'cut', length: lengthOf(short), of: lengthOf(expected) }
  if (expected.length >= MIN_CHARS && actual.includes(expected)) {
    const count = lengthOf(actual) - lengthOf(expected)
    if (actual.startsWith(expected)) return { code: 'added_at_end', count }
    return actual.endsWith(expected) ? { code: 'added_in_front', count } : { code: 'surrounded' }
  }
  // Only for long texts, where the difference is hard to see.
  const at = lengthOf(expected.slice(0, commonLength(expected, actual)))
  return at > LONG ? { code: 'from_position', position: at + 1 } : undefined
}

/** A position after this many characters is hard to see. */
const LONG = 40

function encodingNote(expected: string, actual: string): DifferenceNote | undefined {
  if (expected.toLowerCase() === actual.toLowerCase()) return { code: 'letter_case' }
  if (expected.replace(/\s+/gu, '') === actual.replace(/\s+/gu, '')) {
    if (expected.trim() === actual) return { code: 'white_space', how: 'trimmed' }
    return { code: 'white_space', how: actual.trim() === expected ? 'added' : 'other' }
  }
  if (expected.normalize() === actual.normalize()) return { code: 'normalisation' }
  if (expected.replace(INVISIBLE, '') === actual.replace(INVISIBLE, '')) {
    const lost = [...expected.matchAll(INVISIBLE)].length - [...actual.matchAll(INVISIBLE)].length
    return { code: 'invisible', lost: lost > 0 }
  }
  const once = unescapeHtml(actual)
  if (once === expected) return { code: 'html', how: 'escaped' }
  if (unescapeHtml(once) === expected) return { code: 'html', how: 'escaped_twice' }
  if (unescapeHtml(expected) === actual) return { code: 'html', how: 'unescaped' }
  // A translation marker in front of one of them.
  for (const [code, text, other] of [
    ['marker_added', actual, expected],
    ['marker_missing', expected, actual],
  ] as const) {
    const marker = MARKER.exec(text)?.[0]
    if (marker !== undefined && text.slice(marker.length) === other) return { code, marker: marker.trim() }
  }
  if (parseJson(actual) === expected) return { code: 'json_twice' }
  if (parseJson(`"${actual}"`) === expected) return { code: 'json_escapes' }
  if (/%|\+/.test(actual) && decodeUrl(actual) === expected) return { code: 'url_encoding' }
  // What UTF-8 looks like when it is taken for one byte per character.
  const bytes = new TextEncoder().encode(expected)
  const isMisread =
    String.fromCharCode(...bytes.subarray(0, MAX_ARGUMENTS)) === actual ||
    new TextDecoder('windows-1252').decode(bytes) === actual
  if (isMisread) return { code: 'latin1' }
  // `?` or the replacement character in place of what is outside of ASCII, or nothing at all.
  const ascii = expected.replace(/[^\0-\x7f]+/gu, '')
  if (ascii !== expected && actual.replace(/[?\ufffd]+/g, '') === ascii.replace(/\?+/g, ''))
    return { code: 'non_ascii_lost' }
  if (actual !== '' && expected.replace(/<[^<>]*>/g, '') === actual) return { code: 'markup_removed' }
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

/** In characters. */
const lengthOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

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
  const found =
    paths.find(path => plainName(path) === name) ??
    // A field of the same object with nearly the same name.
    paths.find(path => {
      if (key.length < MIN_KEY_CHARS || path.length !== missing.length) return false
      return fieldName(path.slice(0, -1)) === parent && nearest(key, [String(path.at(-1))]) !== ''
    }) ??
    // The same name one level too high or too low.
    paths.find(path => path.length !== missing.length && path.at(-1) === missing.at(-1))
  return found && { code: 'other_key', found: fieldName(found), missing: fieldName(missing) }
}

/** `sender.name`, `senderName`, `sender_name` and `Sender-Name` alike. */
const plainName = (path: Path) =>
  path
    .map(String)
    .join('')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

function pathsIn(value: unknown, path: Path = [], found: Path[] = []): Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length === MAX_DEPTH) return found
  for (const [key, inner] of Object.entries(value)) {
    if (found.length === MAX_PATHS) break
    found.push([...path, key])
    pathsIn(inner, [...path, key], found)
  }
  return found
}
