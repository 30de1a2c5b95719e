/** Tests the regular expressions of an evaluation, and records those that are too slow, which make the scenario an error. */
import { limitPattern, PATTERN_LIMIT_MS, SlowPatternError, testPattern } from '../../base/runtime/patterns.ts'
import { type FailureDetails, failureDetails } from './step-evaluator.ts'

/** A regular expression that took longer than its time limit. */
export interface SlowPattern {
  readonly pattern: string
  /** How many characters the text had. */
  readonly length: number
  /** The number of the step that has the pattern; null for a pattern of the whole scenario. */
  readonly step: number | null
}

export class PatternTester {
  readonly slow: SlowPattern[] = []
  #step: number | null = null

  /** Runs work of a step: slow patterns found meanwhile belong to it. */
  within<Value>(step: number, work: () => Value): Value {
    const outer = this.#step
    this.#step = step
    try {
      return work()
    } finally {
      this.#step = outer
    }
  }

  slowIn = (step: number): SlowPattern | null => this.slow.find(one => one.step === step) ?? null

  test = (pattern: RegExp, text: string): boolean => this.#run(pattern, () => testPattern(pattern, text))

  limit = (pattern: RegExp, length: number, test: () => boolean): boolean =>
    this.#run(pattern, () => limitPattern(pattern, length, test))

  /** Returns false for a slow pattern, and does not test it again: each costs the time limit once. */
  #run(pattern: RegExp, test: () => boolean): boolean {
    const known = this.slow.find(one => one.pattern === String(pattern))
    if (known !== undefined) return this.#record(known)
    try {
      return test()
    } catch (error) {
      if (!(error instanceof SlowPatternError)) throw error
      return this.#record({ pattern: String(pattern), length: error.length })
    }
  }

  #record({ pattern, length }: Omit<SlowPattern, 'step'>): false {
    const step = this.#step
    if (!this.slow.some(one => one.step === step && one.pattern === pattern)) this.slow.push({ pattern, length, step })
    return false
  }
}

export const slowPatternFailure = ({ pattern, length }: SlowPattern): FailureDetails =>
  failureDetails(
    'scenario',
    { code: 'quick_pattern', pattern },
    { code: 'slow_pattern', pattern, length, limitMs: PATTERN_LIMIT_MS },
  )
