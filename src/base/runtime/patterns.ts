/** Tests regular expressions of users against texts of others, with a time limit. */
import { runWithin, TimeLimitError } from './time-limit.ts'

/** The maximum time of one test of a pattern. */
export const PATTERN_LIMIT_MS = 100

/** A pattern took longer than `PATTERN_LIMIT_MS` on a text of `length` characters. */
export class SlowPatternError extends Error {
  override readonly name = 'SlowPatternError'
  readonly pattern: string
  readonly length: number

  constructor(pattern: RegExp, length: number) {
    super(`${pattern} took longer than ${PATTERN_LIMIT_MS} ms on a text of ${length} characters.`)
    this.pattern = String(pattern)
    this.length = length
  }
}

/** Tests the whole text, without `lastIndex`. Throws `SlowPatternError`; a browser has no limit. */
export function testPattern(pattern: RegExp, text: string): boolean {
  const stateless =
    pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')) : pattern
  return limitPattern(pattern, text.length, () => stateless.test(text))
}

/** Runs a test that uses the pattern. It is repeated once, with more time, because the process may have been suspended. */
export function limitPattern<Value>(pattern: RegExp, length: number, test: () => Value): Value {
  for (const isLast of [false, true]) {
    try {
      return runWithin(isLast ? 5 * PATTERN_LIMIT_MS : PATTERN_LIMIT_MS, test)
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error
      if (isLast) break
    }
  }
  throw new SlowPatternError(pattern, length)
}
