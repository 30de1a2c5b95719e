/** Tests regular expressions of users against texts of others, with a time limit. */
import { runWithin, TimeLimitError } from './time-limit.ts'

/** The maximum time of one test of a pattern: far more than a test takes on any text, also while the machine is busy. */
export const PATTERN_LIMIT_MS = 500

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

/** Runs a test that uses the pattern. */
export function limitPattern<Value>(pattern: RegExp, length: number, test: () => Value): Value {
  try {
    return runWithin(PATTERN_LIMIT_MS, test)
  } catch (error) {
    throw error instanceof TimeLimitError ? new SlowPatternError(pattern, length) : error
  }
}
