/** Writes values as in a scenario, on one short line. */
import { isMap } from '../../base/objects.ts'
import { type Asymmetric, asText, isAsymmetric } from './interpolation.ts'

/** Unseen characters are written as escapes: they may be the whole difference. Joiners belong to emoji and scripts. */
export const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const PLAIN_KEY = /^[A-Za-z_$][\w .$-]*$/
const MAX_FLOW_CHARS = 60
const MAX_BODY_CHARS = 90

/** A value in the notation of scenarios, on one line: `"I'm Anna"`, `/\d+/`, `$type string`. */
export type Notation = string

/** `"I'm Anna"`, `/\d+/`, `$type string`, `{ sender: { name: "Anna" } }`, `absent`. Texts inside are cut before the whole is. */
export function flow(value: unknown, longest = MAX_FLOW_CHARS): string {
  if (typeof value === 'string') return quoted(value, longest)
  for (const inside of [longest, longest / 2, longest / 4]) {
    const text = flowWhole(value, 0, Math.ceil(inside))
    if ([...text].length <= longest) return text
  }
  return truncate(flowWhole(value, 0, Math.ceil(longest / 4)), longest)
}

/** An inbox item; `{ text: "Hi" }` is written as `"Hi"`. */
export const itemNotation = (item: unknown, longest?: number): string =>
  flow(isMap(item) && Object.keys(item).join() === 'text' ? item.text : item, longest)

/** The expected body of a call; null when any body fits. */
export function bodyNotation(body: unknown, longest = MAX_BODY_CHARS): Notation | null {
  const isEmpty = body === null || body === undefined || (typeof body === 'object' && Object.keys(body).length === 0)
  return isEmpty ? null : flow(body, longest)
}

const DEEPEST = 8

function flowWhole(value: unknown, depth: number, longest: number): string {
  if (value === undefined) return 'absent'
  if (value instanceof RegExp) return String(value).replace(UNSEEN, escapeCharacter)
  if (typeof value === 'string') return quoted(value, longest)
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth === DEEPEST) return Array.isArray(value) ? '[…]' : '{…}'
  if (isAsymmetric(value)) return asymmetricText(value)
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_VALUES).map(item => flowWhole(item, depth + 1, longest))
    return `[${items.join(', ')}]`
  }

  const entries = Object.entries(value)
  const [[name, argument] = ['', undefined]] = entries
  if (entries.length === 1 && /^\$\w+$/.test(name)) {
    if (argument === true) return name
    if (name === '$type') return `${name} ${plainText(String(argument))}`
    if (name !== '$re') return `${name} ${flowWhole(argument, depth + 1, longest)}`
    const pattern = argument instanceof RegExp ? String(argument) : asText(argument)
    return (/^\/.*\/[a-z]*$/s.test(pattern) ? pattern : `/${pattern}/`).replace(UNSEEN, escapeCharacter)
  }
  const parts: string[] = []
  for (const [key, inner] of entries.slice(0, MAX_VALUES))
    if (inner !== undefined)
      parts.push(`${PLAIN_KEY.test(key) ? key : JSON.stringify(key)}: ${flowWhole(inner, depth + 1, longest)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

/** More values would not fit on a line. */
const MAX_VALUES = 100

/** `Any<String>`, `StringContaining "a"`: in the words of the test runner where it has some. */
function asymmetricText(value: Asymmetric & { toAsymmetricMatcher?(): string; toString(): string }): string {
  const name = value.toString === Object.prototype.toString ? 'a matcher' : `${value}`
  try {
    return value.toAsymmetricMatcher?.() ?? name
  } catch {
    return name
  }
}

/** No character has more UTF-16 units. */
const UNITS = 2

function quoted(complete: string, longest = MAX_FLOW_CHARS): string {
  // The rest of a long text is not shown.
  const text = complete.slice(0, UNITS * (longest + 3))
  const whole = escaped(text)
  if ([...whole].length <= longest + 2) return whole
  let start = ''
  for (const sign of text) {
    if ([...escaped(start + sign)].length > longest + 1) break
    start += sign
  }
  return escaped(`${start}…`)
}

/** A text of a user or a tool as it is, on one line. */
export const plainText = (text: string, longest = MAX_FLOW_CHARS): string =>
  truncate(text.slice(0, UNITS * (longest + 1)).replace(UNSEEN, escapeCharacter), longest)

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** In single quotes where these need no escape, as in YAML. */
function escaped(text: string): string {
  const plain = text.includes('"') && !/['\\]/.test(text) && text.search(UNSEEN) === -1
  if (plain) return `'${text}'`
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replace(UNSEEN, escapeCharacter)}"`
}

/** As YAML and JSON write it in double quotes. */
export const escapeCharacter = (sign: string) => {
  const hex = (sign.codePointAt(0) ?? 0).toString(16)
  return NAMED[sign] ?? (hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`)
}

/** Cuts whole characters, never half of a surrogate pair. */
export function truncate(text: string, longest: number): string {
  const signs = [...text.slice(0, UNITS * (longest + 1))]
  return signs.length > longest ? `${signs.slice(0, longest - 1).join('')}…` : text
}

const BEFORE = 15

/** Two texts, each around the place where they begin to differ. */
export function aroundDifference(expected: string, actual: string, longest = MAX_FLOW_CHARS): [string, string] {
  // Characters far from the difference are not shown.
  const skipped = Math.max(0, commonLength(expected, actual) - UNITS * longest)
  const shown = (text: string) => [...text.slice(skipped, skipped + 4 * UNITS * longest)]
  const [a, b] = [shown(expected), shown(actual)]
  if (Math.max(a.length, b.length) <= longest) return [quoted(expected, 2 * longest), quoted(actual, 2 * longest)]
  const from = Math.max(0, firstDifference(a, b) - BEFORE)
  return [part(a, from, longest), part(b, from, longest)]
}

/** How many UTF-16 units two texts have in common at their beginnings. */
export function commonLength(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

function part(signs: readonly string[], from: number, longest: number): string {
  const start = from === 0 ? 0 : from + 1
  const ends = signs.length <= from + longest
  const shown = signs.slice(start, ends ? undefined : from + longest - 1).join('')
  return escaped(`${from === 0 ? '' : '…'}${shown}${ends ? '' : '…'}`)
}
