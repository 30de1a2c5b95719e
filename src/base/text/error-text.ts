/** Reads thrown values, and ends error messages: with a full stop, or with a known name for a misspelt one. */

import { cut } from './cut.ts'

/** Also true for an error of another realm: jest runs tests in a context of their own, Node's errors come from outside. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || /^\[object (Error|DOMException)\]$/.test(Object.prototype.toString.call(value))

export const messageOf = (error: unknown): string => (isError(error) ? error.message : String(error))

/** The code of an error of the operating system, such as `ENOENT`. */
export const systemCodeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** A line of a stack trace of Java, Node, C# or Ruby, below the line that names the exception. */
export const isStackFrame = (line: string): boolean => /^\s+(at|from) \S/.test(line)

/** Ends a sentence: `; did you mean webhook.retry?`, or a full stop when no name is near. */
export const suggest = (wrong: string, names: readonly string[]): string => nearest(wrong, names) || '.'

/** Longer names, and names after so many others, are not compared: their distance takes too long to compute. */
const MAX_NAME_CHARS = 64
const MAX_NAMES = 500

/** A name for an error message, without the end of a long one. */
export const shortName = (name: string): string => cut(name, MAX_NAME_CHARS + 1)

/** `; did you mean webhook.retry?`, or nothing when no name is near: similar, or begun by the wrong one. */
export function nearest(wrong: string, names: readonly string[]): string {
  const suggestion = nearestName(wrong, names)
  return suggestion === undefined ? '' : didYouMean(suggestion)
}

export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  if (wrong.length > MAX_NAME_CHARS) return undefined
  const lower = wrong.toLowerCase()
  const farthest = Math.max(2, Math.ceil(wrong.length / 3))
  const known = names.slice(-MAX_NAMES).filter(name => name.length <= MAX_NAME_CHARS)
  const candidates = known.filter(({ length }) => Math.abs(length - wrong.length) <= farthest)
  const ranked = candidates.map(name => ({ name, far: distance(lower, name.toLowerCase()) }))
  const best = ranked.sort((a, b) => a.far - b.far)[0]
  const begun = lower.length < 3 ? undefined : known.find(name => name.toLowerCase().startsWith(lower))
  if (begun !== undefined && (best?.far ?? 2) > 1) return begun
  return best && best.far <= farthest ? best.name : undefined
}

/** Ends a sentence. */
export const didYouMean = (name: string): string => `; did you mean ${name}?`

/** The edit distance; two swapped neighbours count as one edit. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1, swapped))
    }
    before = row
    row = next
  }
  return at(row, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY

/** Ends a sentence with a full stop, unless a suggestion ended it with a question mark. */
export const sentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`)

/** The characters of an error page that are searched for its text. */
const MAX_PAGE_CHARS = 4_000
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' }

/** The text that an error page shows, such as that of Express, without a call stack; another text as it is. */
export function pageText(text: string): string {
  if (!/^\s*<(!doctype html|html)\b/i.test(text)) return text
  const page = cut(text, MAX_PAGE_CHARS).replace(/<(head|script|style)\b[\s\S]*?<\/\1>/gi, ' ')
  const [, shown = page] =
    /<pre\b[^<>]*>([\s\S]*?)(?:<\/pre>|$)/i.exec(page) ?? /<body\b[^<>]*>([\s\S]*)/i.exec(page) ?? []
  const [, title = ''] = /<title\b[^<>]*>([^<>]*)/i.exec(text.slice(0, MAX_PAGE_CHARS)) ?? []
  return stripMarkup(/<(head|style)\b/i.test(shown) ? title : shown) || stripMarkup(title) || text
}

const stripMarkup = (html: string): string =>
  html
    .replace(/<br\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>?/g, ' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (_, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name] ?? ' '
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : ' '
    })
    .replace(/^\s+at .+$/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
