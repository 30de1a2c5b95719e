/** Names the mistake behind two values that nearly agree. */

import { fieldName } from '../../contract/explain-issues.ts'
import { counted } from '../../text/counted.ts'
import { nearest } from '../../text/near-names.ts'
import { firstDifference } from './value-text.ts'

export function hintFor(expected: unknown, actual: unknown): string | undefined {
  if (typeof expected === 'string' && typeof actual === 'string') return textHint(expected, actual)
  if (isScalar(expected) && isScalar(actual) && String(expected) === String(actual)) return kindHint(expected, actual)
  if (typeof actual === 'string' && typeof expected === 'object' && isJson(actual)) return 'it is JSON inside a text'
  return undefined
}

const isScalar = (value: unknown) => typeof value !== 'object' && typeof value !== 'undefined'

const kindHint = (expected: unknown, actual: unknown) => `a ${kindOf(actual)}, not a ${kindOf(expected)}`
const kindOf = (value: unknown) => (typeof value === 'string' ? 'text' : typeof value)

type Rule = (expected: string, actual: string) => string | undefined | false

/** The first that holds is told; the more exact ones come first. */
const RULES: readonly Rule[] = [
  (expected, actual) => expected.toLowerCase() === actual.toLowerCase() && 'only upper and lower case differ',
  whiteSpace,
  (expected, actual) => expected.normalize() === actual.normalize() && 'only the Unicode normalisation differs',
  unseen,
  htmlEscaping,
  (expected, actual) => untranslated(actual) === expected && `a translation marker stands in front: ${marker(actual)}`,
  (expected, actual) => untranslated(expected) === actual && `the translation marker ${marker(expected)} is missing`,
  (expected, actual) => fromJson(actual) === expected && 'encoded as JSON once more',
  (expected, actual) => fromJson(`"${actual}"`) === expected && 'has JSON escapes in it: encoded as JSON once more',
  (expected, actual) => fromUrl(actual) === expected && 'only URL encoding differs',
  (expected, actual) => misread(expected).includes(actual) && 'UTF-8 read as Latin-1',
  replaced,
  (expected, actual) => actual !== '' && withoutTags(expected) === actual && 'the markup in it was removed',
  cutOrLonger,
  position,
]

function textHint(expected: string, actual: string): string | undefined {
  if (expected === actual) return undefined
  for (const rule of RULES) {
    const hint = rule(expected, actual)
    if (typeof hint === 'string') return hint
  }
  return undefined
}

const squeezed = (text: string) => text.replace(/\s+/gu, '')

function whiteSpace(expected: string, actual: string) {
  if (squeezed(expected) !== squeezed(actual)) return undefined
  if (expected.trim() === actual) return 'only white space differs: trimmed'
  if (actual.trim() === expected) return 'only white space differs: more of it at the ends'
  return 'only white space differs'
}

const UNSEEN = /\p{Cf}|\ufe0e|\ufe0f/gu

function unseen(expected: string, actual: string) {
  if (expected.replace(UNSEEN, '') !== actual.replace(UNSEEN, '')) return undefined
  const lost = [...expected.matchAll(UNSEEN)].length - [...actual.matchAll(UNSEEN)].length
  return `only invisible characters differ${lost > 0 ? ': some were lost' : ''}`
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

const unescaped = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, dec?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const code = dec === undefined ? Number.parseInt(hex!, 16) : Number(dec)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

function htmlEscaping(expected: string, actual: string) {
  const once = unescaped(actual)
  if (once === expected) return 'only HTML escaping differs'
  if (unescaped(once) === expected) return 'only HTML escaping differs: escaped twice'
  return unescaped(expected) === actual && 'only HTML escaping differs: the escapes were resolved'
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
const isJson = (text: string) => /^\s*[[{]/.test(text) && fromJson(text) !== undefined

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

const withoutTags = (text: string) => text.replace(/<[^<>]*>/g, '')

/** `?` or the replacement character in place of what is outside of ASCII, or nothing at all. */
function replaced(expected: string, actual: string) {
  const ascii = expected.replace(/[^\0-\x7f]+/gu, '')
  if (ascii === expected) return undefined
  return actual.replace(/[?\ufffd]+/g, '') === ascii.replace(/\?+/g, '') && 'characters outside of ASCII were lost'
}

const FEWEST = 3

function cutOrLonger(expected: string, actual: string) {
  const [wanted, got] = [[...expected].length, [...actual].length]
  const short = actual.replace(/(…|\.\.\.)$/, '')
  if (short.length >= FEWEST && expected.startsWith(short))
    return `cut off after ${[...short].length} of ${wanted} characters`
  if (expected.length < FEWEST) return undefined
  const more = counted(got - wanted, 'more character')
  if (actual.startsWith(expected)) return `${more} at the end`
  if (actual.endsWith(expected)) return `${more} in front`
  return actual.includes(expected) && 'it is in there, with more around it'
}

const LONG = 40

/** Only for texts that are not seen at once. */
function position(expected: string, actual: string) {
  const at = firstDifference([...expected], [...actual])
  return at > LONG && `differs from character ${at + 1} on`
}

type Path = readonly PropertyKey[]

const DEEPEST = 4
const MOST = 200

/** `there is senderName: did you mean sender.name?` */
export function keyHint(missing: Path, root: unknown): string | undefined {
  const there = pathsIn(root)
  const wanted = plain(missing)
  const found = there.find(path => plain(path) === wanted) ?? misspelt(missing, there) ?? elsewhere(missing, there)
  return found && `there is ${fieldName(found)}: did you mean ${fieldName(missing)}?`
}

/** `sender.name`, `senderName`, `sender_name` and `Sender-Name` alike. */
const plain = (path: Path) =>
  path
    .map(String)
    .join('')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

const SHORTEST = 4

/** A brother with nearly the same name. */
function misspelt(missing: Path, there: readonly Path[]): Path | undefined {
  const name = String(missing.at(-1) ?? '')
  const parent = fieldName(missing.slice(0, -1))
  const brothers = there.filter(path => path.length === missing.length && fieldName(path.slice(0, -1)) === parent)
  if (name.length < SHORTEST) return undefined
  return brothers.find(path => nearest(name, [String(path.at(-1))]) !== '')
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
