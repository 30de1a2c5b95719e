/** Tests regular expressions of users against texts of others, with a time limit. */
import { runWithin, TimeLimitError } from './time-limit.ts'

/** The maximum time of one test of a pattern. */
export const PATTERN_LIMIT_MS = 100

/** A pattern took longer than `PATTERN_LIMIT_MS` on a text of `length` characters. */
export class SlowPatternError extends Error {
  override readonly name = 'SlowPatternError'
  readonly length: number

  constructor(pattern: RegExp, length: number) {
    super(`${pattern} took longer than ${PATTERN_LIMIT_MS} ms on a text of ${length} characters.`)
    this.length = length
  }
}

/** Tests the whole text, without `lastIndex`. Throws `SlowPatternError`; a browser has no limit. */
export function testPattern(pattern: RegExp, text: string): boolean {
  const stateless =
    pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')) : pattern
  const test = () => stateless.test(text)
  return isQuick(stateless, text.length) ? test() : limitPattern(pattern, text.length, test)
}

/** Runs a test that uses the pattern. It is repeated once, because the process may have been suspended. */
export function limitPattern<Value>(pattern: RegExp, length: number, test: () => Value): Value {
  for (const isLast of [false, true]) {
    try {
      return runWithin(PATTERN_LIMIT_MS, test)
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error
      if (isLast) break
    }
  }
  throw new SlowPatternError(pattern, length)
}

/** More than this many steps of a backtracking search may take milliseconds. */
const QUICK_STEPS = 1_000_000

/**
 * Whether a backtracking search takes at most `QUICK_STEPS`: with no repeated group and no backreference, the search
 * begins at each character, and each repetition and each alternative multiplies its ways.
 */
function isQuick({ source, flags }: RegExp, length: number): boolean {
  if (flags.includes('v')) return false
  const bare = source
    .replace(/\\(?![1-9k])./gsu, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
  if (/\\|\)[*+{]|\(\?/.test(bare)) return false
  const unbounded = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0
  const choices = bare.match(/\?|\|/g)?.length ?? 0
  const counts = [...bare.matchAll(/\{(\d+)(?:,(\d+))?\}/g)].map(([, min, max]) => Number(max ?? min) + 1)
  const ways = (length + 1) ** (1 + unbounded) * 2 ** choices * counts.reduce((product, count) => product * count, 1)
  return ways * source.length <= QUICK_STEPS
}
